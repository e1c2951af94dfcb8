#pragma once

#include <algorithm>
#include <span>

#include "chebyshev/product/product_cuda.cuh"
#include "chebyshev/transform/cosine_math.hpp"
#include "core/cuda.cuh"

/// What launches along one axis take.
namespace zonal::chebyshev::cuda {

/// The columns of arrays along one axis.
struct AxisColumns {
    int dimensions, axis;
    std::array<std::int64_t, 3> extents;  ///< of the arrays; the axis's own plays no part
    std::int64_t n_batch;
};

/// One axis of arrays, for all columns along it.
template <class R>
struct AxisLaunch {
    Plane<const R> in[most_planes];
    Plane<R> out[most_planes];
    int n_arrays;
    int axis, first, second;  ///< of strides: the axis, and those that columns count
    std::int64_t n_first, n_second, n_columns;
    bool is_last_axis;  ///< then neighbours in memory lie along the axis
    double weight;      ///< of products
};

/// A launch but for its arrays.
template <class R>
AxisLaunch<R> launch_for(const AxisColumns& columns) {
    AxisLaunch<R> launch{};
    std::array<int, 2> others{};
    int n_others = 0;
    for (int axis = 0; axis < 3; ++axis)
        if (axis != columns.axis) others[static_cast<std::size_t>(n_others++)] = axis;
    launch.axis = columns.axis + 1;
    launch.first = others[0] + 1;
    launch.second = others[1] + 1;
    launch.n_first = columns.extents[static_cast<std::size_t>(others[0])];
    launch.n_second = columns.extents[static_cast<std::size_t>(others[1])];
    launch.n_columns = columns.n_batch * launch.n_first * launch.n_second;
    launch.is_last_axis = columns.axis == columns.dimensions - 1;
    launch.weight = 1;
    return launch;
}

/// run(launch) with arrays by as many as a launch takes.
template <class R, class Run>
void for_arrays(AxisLaunch<R> launch, std::span<const Plane<const R>> in, std::span<const Plane<R>> out,
                const Run& run) {
    for (std::size_t first = 0; first < in.size(); first += most_planes) {
        const auto count = std::min<std::size_t>(most_planes, in.size() - first);
        std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(first), count, launch.in);
        std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(first), count, launch.out);
        launch.n_arrays = static_cast<int>(count);
        run(launch);
    }
}

/// Where a column begins in an array.
template <class R, class Element>
__device__ __forceinline__ std::int64_t column_offset(const AxisLaunch<R>& launch,
                                                      const Plane<Element>& plane, std::int64_t column) {
    const ColumnIndex index = column_index(column, launch.n_first, launch.n_second);
    return index.batch * plane.strides[0] + index.first * plane.strides[launch.first] +
           index.second * plane.strides[launch.second];
}

}  // namespace zonal::chebyshev::cuda
