#include "core/dense_matrix.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>

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
    // Jacobi's of square matrices compiles in a tenth of the time of the divide-and-conquer one, which would
    // take more than half of this file's. Zeros that are appended change no singular value but those that are
    // left out again.
    const auto rows = matrix.rows(), columns = matrix.cols(), n = std::min(rows, columns);
    Eigen::MatrixXd square = Eigen::MatrixXd::Zero(std::max(rows, columns), std::max(rows, columns));
    square.topLeftCorner(rows, columns) = matrix;
    const Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::NoQRPreconditioner> svd(
        square, Eigen::ComputeFullU | Eigen::ComputeFullV);
    return {svd.matrixU().topLeftCorner(rows, n), svd.singularValues().head(n),
            svd.matrixV().topLeftCorner(columns, n)};
}

}  // namespace zonal
