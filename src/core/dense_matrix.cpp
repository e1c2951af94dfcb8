#include "core/dense_matrix.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

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

/// (c, s; -s, c)
struct Rotation {
    double c = 1, s = 0;

    /// The one that takes (first, second) to (first, 0).
    static Rotation to_first(double& first, double second) {
        const double size = std::hypot(first, second);
        if (size == 0) return {};
        const Rotation rotation{first / size, second / size};
        first = size;
        return rotation;
    }
    void apply(double& first, double& second) const {
        const double before = first;
        first = c * before + s * second;
        second = c * second - s * before;
    }
    void apply_inverse(double& first, double& second) const { Rotation{c, -s}.apply(first, second); }
};

/// A = U B V^T, where V is kept as its factors and U applied to b (Golub & Kahan 1965): what is asked for is
/// a solution, for which neither is needed as a matrix. B: upper bidiagonal, made diagonal by QR steps with
/// implicit shifts (Golub & Van Loan 2013, section 8.6).
class Bidiagonal {
  public:
    Bidiagonal(MatrixXd a, VectorXd b)
        : n_(a.cols()), b_(std::move(b)), diagonal_(n_), above_(n_), rows_(n_, n_) {
        VectorXd sum(n_);
        for (Index k = 0; k < n_; ++k) {
            const auto below = n_ - k - 1;
            auto column = a.col(k).tail(below);
            const Reflection left(a(k, k), column);
            diagonal_[k] = left.image;
            for (auto j = k + 1; j < n_; ++j) left.apply(column, a(k, j), a.col(j).tail(below));
            left.apply(column, b_[k], b_.tail(below));
            if (below == 0) break;
            auto row = rows_.col(k).tail(below - 1);
            row = a.row(k).tail(below - 1);
            const Reflection right(a(k, k + 1), row);
            above_[k] = right.image;
            factors_.push_back(right);
            auto sums = sum.tail(below);
            sums = a.col(k + 1).tail(below);
            for (Index j = 0; j < below - 1; ++j) sums += row[j] * a.col(k + 2 + j).tail(below);
            sums *= right.factor;
            a.col(k + 1).tail(below) -= sums;
            for (Index j = 0; j < below - 1; ++j) a.col(k + 2 + j).tail(below) -= row[j] * sums;
        }
    }

    /// False where the singular values do not converge.
    bool diagonalize() {
        constexpr Index most_steps = 60;  // for one singular value; 2 are usual
        const double negligible =
            std::numeric_limits<double>::epsilon() / 2 *
            (diagonal_.cwiseAbs().maxCoeff() + (n_ > 1 ? above_.head(n_ - 1).cwiseAbs().maxCoeff() : 0));
        Index steps = 0;
        for (auto last = n_ - 1; last > 0;) {
            auto first = last;
            while (first > 0 && !(std::abs(above_[first - 1]) <= negligible)) --first;
            if (first == last) {
                --last;
                continue;
            }
            if (++steps > most_steps * n_) return false;
            qr_step(first, last);
        }
        return true;
    }

    TruncatedSolution solution(double cutoff) {
        const auto sizes = diagonal_.cwiseAbs();
        const double smallest = cutoff * sizes.maxCoeff();
        TruncatedSolution result{VectorXd::Zero(n_)};
        auto& x = result.x;
        for (Index k = 0; k < n_; ++k)
            if (sizes[k] > smallest) {
                x[k] = b_[k] / diagonal_[k];
                ++result.rank;
            }
        for (auto each = rotations_.rbegin(); each != rotations_.rend(); ++each)
            each->rotation.apply_inverse(x[each->k], x[each->k + 1]);
        for (auto k = n_ - 2; k >= 0; --k)
            factors_[static_cast<std::size_t>(k)].apply(rows_.col(k).tail(n_ - k - 2), x[k + 1],
                                                        x.tail(n_ - k - 2));
        return result;
    }

  private:
    /// The smaller singular value of the last two rows and columns; the product of both is the determinant.
    double shift(Index last) const {
        const double p = std::abs(diagonal_[last - 1]), q = std::abs(diagonal_[last]), r = above_[last - 1];
        const double larger = (std::hypot(p + q, r) + std::hypot(p - q, r)) / 2;
        return larger == 0 ? 0 : p * (q / larger);
    }

    void qr_step(Index first, Index last) {
        auto& d = diagonal_;
        auto& e = above_;
        const double size = std::abs(d[first]), mu = shift(last);
        // In proportion to the first column of B^T B - mu^2, whose squares need not be formed.
        double kept = size == 0 ? 0 : (size - mu) * (std::copysign(1.0, d[first]) + mu / d[first]);
        double gone = e[first];
        for (auto k = first; k < last; ++k) {
            const auto columns = Rotation::to_first(kept, gone);
            if (k > first) e[k - 1] = kept;
            columns.apply(d[k], e[k]);
            gone = columns.s * d[k + 1];
            d[k + 1] *= columns.c;
            rotations_.push_back({k, columns});
            const auto rows = Rotation::to_first(d[k], gone);
            rows.apply(e[k], d[k + 1]);
            rows.apply(b_[k], b_[k + 1]);
            kept = e[k];
            if (k + 1 < last) {
                gone = rows.s * e[k + 1];
                e[k + 1] *= rows.c;
            }
        }
    }

    struct OfColumns {
        Index k;  ///< and k + 1
        Rotation rotation;
    };
    Index n_;
    VectorXd b_, diagonal_, above_;
    MatrixXd rows_;  ///< what the reflections of columns have below 1, a column each
    std::vector<Reflection> factors_;
    std::vector<OfColumns> rotations_;
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

TruncatedSolution truncated_solution(MatrixXd a, VectorXd b, double cutoff) {
    const double scale = a.cwiseAbs().maxCoeff();  // squares of what counts neither overflow nor vanish
    if (scale == 0) return {VectorXd::Zero(a.cols())};
    a /= scale;
    Bidiagonal bidiagonal(std::move(a), std::move(b));
    if (!bidiagonal.diagonalize())
        throw Error("the singular values of a fit did not converge: are all windows and weights finite?");
    auto result = bidiagonal.solution(cutoff);
    result.x /= scale;
    return result;
}

}  // namespace zonal
