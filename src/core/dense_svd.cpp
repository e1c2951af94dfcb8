#include "core/dense_svd.hpp"

#include <Eigen/SVD>

namespace zonal {

DenseSvd dense_svd(const Eigen::MatrixXd& matrix) {
    const Eigen::BDCSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

}  // namespace zonal
