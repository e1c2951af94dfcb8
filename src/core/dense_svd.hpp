#pragma once

#include <Eigen/Core>

namespace zonal {

struct DenseSvd {
    Eigen::MatrixXd u;      ///< [rows, min(rows, columns)]
    Eigen::VectorXd sigma;  ///< in descending order
    Eigen::MatrixXd v;      ///< [columns, min(rows, columns)]
};
/// A = U diag(sigma) V^T.
DenseSvd dense_svd(const Eigen::MatrixXd& matrix);

}  // namespace zonal
