#include "core/dense_eigen.hpp"

#include <Eigen/Eigenvalues>

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

}  // namespace zonal
