#include "core/dense_matrix.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace zonal {

RealEigen real_eigen(const Eigen::MatrixXd& matrix, bool with_vectors) {
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(matrix, with_vectors);
    RealEigen result;
    result.converged = solver.info() == Eigen::Success;
    if (!result.converged) return result;
    result.values = solver.eigenvalues();
    if (with_vectors) result.vectors = solver.eigenvectors();
    return result;
}

ComplexSchur complex_schur(const Eigen::MatrixXcd& matrix, bool with_unitary) {
    const Eigen::ComplexSchur<Eigen::MatrixXcd> schur(matrix, with_unitary);
    ComplexSchur result;
    result.converged = schur.info() == Eigen::Success;
    if (!result.converged) return result;
    result.triangle = schur.matrixT();
    if (with_unitary) result.unitary = schur.matrixU();
    return result;
}

DenseSvd dense_svd(const Eigen::MatrixXd& matrix) {
    const Eigen::BDCSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

}  // namespace zonal
