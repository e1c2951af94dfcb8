#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "chebyshev/host_copy.hpp"
#include "core/dense_eigen.hpp"
#include "core/parallel.hpp"
#include "zonal/chebyshev_evaluation.hpp"
#include "zonal/chebyshev_roots.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace chebyshev {
namespace {

using Complex = std::complex<double>;

/// f, and which of a batch, for messages.
std::string name_of(std::int64_t series, std::int64_t n_batch) {
    return n_batch == 1 ? "f" : fmt::format("f: series {}", series);
}

/// Plain coefficients of a series of the batch without the zeros at the end.
template <class T>
std::vector<Complex> plain_coefficients(const SeriesArray<const T>& f, std::int64_t series) {
    std::vector<Complex> a;
    const T* const first = f.data + series * f.strides[0];
    for (std::int64_t k = 0; k < f.extents[1]; ++k) a.emplace_back(first[k * f.strides[1]]);
    const auto name = [&] { return name_of(series, f.extents[0]); };
    for (std::size_t k = 0; k < a.size(); ++k)
        if (!std::isfinite(a[k].real()) || !std::isfinite(a[k].imag()))
            throw InvalidArgument(fmt::format("{}: coefficient {} is not finite", name(), k));
    while (!a.empty() && a.back() == 0.0) a.pop_back();
    if (a.empty()) throw InvalidArgument(name() + ": all coefficients are 0: every number is a root");
    if (f.convention == ChebyshevConvention::primed) a.front() /= 2;
    return a;
}

/// x T_k = (T_{k-1} + T_{k+1}) / 2 for k = 0 .. K - 1 as a matrix, in which T_K at a root is
/// -sum_{k<K} (a_k / a_K) T_k; rows and columns of T_0 scaled by sqrt(2), so that all but the last row is
/// symmetric (Good 1961).
template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> colleague_matrix(const std::vector<Complex>& a) {
    const auto degree = static_cast<Eigen::Index>(a.size()) - 1;
    Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> matrix(degree, degree);
    matrix.setZero();
    for (Eigen::Index k = 0; k + 1 < degree; ++k)
        matrix(k, k + 1) = matrix(k + 1, k) = k == 0 ? std::sqrt(0.5) : 0.5;
    for (Eigen::Index k = 0; k < degree; ++k) {
        const Complex ratio = a[static_cast<std::size_t>(k)] / a.back() * (k == 0 ? std::sqrt(0.5) : 0.5);
        const Complex term = degree == 1 ? a[0] / a[1] : ratio;
        if constexpr (std::is_same_v<Scalar, double>)
            matrix(degree - 1, k) -= term.real();
        else
            matrix(degree - 1, k) -= term;
    }
    return matrix;
}

/// Scales rows and columns by powers of 2 until both of each index are of nearly the same size (Parlett &
/// Reinsch 1969): a small a_K makes the last row large, against which the others' rounding would count. Eigen
/// does not balance.
template <class Matrix>
void balance(Matrix& matrix) {
    for (bool changed = true; changed;) {
        changed = false;
        for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
            const double diagonal = std::abs(matrix(i, i));
            const double column = matrix.col(i).cwiseAbs().sum() - diagonal;
            const double row = matrix.row(i).cwiseAbs().sum() - diagonal;
            if (!(column > 0 && row > 0)) continue;
            const int exponent = static_cast<int>(std::lround(std::log2(row / column) / 2));
            const double factor = std::ldexp(1.0, exponent);
            if (column * factor + row / factor >= 0.95 * (column + row)) continue;
            matrix.col(i) *= factor;
            matrix.row(i) /= factor;
            changed = true;
        }
    }
}

[[noreturn]] void fail_to_converge(Eigen::Index rows) {
    throw InvalidArgument(
        fmt::format("f: the eigenvalues of its colleague matrix of {} rows did not converge", rows));
}

std::vector<Complex> eigenvalues(Eigen::MatrixXd matrix) {
    balance(matrix);
    const auto eigen = real_eigen(matrix, false);
    if (!eigen.converged) fail_to_converge(matrix.rows());
    return {eigen.values.begin(), eigen.values.end()};
}

std::vector<Complex> eigenvalues(Eigen::MatrixXcd matrix) {
    balance(matrix);
    const auto schur = complex_schur(matrix, false);
    if (!schur.converged) fail_to_converge(matrix.rows());
    const Eigen::VectorXcd values = schur.triangle.diagonal();
    return {values.begin(), values.end()};
}

}  // namespace

