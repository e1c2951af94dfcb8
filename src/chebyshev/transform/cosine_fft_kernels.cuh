#pragma once

#include "chebyshev/transform/cosine_launch.cuh"

/// What comes before and after the Fourier transforms of pairs of lines.
namespace zonal::chebyshev::cuda {

/// Lines are columns of one array after another, a pair two neighbours of them; or (multiplies) the same
/// columns of two arrays.
template <class R>
struct FftLaunch {
    AxisLaunch<R> axis;
    double2* lines;  ///< [pair, m], from pair `first_pair` on
    std::int64_t m, n, first_pair, n_pairs;
    double first_weight;  ///< of a_0 or c_0
    bool multiplies;
};

inline constexpr int fft_threads = 256;

/// Which array and column line `which` (0 or 1) of a pair is; array -1 beyond the last.
struct LinePlace {
    int array;
    std::int64_t column;
};

template <class R>
__device__ LinePlace line_place(const FftLaunch<R>& launch, std::int64_t pair, int which) {
    if (launch.multiplies) return {which, pair};
    const std::int64_t line = 2 * pair + which;
    if (line >= launch.axis.n_arrays * launch.axis.n_columns) return {-1, 0};
    return {static_cast<int>(line / launch.axis.n_columns), line % launch.axis.n_columns};
}

/// Where a line begins in its array, and the stride along it; null beyond the last.
template <class Element>
struct Line {
    Element* data = nullptr;
    std::int64_t stride = 0;
};

template <class R>
__device__ Line<const R> source_line(const FftLaunch<R>& launch, std::int64_t pair, int which) {
    const LinePlace place = line_place(launch, pair, which);
    if (place.array < 0) return {};
    const auto& plane = launch.axis.in[place.array];
    return {plane.data + column_offset(launch.axis, plane, place.column), plane.strides[launch.axis.axis]};
}

template <class R>
__device__ Line<R> target_line(const FftLaunch<R>& launch, std::int64_t pair, int which) {
    const LinePlace place = line_place(launch, pair, which);
    if (place.array < 0) return {};
    const auto& plane = launch.axis.out[place.array];
    return {plane.data + column_offset(launch.axis, plane, place.column), plane.strides[launch.axis.axis]};
}

template <class R>
__device__ double element(const Line<const R>& line, std::int64_t k, std::int64_t n) {
    return line.data == nullptr || k >= n ? 0.0 : static_cast<double>(line.data[k * line.stride]);
}

/// exp(i pi k / 2m)
__device__ inline LinePairValue mode_root(std::int64_t k, std::int64_t m) {
    const double turns = static_cast<double>(k) / static_cast<double>(2 * m);
    return {cospi(turns), sinpi(turns)};
}

/// Of the thread: its entry of a line and its pair, in this launch; blocks lie along both.
struct LineThread {
    std::int64_t k, pair;

    static __device__ LineThread here() {
        return {static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y};
    }
};

/// Coefficients to Fourier modes.
template <class R>
__global__ void __launch_bounds__(fft_threads) load_modes(const __grid_constant__ FftLaunch<R> launch) {
    const auto [k, pair] = LineThread::here();
    if (k >= launch.m || pair >= launch.n_pairs) return;
    const auto first = source_line(launch, launch.first_pair + pair, 0);
    const auto second = source_line(launch, launch.first_pair + pair, 1);
    LinePairValue mode{element(first, k, launch.n), element(second, k, launch.n)};
    if (k == 0) {
        mode = {mode.re * launch.first_weight, mode.im * launch.first_weight};
    } else {
        const std::int64_t mirrored = launch.m - k;
        mode = synthesis_mode(mode, {element(first, mirrored, launch.n), element(second, mirrored, launch.n)},
                              mode_root(k, launch.m));
    }
    launch.lines[pair * launch.m + k] = make_double2(mode.re, mode.im);
}

/// Lines to values, or to their product.
template <class R>
__global__ void __launch_bounds__(fft_threads) store_values(const __grid_constant__ FftLaunch<R> launch) {
    const auto [j, pair] = LineThread::here();
    if (j >= launch.m || pair >= launch.n_pairs) return;
    const double2 value = launch.lines[pair * launch.m + j];
    const auto first = target_line(launch, launch.first_pair + pair, 0);
    if (launch.multiplies) {
        first.data[j * first.stride] = static_cast<R>(launch.axis.weight * value.x * value.y);
        return;
    }
    const auto second = target_line(launch, launch.first_pair + pair, 1);
    first.data[j * first.stride] = static_cast<R>(value.x);
    if (second.data != nullptr) second.data[j * second.stride] = static_cast<R>(value.y);
}

template <class R>
__global__ void __launch_bounds__(fft_threads) load_values(const __grid_constant__ FftLaunch<R> launch) {
    const auto [j, pair] = LineThread::here();
    if (j >= launch.m || pair >= launch.n_pairs) return;
    const auto first = source_line(launch, launch.first_pair + pair, 0);
    const auto second = source_line(launch, launch.first_pair + pair, 1);
    launch.lines[pair * launch.m + j] =
        make_double2(element(first, j, launch.m), element(second, j, launch.m));
}

/// Fourier modes to coefficients.
template <class R>
__global__ void __launch_bounds__(fft_threads)
    store_coefficients(const __grid_constant__ FftLaunch<R> launch) {
    const auto [k, pair] = LineThread::here();
    if (k >= launch.n || pair >= launch.n_pairs) return;
    const double2* const line = launch.lines + pair * launch.m;
    const double2 low = line[k], mirrored = line[k == 0 ? 0 : launch.m - k];
    const double weight = (k == 0 ? launch.first_weight : 1) / static_cast<double>(launch.m);
    const LinePairValue mode =
        analysis_mode({low.x, low.y}, {mirrored.x, mirrored.y}, mode_root(k, launch.m), weight);
    const auto first = target_line(launch, launch.first_pair + pair, 0);
    const auto second = target_line(launch, launch.first_pair + pair, 1);
    first.data[k * first.stride] = static_cast<R>(mode.re);
    if (second.data != nullptr) second.data[k * second.stride] = static_cast<R>(mode.im);
}

}  // namespace zonal::chebyshev::cuda
