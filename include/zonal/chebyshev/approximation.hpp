#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "zonal/chebyshev.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/chebyshev/roots.hpp"

namespace zonal {

/// Gives the values of a function at the points (x_0[i], x_1[j], ..): [i, j, ..].
template <int D>
using GridFunction = std::function<Array<double, D>(const std::array<std::vector<double>, D>& points)>;

namespace chebyshev {

/// Largest magnitude of the values of a function. Throws InvalidArgument where their number is not n_expected
/// or one is not finite.
double largest_value(const double* values, std::int64_t n, std::int64_t n_expected);
[[noreturn]] void refuse_unresolved(std::int64_t n, double tolerance);
/// Throws InvalidArgument where g cannot be divided by: it has roots in the interval, or is not of f's.
void require_divisor(const ChebyshevSeries<double, 1, ChebyshevConvention::plain>& f,
                     const ChebyshevSeries<double, 1, ChebyshevConvention::plain>& g);
/// Sum of the magnitudes of the coefficients, in plain convention, with an index of `kept` or more in any
/// axis.
double sum_beyond(const SeriesArray<const double>& f, const std::array<std::int64_t, 3>& kept);

template <int D>
Array<double, D> values_on(const GridFunction<D>& function, const std::array<std::vector<double>, D>& points,
                           double& largest) {
    std::int64_t n = 1;
    for (const auto& axis : points) n *= static_cast<std::int64_t>(axis.size());
    auto values = function(points);
    largest = largest_value(values.data(), values.size(), n);
    return values;
}

/// Whether a series agrees with its function between the points that it was made from, as far as chop_length
/// tells noise from coefficients: a plateau ends the series where it is below tolerance^(2/3).
template <int D, ChebyshevConvention C>
bool agrees_elsewhere(const GridFunction<D>& function, const ChebyshevSeries<double, D, C>& f, double scale,
                      double tolerance) {
    std::array<std::vector<double>, D> points;
    for (int axis = 0; axis < D; ++axis)
        for (const double sigma : {-0.7163, 0.3587})  // no nodes of few points
            points[axis].push_back(f.domain()[axis].from_reference(sigma));
    double largest = 0;
    const auto expected = values_on<D>(function, points, largest);
    const auto found = evaluate_on_grid<double, D, C>(f, points);
    const double allowed = std::pow(tolerance, 2.0 / 3) * std::max(scale, largest);
    return std::equal(expected.begin(), expected.end(), found.begin(),
                      [&](double a, double b) { return std::abs(a - b) <= allowed; });
}

}  // namespace chebyshev

/// The series of as few coefficients as resolve a function to a tolerance, relative to its largest value and
/// in (0, 1): through 32 Gauss points per axis, twice as many along each axis whose coefficients do not end
/// (chop_length), and so on, up to max_coefficients over all axes. Noise of the function's own counts as its
/// end. Throws ErrorNotKept for functions that this does not resolve, such as those with jumps, and
/// InvalidArgument where a value is not finite.
template <int D, ChebyshevConvention C = ChebyshevConvention::primed>
ChebyshevSeries<double, D, C> approximate(const GridFunction<D>& function,
                                          const ChebyshevDomain<D>& domain = {}, double tolerance = 0x1p-52,
                                          std::int64_t max_coefficients = D == 1 ? 1 << 14 : 1 << 20) {
    std::array<std::int64_t, D> n;
    n.fill(32);  // even, so that no point is in the middle, where functions such as sin(x)/x have none
    for (;;) {
        std::int64_t size = 1;
        for (const auto extent : n) size *= extent;
        if (size > max_coefficients) chebyshev::refuse_unresolved(max_coefficients, tolerance);
        double scale = 0;
        const auto points = interpolation_points<D>(n, ChebyshevNodes::gauss, domain);
        const auto values = chebyshev::values_on<D>(function, points, scale);
        const auto f = series_through<double, D, C>(values, ChebyshevNodes::gauss, domain);
        std::array<bool, D> ends;
        for (int axis = 0; axis < D; ++axis) ends[axis] = chop_length(f, axis, tolerance) < n[axis];
        const bool all_end = std::all_of(ends.begin(), ends.end(), [](bool end) { return end; });
        if (all_end) {
            auto result = chopped(f, tolerance);
            if (chebyshev::agrees_elsewhere<D, C>(function, result, scale, tolerance)) return result;
        }
        for (int axis = 0; axis < D; ++axis)
            if (all_end || !ends[axis]) n[axis] *= 2;
    }
}

/// The series of f / g on the interval of both, resolved to a tolerance as in `approximate`. Throws
/// InvalidArgument where the intervals differ or g has a root there, and ErrorNotKept as approximate.
template <ChebyshevConvention C>
ChebyshevSeries<double, 1, C> quotient(const ChebyshevSeries<double, 1, C>& f,
                                       const ChebyshevSeries<double, 1, C>& g, double tolerance = 0x1p-52) {
    chebyshev::require_divisor(f.template to<ChebyshevConvention::plain>(),
                               g.template to<ChebyshevConvention::plain>());
    return approximate<1, C>(
        [&](const std::array<std::vector<double>, 1>& points) {
            auto values = evaluate_on_grid<double, 1, C>(f, points);
            const auto divisors = evaluate_on_grid<double, 1, C>(g, points);
            std::transform(values.begin(), values.end(), divisors.begin(), values.begin(), std::divides<>());
            return values;
        },
        f.domain(), tolerance);
}

/// A bound of how far f is anywhere in its domain from its first coefficients, `extents` along each axis: as
/// |T_k| <= 1, the sum of the magnitudes of the others.
template <int D, ChebyshevConvention C>
double truncation_bound(const ChebyshevSeries<double, D, C>& f, const std::array<std::int64_t, D>& extents) {
    std::array<std::int64_t, 3> kept{1, 1, 1};
    std::copy(extents.begin(), extents.end(), kept.begin());
    return chebyshev::sum_beyond(chebyshev::series_array(f.view()), kept);
}

}  // namespace zonal