template <class T>
std::vector<std::vector<Complex>> all_roots(const SeriesArray<const T>& f, int threads, void* cuda_stream) {
    require_not_empty(f, "f");
    const HostCopy<T> copy(f, cuda_stream);
    std::vector<std::vector<Complex>> roots(static_cast<std::size_t>(f.extents[0]));
    core::parallel_for(f.extents[0], core::resolve_threads(threads), [&](std::int64_t series, int) {
        const auto a = plain_coefficients(copy.array(), series);
        if (a.size() == 1) return;
        using Scalar = std::conditional_t<is_complex<T>, Complex, double>;
        roots[static_cast<std::size_t>(series)] = eigenvalues(colleague_matrix<Scalar>(a));
    });
    return roots;
}

template std::vector<std::vector<Complex>> all_roots(const SeriesArray<const float>&, int, void*);
template std::vector<std::vector<Complex>> all_roots(const SeriesArray<const double>&, int, void*);
template std::vector<std::vector<Complex>> all_roots(const SeriesArray<const std::complex<float>>&, int,
                                                     void*);
template std::vector<std::vector<Complex>> all_roots(const SeriesArray<const std::complex<double>>&, int,
                                                     void*);

}  // namespace chebyshev

namespace {

/// Longer series are halved: n^3 operations for eigenvalues are more than n^2 for new coefficients (Boyd
/// 2002).
constexpr std::int64_t longest_undivided = 64;
/// Half widths of parts that need not be divided: what so few of them do not resolve is noise.
constexpr double narrowest = 1e-8;
/// Where, in [-1, 1]: no root of functions with a symmetry.
constexpr double dividing_point = -0.0045312;
/// How far beyond a point of division a root may seem to be, in the variable of the whole.
constexpr double overlap = 1e-12;

/// Roots on parts of [-1, 1].
template <ChebyshevConvention C>
class RootSearch {
  public:
    using Series = ChebyshevSeries<double, 1, C>;

    explicit RootSearch(double tolerance) : tolerance_(tolerance) {}

    /// f: on a part of [-1, 1]; ascending
    std::vector<double> operator()(const Series& f) const {
        const Interval part = f.domain()[0];
        if (f.extent(0) <= longest_undivided || part.half_width() < narrowest) return on_part(f);
        const double middle = part.from_reference(dividing_point);
        const auto left = chopped(restricted<double, 1, C>(f, {Interval{part.lower, middle}}));
        const auto right = chopped(restricted<double, 1, C>(f, {Interval{middle, part.upper}}));
        return joined((*this)(left), (*this)(right), middle);
    }

  private:
    std::vector<double> on_part(const Series& f) const {
        const Interval part = f.domain()[0];
        const auto beyond = [&](double end) { return std::abs(end) == 1 ? tolerance_ : overlap; };
        std::vector<double> real;
        for (const auto& root : all_roots(f)) {
            const double x = part.from_reference(root.real());
            if (std::abs(root.imag()) * part.half_width() > tolerance_ ||
                x < part.lower - beyond(part.lower) || x > part.upper + beyond(part.upper))
                continue;
            real.push_back(std::clamp(x, -1.0, 1.0));
        }
        std::sort(real.begin(), real.end());
        return real;
    }

    /// What lies where they meet both may have: the side that has more of it counts.
    static std::vector<double> joined(std::vector<double> left, std::vector<double> right, double middle) {
        const auto first = std::lower_bound(left.begin(), left.end(), middle - overlap);
        const auto last = std::upper_bound(right.begin(), right.end(), middle + overlap);
        if (left.end() - first < last - right.begin())
            left.erase(first, left.end());
        else
            right.erase(right.begin(), last);
        left.insert(left.end(), right.begin(), right.end());
        return left;
    }

    double tolerance_;
};

template <ChebyshevConvention C>
std::vector<double> roots_in_domain(const ChebyshevSeries<double, 1, C>& f, double tolerance) {
    if (!(tolerance >= 0))
        throw InvalidArgument(fmt::format("tolerance = {}: must not be negative", tolerance));
    chebyshev::plain_coefficients(chebyshev::series_array(f.view()), 0);  // finite, not all 0
    ChebyshevSeries<double, 1, C> on_reference(f.extents());
    chebyshev::convert<double>(chebyshev::series_array(f.view()),
                               chebyshev::series_array(on_reference.view()));
    auto roots = RootSearch<C>(tolerance)(on_reference);
    for (double& root : roots) root = f.domain()[0].from_reference(root);
    return roots;
}

}  // namespace

std::vector<double> roots(const ChebyshevSeries<double, 1, ChebyshevConvention::primed>& f,
                          double tolerance) {
    return roots_in_domain(f, tolerance);
}
std::vector<double> roots(const ChebyshevSeries<double, 1, ChebyshevConvention::plain>& f, double tolerance) {
    return roots_in_domain(f, tolerance);
}

}  // namespace zonal
