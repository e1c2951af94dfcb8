#pragma once

#include <algorithm>
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

/// Points of each axis, in [-1, 1].
using GridPoints = std::array<View<const double, 1>, 3>;

// Arrays lie in one memory; on a CUDA device the work is put on the stream, a cudaStream_t of that device
// (null: the default stream), and calls do not wait. What they need for two and more axes comes from the
// device's memory pool, in the stream's order.

/// value: of the first series of the batch at one point of [-1, 1]^D; f: in host memory
template <class T>
T evaluate(const SeriesArray<const T>& f, const double* point);
/// points: [point, axis], in [-1, 1]; values: [batch, point]
template <class T>
void evaluate(const SeriesArray<const T>& f, View<const double, 2> points, View<T, 2> values,
              void* cuda_stream = nullptr);
/// values: [batch, i, j, ..]; points may also be in host memory: their copy to a device may wait.
template <class T>
void evaluate_on_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values,
                      void* cuda_stream = nullptr);
/// Coefficients of the polynomial through the values at the nodes, along all axes; values: [batch, n_0, ..];
/// f: of at most that shape (more coefficients are cut off, the first ones being exact).
template <class T>
void interpolate(const SeriesArray<const T>& values, ChebyshevNodes nodes, const SeriesArray<T>& f,
                 void* cuda_stream = nullptr);
/// The series that have f's values at these points as theirs at Gauss points.
template <class T>
void resample(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& result,
              void* cuda_stream = nullptr);

/// One row-major array of values, in host memory.
template <class T>
void interpolate(const T* values, const std::array<std::int64_t, 3>& n_values, ChebyshevNodes nodes,
                 const SeriesArray<T>& f) {
    SeriesArray<const T> array{values, f.dimensions, f.convention};
    array.strides[f.dimensions] = 1;
    for (int axis = f.dimensions; axis >= 1; --axis) {
        array.extents[axis] = n_values[axis - 1];
        array.strides[axis - 1] = array.strides[axis] * array.extents[axis];
    }
    interpolate<T>(array, nodes, f);
}

template <std::size_t D>
GridPoints grid_points(const std::array<std::vector<double>, D>& points) {
    GridPoints views;
    for (std::size_t axis = 0; axis < D; ++axis)
        views[axis] = {points[axis].data(), {static_cast<std::int64_t>(points[axis].size())}};
    return views;
}

}  // namespace chebyshev

/// values[batch, point] = f at points[point, axis] in the variables of [-1, 1] (Interval::to_reference), or
/// outside, by Clenshaw's recurrence. All in the host's memory, or all on one CUDA device: then the work is
/// put on cuda_stream, a cudaStream_t (null: the default stream), and the call neither waits nor allocates.
/// Throws InvalidArgument and BackendUnavailable.
template <class T, int D, ChebyshevConvention C>
void evaluate(ChebyshevView<const T, D, C> f, View<const double, 2> points,
              std::type_identity_t<View<T, 2>> values, void* cuda_stream = nullptr) {
    chebyshev::evaluate<T>(chebyshev::series_array(f), points, values, cuda_stream);
}

/// values[batch, i, j, ..] = f at (points[0][i], points[1][j], ..), in the variables of [-1, 1]. As above,
/// but points may be in host memory, from where they are copied, and in two and three dimensions memory comes
/// from the device's pool, in the stream's order.
template <class T, int D, ChebyshevConvention C>
void evaluate_on_grid(ChebyshevView<const T, D, C> f,
                      const std::type_identity_t<std::array<View<const double, 1>, D>>& points,
                      std::type_identity_t<View<T, D + 1>> values, void* cuda_stream = nullptr) {
    chebyshev::GridPoints all;
    std::copy(points.begin(), points.end(), all.begin());
    const ChebyshevView<T, D, C> as_array(values);
    chebyshev::evaluate_on_grid<T>(chebyshev::series_array(f), all, chebyshev::series_array(as_array),
                                   cuda_stream);
}

/// f = the series through values[batch, i, j, ..] at nodes of each axis; of at most as many coefficients as
/// there are values. Memory, stream and errors as in evaluate_on_grid.
template <class T, int D, ChebyshevConvention C>
void interpolate(std::type_identity_t<View<const T, D + 1>> values, ChebyshevNodes nodes,
                 ChebyshevView<T, D, C> f, void* cuda_stream = nullptr) {
    const ChebyshevView<const T, D, C> as_array(values);
    chebyshev::interpolate<T>(chebyshev::series_array(as_array), nodes, chebyshev::series_array(f),
                              cuda_stream);
}

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
    std::array<std::vector<double>, D> sigma;
    typename Array<T, D>::Extents extents{};
    for (int axis = 0; axis < D; ++axis) {
        for (const double z : points[axis]) sigma[axis].push_back(f.domain()[axis].to_reference(z));
        extents[axis] = static_cast<std::int64_t>(points[axis].size());
    }
    Array<T, D> values(extents);
    const ChebyshevView<T, D, C> as_array(values.view());
    chebyshev::evaluate_on_grid<T>(chebyshev::series_array(f.view()), chebyshev::grid_points<D>(sigma),
                                   chebyshev::series_array(as_array));
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
    const ChebyshevView<const T, D, C> as_array(values.view());
    chebyshev::interpolate<T>(chebyshev::series_array(as_array), nodes, chebyshev::series_array(f.view()));
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

/// result = the series f of one box on another one, mostly a part of it; of the same shape, and equal to f up
/// to rounding (outside of f's box it extrapolates). Memory, stream and errors as in evaluate_on_grid.
template <class T, int D, ChebyshevConvention C>
void restricted(ChebyshevView<const T, D, C> f, const ChebyshevDomain<D>& from, const ChebyshevDomain<D>& to,
                std::type_identity_t<ChebyshevView<T, D, C>> result, void* cuda_stream = nullptr) {
    std::array<std::int64_t, D> extents{};
    for (int axis = 0; axis < D; ++axis) extents[axis] = f.coefficients.extent(axis + 1);
    auto points = interpolation_points<D>(extents, ChebyshevNodes::gauss, to);
    for (int axis = 0; axis < D; ++axis)
        for (double& z : points[axis]) z = from[axis].to_reference(z);
    chebyshev::resample<T>(chebyshev::series_array(f), chebyshev::grid_points<D>(points),
                           chebyshev::series_array(result), cuda_stream);
}

/// The same of one series.
template <class T, int D, ChebyshevConvention C>
ChebyshevSeries<T, D, C> restricted(const ChebyshevSeries<T, D, C>& f, const ChebyshevDomain<D>& domain) {
    ChebyshevSeries<T, D, C> result(f.extents(), domain);
    restricted<T, D, C>(f.view(), f.domain(), domain, result.view());
    return result;
}

}  // namespace zonal
