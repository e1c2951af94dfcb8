#pragma once

#include "chebyshev/evaluation/evaluation_math.hpp"
#include "chebyshev/lines_cuda.cuh"

/// Values of series at points and coefficients from values. Blocks: threads x of a team, which share the
/// terms of a sum, teams y, each with a sum.
namespace zonal::chebyshev::cuda {

/// Values of lines of n coefficients at points.
template <class R>
struct ValueSums {
    std::int64_t n;
    const double* points;
    std::int64_t point_stride;
    R first_weight;

    /// The part of term [first, first + count) in result i.
    __device__ R part(const LinePair<R>& line, std::int64_t i, const TeamShare& terms) const {
        const double x = points[i * point_stride];
        const R* const source = line.source + terms.first * line.source_stride;
        const auto a = [&](std::int64_t k) { return source[k * line.source_stride]; };
        return clenshaw<R>(a, terms.count, x, clenshaw_start(x, terms.first),
                           terms.first == 0 ? first_weight : R{1});
    }
    __device__ R weight(std::int64_t) const { return 1; }
};

/// Coefficients of lines of n values at nodes.
template <class R>
struct CoefficientSums {
    std::int64_t n;
    NodeSums nodes;

    __device__ R part(const LinePair<R>& line, std::int64_t k, const TeamShare& terms) const {
        const auto half_turn = static_cast<double>(2 * nodes.m());
        R sum = 0;
        for (std::int64_t j = terms.first; j < terms.first + terms.count; ++j) {
            const double cosine = cospi(static_cast<double>(nodes.quarter_turns(k, j)) / half_turn);
            sum += line.source[j * line.source_stride] * static_cast<R>(cosine * nodes.share(j));
        }
        return sum;
    }
    __device__ R weight(std::int64_t k) const { return static_cast<R>(nodes.weight(k)); }
};

/// Results i < n_results of each line, along the lines of the target.
template <class R, class Sums>
__global__ void __launch_bounds__(most_team_threads)
    add_along_lines(const __grid_constant__ LinePairs<R> lines, const __grid_constant__ Sums sums,
                    std::int64_t n_results, bool is_last_axis) {
    __shared__ R shared[most_team_warps];
    const std::int64_t result = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const bool is_there = result < n_results * lines.count;
    const std::int64_t number = is_there ? result : 0;
    // Neighbouring threads write neighbours in memory.
    const std::int64_t i = is_last_axis ? number % n_results : number / lines.count;
    const LinePair<R> line = lines[is_last_axis ? number / n_results : number % lines.count];
    const auto terms = TeamShare::of(sums.n);
    const R sum = team_sum(terms.count > 0 ? sums.part(line, i, terms) : R{0}, shared);
    if (is_there && threadIdx.x == 0) line.target[i * line.target_stride] = sum * sums.weight(i);
}

/// Values of a batch of series at points anywhere; strides of planes are 1.
template <class R>
struct PointLaunch {
    Plane<const R> f;
    std::int64_t extents[3];
    R first_weight;
    const double* points;  ///< [point, axis]
    std::int64_t point_strides[2];
    R* values;  ///< [batch, point, plane]
    std::int64_t value_strides[2];
    std::int64_t n_batch, n_points, n_planes;
};

/// Sums over axes from `Axis` to the last, of which the first has these terms.
template <int D, int Axis, class R>
__device__ R value_at(const PointLaunch<R>& launch, const R* row, const double* point,
                      const TeamShare& terms) {
    const double x = point[Axis * launch.point_strides[1]];
    const auto a = [&](std::int64_t k) {
        const R* const source = row + (terms.first + k) * launch.f.strides[Axis + 1];
        if constexpr (Axis + 1 < D)
            return value_at<D, Axis + 1>(launch, source, point, {0, launch.extents[Axis + 1]});
        else
            return *source;
    };
    return clenshaw<R>(a, terms.count, x, clenshaw_start(x, terms.first),
                       terms.first == 0 ? launch.first_weight : R{1});
}

template <class R, int D>
__global__ void __launch_bounds__(most_team_threads)
    evaluate_at_points(const __grid_constant__ PointLaunch<R> launch) {
    __shared__ R shared[most_team_warps];
    const std::int64_t result = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const bool is_there = result < launch.n_batch * launch.n_points * launch.n_planes;
    const std::int64_t number = is_there ? result : 0;
    const std::int64_t plane = number % launch.n_planes, i = number / launch.n_planes % launch.n_points;
    const std::int64_t item = number / launch.n_planes / launch.n_points;
    const R* const series = launch.f.data + item * launch.f.strides[0] + plane;
    const auto terms = TeamShare::of(launch.extents[0]);
    const R part = terms.count > 0
                       ? value_at<D, 0>(launch, series, launch.points + i * launch.point_strides[0], terms)
                       : R{0};
    const R sum = team_sum(part, shared);
    if (is_there && threadIdx.x == 0)
        launch.values[item * launch.value_strides[0] + i * launch.value_strides[1] + plane] = sum;
}

}  // namespace zonal::chebyshev::cuda
