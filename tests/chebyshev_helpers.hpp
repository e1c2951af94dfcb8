#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>

#include "chebyshev/reference.hpp"
#include "chebyshev/series_lines.hpp"
#include "compare.hpp"
#include "zonal/chebyshev/product.hpp"
#include "zonal/error.hpp"

namespace zonal::test {

using chebyshev::Real;
using chebyshev::ReferenceSeries;
inline constexpr auto primed = ChebyshevConvention::primed;
inline constexpr auto plain = ChebyshevConvention::plain;
inline constexpr auto direct = ChebyshevMethod::direct;
inline constexpr auto transform = ChebyshevMethod::transform;

/// Distance of 1 from the next number.
template <class T>
inline constexpr double epsilon = std::numeric_limits<Real<T>>::epsilon();

/// The largest rounding error of n_products products, in units of |a| * |b|. The direct sum errs by n eps
/// (docs/how-it-works/chebyshev.md), and by twice that for complex numbers, whose product takes two. By
/// transforms, a sum over K terms errs by eps sqrt(K), and a value is at most the sum of |a|, which for
/// random coefficients is n / sqrt(n) times what their product has; there are three such sums per axis.
template <class T, std::size_t D>
double bound(ChebyshevMethod method, const std::array<std::int64_t, D>& extents, double n_products = 1) {
    double n = 1;
    for (const auto extent : extents) n *= static_cast<double>(extent);
    const double complex = chebyshev::is_complex<T> ? 2 : 1;
    return epsilon<T> * complex * n_products *
           (method == direct ? n : 3 * static_cast<double>(D) * std::sqrt(n) + 4);
}

/// What a call is refused with.
template <class Function>
std::string message_of(const Function& function) {
    try {
        function();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "nothing was thrown";
}

template <class T>
T random_value(std::mt19937_64& engine) {
    std::normal_distribution<double> normal;
    if constexpr (chebyshev::is_complex<T>) {
        const auto re = static_cast<Real<T>>(normal(engine));
        return {re, static_cast<Real<T>>(normal(engine))};
    } else {
        return static_cast<T>(normal(engine));
    }
}

template <class T, int D>
Array<T, D> random_array(const std::array<std::int64_t, D>& extents, unsigned seed) {
    std::mt19937_64 engine(seed);
    Array<T, D> array(extents);
    for (auto& value : array) value = random_value<T>(engine);
    return array;
}

template <class T, int D, ChebyshevConvention C = primed>
ChebyshevSeries<T, D, C> random_series(const std::array<std::int64_t, D>& extents, unsigned seed) {
    return {random_array<T, D>(extents, seed), {}};
}

/// Calls body(i, j, k, element) with the series' indices right-aligned in three.
template <class T, int D, class Body>
void for_coefficients(View<T, D> series, const Body& body) {
    std::array<std::int64_t, 3> n{1, 1, 1}, s{};
    for (int axis = 0; axis < D; ++axis) {
        n[3 - D + axis] = series.extent(axis);
        s[3 - D + axis] = series.stride(axis);
    }
    for (std::int64_t i = 0; i < n[0]; ++i)
        for (std::int64_t j = 0; j < n[1]; ++j)
            for (std::int64_t k = 0; k < n[2]; ++k)
                body(i, j, k, series.data()[i * s[0] + j * s[1] + k * s[2]]);
}

/// What a coefficient is multiplied with to be plain.
template <int D, ChebyshevConvention C>
long double to_plain(std::int64_t i, std::int64_t j, std::int64_t k) {
    if (C == plain) return 1;
    return (k == 0 ? 0.5L : 1) * (D > 1 && j == 0 ? 0.5L : 1) * (D > 2 && i == 0 ? 0.5L : 1);
}

template <ChebyshevConvention C, class T, int D>
ReferenceSeries reference_of(View<T, D> series) {
    std::array<std::int64_t, 3> n{1, 1, 1};
    for (int axis = 0; axis < D; ++axis) n[3 - D + axis] = series.extent(axis);
    ReferenceSeries result(n);
    for_coefficients(series, [&](auto i, auto j, auto k, const auto& value) {
        result.at(i, j, k) = ReferenceSeries::Value(value) * to_plain<D, C>(i, j, k);
    });
    return result;
}

struct ProductError {
    double componentwise = 0;  ///< largest |error| / (|a| * |b|), in the same coefficient
    double normwise = 0;       ///< largest |error| / largest |a| * |b|
};

/// Of `found`, against the leading coefficients of the exact product; magnitude: of the absolute values.
template <ChebyshevConvention C, class T, int D>
ProductError error_of(View<T, D> found, const ReferenceSeries& exact, const ReferenceSeries& magnitude) {
    ProductError error;
    long double largest_error = 0, largest = 0;
    for_coefficients(found, [&](auto i, auto j, auto k, const auto& value) {
        const bool inside = i < exact.extents[0] && j < exact.extents[1] && k < exact.extents[2];
        const auto expected = inside ? exact.at(i, j, k) : 0.0L;
        const auto scale = inside ? magnitude.at(i, j, k).real() : 0.0L;
        const auto difference = std::abs(ReferenceSeries::Value(value) * to_plain<D, C>(i, j, k) - expected);
        if (!(difference == 0))
            error.componentwise = larger(error.componentwise, static_cast<double>(difference / scale));
        largest_error = larger(largest_error, difference);
        largest = larger(largest, scale);
    });
    error.normwise = static_cast<double>(largest_error / largest);
    return error;
}

}  // namespace zonal::test
