#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

/// What is found of dense matrices, for all modules. Eigen's own decompositions of whole matrices take a
/// minute to compile (docs/decisions/compile-flags.md).
namespace zonal {

struct RealSchur {
    bool converged = false;
    std::vector<std::complex<double>> values;  ///< conjugate pairs behind each other, the upper one first
    Eigen::MatrixXd triangle;                  ///< T, for each pair with two rows and columns on its diagonal
    Eigen::MatrixXd orthogonal;                ///< Q; empty unless asked for
};
/// A = Q T Q^T of an upper Hessenberg matrix, and its eigenvalues.
RealSchur hessenberg_schur(const Eigen::MatrixXd& matrix, bool with_orthogonal);

struct ComplexSchur {
    bool converged = false;
    Eigen::MatrixXcd triangle;  ///< T, eigenvalues on its diagonal
    Eigen::MatrixXcd unitary;   ///< U; empty unless asked for
};
/// A = U T U^H of an upper Hessenberg matrix.
ComplexSchur hessenberg_schur(const Eigen::MatrixXcd& matrix, bool with_unitary);

/// Makes R that of the QR decomposition of R with these rows below. triangle: R, square, where only what is
/// not below the diagonal is read and written. rows: of as many columns; left undefined.
void add_rows_to_triangle(Eigen::MatrixXd& triangle, Eigen::MatrixXd& rows);

struct TruncatedSolution {
    Eigen::VectorXd x;
    int rank = 0;  ///< singular values that are kept
};
/// The x of least norm that minimises |A x - b| without A's singular values up to cutoff times the largest.
/// Throws Error where these do not converge. a: square
TruncatedSolution truncated_solution(Eigen::MatrixXd a, const Eigen::VectorXd& b, double cutoff);

}  // namespace zonal
