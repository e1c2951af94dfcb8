#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "chebyshev/host_copy.hpp"
#include "chebyshev/roots/colleague_math.hpp"
#include "chebyshev/roots/roots.hpp"
#include "core/dense_matrix.hpp"
#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "core/threads/abandonable.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/chebyshev/roots.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

using Complex = std::complex<double>;

/// f, and which of a batch, for messages.
std::string name_of(std::int64_t series, std::int64_t n_batch) {
    return n_batch == 1 ? "f" : fmt::format("f: series {}", series);
}

}  // namespace

namespace chebyshev {

void refuse_not_finite(std::int64_t series, std::int64_t n_batch, std::int64_t k) {
    throw InvalidArgument(name_of(series, n_batch), fmt::format("coefficient {} is not finite", k));
}
void refuse_all_zero(std::int64_t series, std::int64_t n_batch) {
    throw InvalidArgument(name_of(series, n_batch), "all coefficients are 0: every number is a root");
}
void refuse_not_converged(std::int64_t series, std::int64_t n_batch, std::int64_t n_rows) {
    throw InvalidArgument(
        name_of(series, n_batch),
        fmt::format("the eigenvalues of its colleague matrix of {} rows did not converge", n_rows));
}

namespace {

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
/// The type of the elements of a series' matrix.
template <class T>
using ScalarOf = std::conditional_t<is_complex<T>, Complex, double>;

/// Plain coefficients of a series of the batch without the zeros at the end.
template <class T>
std::vector<Complex> plain_coefficients(const SeriesArray<const T>& f, std::int64_t series) {
    std::vector<Complex> a;
    const T* const first = f.data + series * f.strides[0];
    for (std::int64_t k = 0; k < f.extents[1]; ++k) a.emplace_back(first[k * f.strides[1]]);
    for (std::size_t k = 0; k < a.size(); ++k)
        if (!std::isfinite(a[k].real()) || !std::isfinite(a[k].imag()))
            refuse_not_finite(series, f.extents[0], static_cast<std::int64_t>(k));
    while (!a.empty() && a.back() == 0.0) a.pop_back();
    if (a.empty()) refuse_all_zero(series, f.extents[0]);
    if (f.convention == ChebyshevConvention::primed) a.front() /= 2;
    return a;
}

/// colleague_math.hpp says of what; the highest degree first, so that it is upper Hessenberg.
template <class Scalar>
Matrix<Scalar> colleague_matrix(const std::vector<Complex>& a) {
    const auto degree = static_cast<Eigen::Index>(a.size()) - 1;
    Matrix<Scalar> matrix(degree, degree);
    const core::InterruptionPoll poll;
    for (Eigen::Index j = 0; j < degree; ++j) {
        poll();
        for (Eigen::Index i = 0; i < degree; ++i)
            matrix(i, j) = colleague_coupling(degree - 1 - i, degree - 1 - j);
    }
    for (Eigen::Index j = 0; j < degree; ++j) {
        const Complex term = a[static_cast<std::size_t>(j)] / a.back() * colleague_factor(degree, j);
        if constexpr (std::is_same_v<Scalar, double>)
            matrix(0, degree - 1 - j) -= term.real();
        else
            matrix(0, degree - 1 - j) -= term;
    }
    return matrix;
}

/// Scales rows and columns until both of each index are of nearly the same size: a small a_K makes the last
/// row large, against which the others' rounding would count. Neither Eigen nor cuSOLVER balances.
template <class Scalar>
void balance(Matrix<Scalar>& matrix) {
    const core::InterruptionPoll poll;
    for (bool changed = true; changed;) {
        changed = false;
        for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
            poll();
            const double diagonal = std::abs(matrix(i, i));
            const int exponent = balancing_exponent(matrix.col(i).cwiseAbs().sum() - diagonal,
                                                    matrix.row(i).cwiseAbs().sum() - diagonal);
            if (exponent == 0) continue;
            matrix.col(i) *= std::ldexp(1.0, exponent);
            matrix.row(i) *= std::ldexp(1.0, -exponent);
            changed = true;
        }
    }
}

/// None where they do not converge.
std::vector<Complex> eigenvalues(Matrix<double>&& matrix) {
    const auto n = matrix.rows();
    auto schur =
        core::abandonable(n, [matrix = std::move(matrix)] { return hessenberg_schur(matrix, false); });
    if (!schur.converged) return {};
    return std::move(schur.values);
}

std::vector<Complex> eigenvalues(Matrix<Complex>&& matrix) {
    const auto n = matrix.rows();
    const auto schur =
        core::abandonable(n, [matrix = std::move(matrix)] { return hessenberg_schur(matrix, false); });
    if (!schur.converged) return {};
    const Eigen::VectorXcd values = schur.triangle.diagonal();
    return {values.begin(), values.end()};
}

/// find(matrix): its eigenvalues
template <class T, class Find>
std::vector<Complex> roots_of(const SeriesArray<const T>& f, std::int64_t series, const Find& find) {
    const auto a = plain_coefficients(f, series);
    if (a.size() == 1) return {};
    auto matrix = colleague_matrix<ScalarOf<T>>(a);
    balance(matrix);
    auto roots = find(std::move(matrix));
    if (roots.empty()) refuse_not_converged(series, f.extents[0], std::ssize(a) - 1);
    return roots;
}

}  // namespace

template <class T>
std::vector<std::vector<Complex>> all_roots(const SeriesArray<const T>& f, int threads, void* cuda_stream) {
    require_not_empty(f, "f");
    if (f.extents[0] == 0) return {};
    const bool on_device = f.space == MemorySpace::cuda;
    if (on_device && f.extents[1] - 1 <= cuda::most_rows(f.data)) return cuda::find_roots(f, cuda_stream);
    const HostCopy<T> copy(f, cuda_stream);
    std::vector<std::vector<Complex>> roots(static_cast<std::size_t>(f.extents[0]));
    const auto find = [&](Matrix<ScalarOf<T>>&& matrix) {
        return on_device ? cuda::eigenvalues(matrix.data(), matrix.rows(), f.data, cuda_stream)
                         : eigenvalues(std::move(matrix));
    };
    const int workers = on_device ? 1 : core::resolve_threads(threads);
    core::parallel_for(f.extents[0], workers, [&](std::int64_t series, int) {
        roots[static_cast<std::size_t>(series)] = roots_of(copy.array(), series, find);
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
    if (!(tolerance >= 0)) throw InvalidArgument("tolerance", tolerance, "must not be negative");
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
