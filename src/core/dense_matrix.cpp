#include "core/dense_matrix.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"

namespace zonal {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// (1, v) with I - factor (1, v) (1, v)^T taking (first, rest) to (image, 0); rest becomes v (Golub & Van
/// Loan 2013, section 5.1).
struct Reflection {
    double factor = 0, image;

    template <class Vector>
    Reflection(double first, Vector&& rest) : image(first) {
        const double squares = rest.squaredNorm();
        if (squares == 0) return;
        image = -std::copysign(std::sqrt(first * first + squares), first);
        factor = (image - first) / image;
        rest /= first - image;
    }
    template <class Vector, class Other>
    void apply(const Vector& v, double& first, Other&& rest) const {
        const double sum = factor * (first + v.dot(rest));
        first -= sum;
        rest -= sum * v;
    }
};

}  // namespace

RealSchur hessenberg_schur(const MatrixXd& matrix, bool with_orthogonal) {
    const auto n = matrix.rows();
    // Eigen takes what is small for 0.
    const double largest = n == 0 ? 0 : matrix.cwiseAbs().maxCoeff(), scale = largest == 0 ? 1 : largest;
    Eigen::RealSchur<MatrixXd> schur;
    schur.computeFromHessenberg(matrix / scale, MatrixXd::Identity(n, n), with_orthogonal);
    RealSchur result;
    result.converged = schur.info() == Eigen::Success;
    if (!result.converged) return result;
    result.triangle = scale * schur.matrixT();
    if (with_orthogonal) result.orthogonal = schur.matrixU();
    const auto& t = result.triangle;
    for (Index k = 0; k < n; ++k) {
        std::complex<double> value = t(k, k);
        if (k < n - 1 && t(k + 1, k) != 0) {
            const double half = (t(k, k) - t(k + 1, k + 1)) / 2,
                         mean = std::sqrt(std::abs(t(k + 1, k))) * std::sqrt(std::abs(t(k, k + 1)));
            value = {t(k + 1, k + 1) + half,
                     std::sqrt(std::abs(mean - half)) * std::sqrt(std::abs(mean + half))};
            result.values.push_back(value);
            value = std::conj(value);
            ++k;
        }
        result.values.push_back(value);
        result.converged &= std::isfinite(value.real()) && std::isfinite(value.imag());
    }
    return result;
}

ComplexSchur hessenberg_schur(const Eigen::MatrixXcd& matrix, bool with_unitary) {
    Eigen::ComplexSchur<Eigen::MatrixXcd> schur;
    const auto n = matrix.rows();
    schur.computeFromHessenberg(matrix, Eigen::MatrixXcd::Identity(n, n), with_unitary);
    ComplexSchur result;
    result.converged = schur.info() == Eigen::Success;
    if (!result.converged) return result;
    result.triangle = schur.matrixT();
    if (with_unitary) result.unitary = schur.matrixU();
    return result;
}

void add_rows_to_triangle(MatrixXd& triangle, MatrixXd& rows) {
    const auto n = triangle.cols();
    for (Index k = 0; k < n; ++k) {
        auto column = rows.col(k);
        const Reflection reflection(triangle(k, k), column);
        triangle(k, k) = reflection.image;
        for (auto j = k + 1; j < n; ++j) reflection.apply(column, triangle(k, j), rows.col(j));
    }
}

TruncatedSolution truncated_solution(MatrixXd a, const VectorXd& b, double cutoff) {
    const double scale = a.cwiseAbs().maxCoeff();  // squares of what counts neither overflow nor vanish
    if (scale == 0) return {VectorXd::Zero(a.cols())};
    a /= scale;
    const Eigen::BDCSVD<MatrixXd> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const VectorXd& sizes = svd.singularValues();
    if (svd.info() != Eigen::Success || !sizes.allFinite())
        throw Error("the singular values of a fit did not converge: are all windows and weights finite?");
    VectorXd parts = svd.matrixU().transpose() * b;
    TruncatedSolution result;
    for (Index k = 0; k < parts.size(); ++k) {
        const bool counts = sizes[k] > cutoff * sizes[0];
        parts[k] = counts ? parts[k] / sizes[k] : 0;
        result.rank += counts ? 1 : 0;
    }
    result.x = svd.matrixV() * parts;
    result.x /= scale;
    return result;
}

}  // namespace zonal
