#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "zonal/chebyshev.hpp"

namespace zonal {

/// Points of [-1, 1], in descending order.
enum class ChebyshevNodes {
    gauss,   ///< cos(pi (2 j + 1) / 2n), j < n: the zeros of T_n
    lobatto  ///< cos(pi j / (n - 1)), j < n: the extrema of T_{n-1} with the ends; n >= 2
};

/// n nodes, accurate to a unit in the last place. n >= 1. Throws InvalidArgument.
std::vector<double> chebyshev_nodes(ChebyshevNodes nodes, std::int64_t n);

namespace chebyshev {

/// value: of the first series of the batch at one point of [-1, 1]^D.
template <class T>
T evaluate(const SeriesArray<const T>& f, const double* point);
/// out[.., i, ..] = sum_k a[.., k, ..] T_k(x_i) along one axis, row-major; in the axes after `axis` a is
/// [batch, k..] and in the convention of f, which along `axis` is taken into account.
template <class T>
void evaluate_on_grid(const SeriesArray<const T>& f, const std::array<std::vector<double>, 3>& points,
                      T* values);
/// Coefficients of the polynomial through the values at the nodes, along all axes; values: [n_0, ..],
/// row-major; f: of at most that shape (more coefficients are cut off, the first ones being exact).
template <class T>
void interpolate(const T* values, const std::array<std::int64_t, 3>& n_values, ChebyshevNodes nodes,
                 const SeriesArray<T>& f);

}  // namespace chebyshev

/// f at one point of its domain or outside of it, by Clenshaw's recurrence.
template <class T, int D, ChebyshevConvention C>
T evaluate(const ChebyshevSeries<T, D, C>& f, std::type_identity_t<std::array<double, D>> point) {
    for (int axis = 0; axis < D; ++axis) point[axis] = f.domain()[axis].to_reference(point[axis]);
    return chebyshev::evaluate<T>(chebyshev::series_array(f.view()), point.data());
}
template <class T, ChebyshevConvention C>
T evaluate(const ChebyshevSeries<T, 1, C>& f, double point) {
    return evaluate<T, 1, C>(f, std::array{point});
}
/// At many points.
template <class T, int D, ChebyshevConvention C>
std::vector<T> evaluate(const ChebyshevSeries<T, D, C>& f,
                        const std::type_identity_t<std::vector<std::array<double, D>>>& points) {
    std::vector<T> values;
    values.reserve(points.size());
    for (const auto& point : points) values.push_back(evaluate<T, D, C>(f, point));
    return values;
}

/// f at the points (x_0[i], x_1[j], ..) of its domain: [i, j, ..].
template <class T, int D, ChebyshevConvention C>
Array<T, D> evaluate_on_grid(const ChebyshevSeries<T, D, C>& f,
                             const std::type_identity_t<std::array<std::vector<double>, D>>& points) {
    std::array<std::vector<double>, 3> sigma;
    typename Array<T, D>::Extents extents{};
    for (int axis = 0; axis < D; ++axis) {
        for (const double z : points[axis]) sigma[axis].push_back(f.domain()[axis].to_reference(z));
        extents[axis] = static_cast<std::int64_t>(points[axis].size());
    }
    Array<T, D> values(extents);
    chebyshev::evaluate_on_grid<T>(chebyshev::series_array(f.view()), sigma, values.data());
    return values;
}

/// Points of each axis of a domain where values make a series; as ChebyshevNodes, descending.
template <int D>
std::array<std::vector<double>, D> interpolation_points(const std::array<std::int64_t, D>& n,
                                                        ChebyshevNodes nodes,
                                                        const ChebyshevDomain<D>& domain = {}) {
    std::array<std::vector<double>, D> points;
    for (int axis = 0; axis < D; ++axis)
        for (const double sigma : chebyshev_nodes(nodes, n[axis]))
            points[axis].push_back(domain[axis].from_reference(sigma));
    return points;
}

/// The series through values[i, j, ..] at interpolation_points(values.extents(), nodes, domain).
template <class T, int D, ChebyshevConvention C = ChebyshevConvention::primed>
ChebyshevSeries<T, D, C> series_through(const Array<T, D>& values, ChebyshevNodes nodes,
                                        const ChebyshevDomain<D>& domain = {}) {
    ChebyshevSeries<T, D, C> f(values.extents(), domain);
    std::array<std::int64_t, 3> n_values{1, 1, 1};
    for (int axis = 0; axis < D; ++axis) n_values[axis] = values.extent(axis);
    chebyshev::interpolate<T>(values.data(), n_values, nodes, chebyshev::series_array(f.view()));
    return f;
}

/// The series of extents coefficients through a function at Gauss points of the domain.
template <class T, int D, ChebyshevConvention C = ChebyshevConvention::primed>
ChebyshevSeries<T, D, C> interpolate(const std::function<T(const std::array<double, D>&)>& function,
                                     const std::array<std::int64_t, D>& extents,
                                     const ChebyshevDomain<D>& domain = {},
                                     ChebyshevNodes nodes = ChebyshevNodes::gauss) {
    const auto points = interpolation_points<D>(extents, nodes, domain);
    Array<T, D> values(extents);
    for (std::int64_t i = 0; i < values.size(); ++i) {
        std::array<double, D> point{};
        auto rest = i;
        for (int axis = D - 1; axis >= 0; --axis) {
            point[axis] = points[axis][static_cast<std::size_t>(rest % extents[axis])];
            rest /= extents[axis];
        }
        values.data()[i] = function(point);
    }
    return series_through<T, D, C>(values, nodes, domain);
}

/// f as a series on another box, mostly a part of its own; of the same shape, and equal to f up to rounding
/// (outside of f's box it extrapolates).
template <class T, int D, ChebyshevConvention C>
ChebyshevSeries<T, D, C> restricted(const ChebyshevSeries<T, D, C>& f, const ChebyshevDomain<D>& domain) {
    const auto points = interpolation_points<D>(f.extents(), ChebyshevNodes::gauss, domain);
    return series_through<T, D, C>(evaluate_on_grid<T, D, C>(f, points), ChebyshevNodes::gauss, domain);
}

}  // namespace zonal
