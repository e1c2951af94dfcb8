#pragma once

#include <Eigen/Core>
#include <complex>

/// Decompositions of dense matrices, compiled once for all modules, as Eigen's templates take long.
namespace zonal {

struct RealEigen {
    bool converged = false;
    Eigen::VectorXcd values;   ///< conjugate pairs behind each other, positive imaginary part first
    Eigen::MatrixXcd vectors;  ///< a column each; empty unless asked for
};
/// A v_j = lambda_j v_j of a square matrix.
RealEigen real_eigen(const Eigen::MatrixXd& matrix, bool with_vectors);

struct ComplexSchur {
    bool converged = false;
    Eigen::MatrixXcd triangle;  ///< T, eigenvalues on its diagonal
    Eigen::MatrixXcd unitary;   ///< U; empty unless asked for
};
/// A = U T U^H of a square matrix.
ComplexSchur complex_schur(const Eigen::MatrixXcd& matrix, bool with_unitary);

struct DenseSvd {
    Eigen::MatrixXd u;      ///< [rows, min(rows, columns)]
    Eigen::VectorXd sigma;  ///< in descending order
    Eigen::MatrixXd v;      ///< [columns, min(rows, columns)]
};
/// A = U diag(sigma) V^T.
DenseSvd dense_svd(const Eigen::MatrixXd& matrix);

}  // namespace zonal
