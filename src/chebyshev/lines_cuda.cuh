#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "chebyshev/product/product_cuda.cuh"
#include "core/cuda.cuh"
#include "zonal/error.hpp"

/// Lines of arrays along an axis, and how threads share them out.
namespace zonal::chebyshev::cuda {

/// A line of either array, elements strides apart.
template <class R>
struct LinePair {
    const R* source;
    std::int64_t source_stride;
    R* target;
    std::int64_t target_stride;
};

/// All lines along an axis of two arrays whose other extents are equal: those of complex numbers twice, real
/// and imaginary parts. Counted [batch, axes that are not the lines', plane], the last one fastest.
template <class R>
struct LinePairs {
    LinePair<R> first;
    std::int64_t source_strides[4], target_strides[4];
    std::int64_t extents[4];
    std::int64_t count;

    __device__ LinePair<R> operator[](std::int64_t number) const {
        LinePair<R> line = first;
        for (int k = 3; k >= 0; --k) {
            if (extents[k] == 1) continue;
            const std::int64_t index = number % extents[k];
            number /= extents[k];
            line.source += index * source_strides[k];
            line.target += index * target_strides[k];
        }
        return line;
    }
};

/// axis: of the arrays, 1 to 3
template <class T>
LinePairs<Real<T>> line_pairs(const SeriesArray<const T>& from, const SeriesArray<T>& to, int axis) {
    const auto source = plane_of(from, 0);
    const auto target = plane_of(to, 0);
    LinePairs<Real<T>> pairs{
        {source.data, source.strides[axis], target.data, target.strides[axis]}, {}, {}, {}, 1};
    int place = 0;
    const auto add = [&](std::int64_t extent, std::int64_t source_stride, std::int64_t target_stride) {
        pairs.extents[place] = extent;
        pairs.source_strides[place] = source_stride;
        pairs.target_strides[place++] = target_stride;
        pairs.count *= extent;
    };
    for (int other = 0; other <= 3; ++other)
        if (other != axis)
            add(from.extents[static_cast<std::size_t>(other)], source.strides[other], target.strides[other]);
    add(n_planes<T>, 1, 1);
    return pairs;
}

inline constexpr int most_team_threads = 1024, most_team_warps = most_team_threads / 32;

/// Threads that share a line, 1 or a multiple of 32, and how many such teams a block has: several only of a
/// warp or less, as larger ones meet in shared memory.
struct Teams {
    int threads, per_block;
};

inline Teams teams_for(std::int64_t n) {
    constexpr int threads_per_block = 128;
    const auto threads = static_cast<int>(std::min<std::int64_t>((n + 31) / 32 * 32, most_team_threads));
    return {threads, threads == 32 ? threads_per_block / 32 : 1};
}

/// Whether there are lines for a thread each: so many that the device is busy, and either their neighbours
/// lie side by side in memory or they are short enough to stay in the cache.
template <class R>
bool has_line_for_each_thread(const LinePairs<R>& lines, std::int64_t n) {
    constexpr std::int64_t fewest_lines = 1 << 14, short_line = 32;
    const std::int64_t planes = lines.extents[3];
    return lines.count >= fewest_lines && (std::abs(lines.first.source_stride) > planes || n <= short_line);
}

/// Teams for `count` sums of n terms each: of one thread where there are enough of them, else as large as
/// terms and processors allow.
inline Teams teams_for_sums(std::int64_t count, std::int64_t n) {
    constexpr std::int64_t fewest_sums = 1 << 14, fewest_terms = 16, most_threads = 1 << 18;
    constexpr int threads_per_block = 128;
    if (count >= fewest_sums || n < 2 * fewest_terms) return {1, threads_per_block};
    int threads = 32;
    while (threads < most_team_threads && 2 * threads * fewest_terms <= n &&
           2 * threads * count <= most_threads)
        threads *= 2;
    return {threads, threads == 32 ? threads_per_block / 32 : 1};
}

/// Terms [first, first + count) of n, a thread's part of them.
struct TeamShare {
    std::int64_t first, count;

    static __device__ TeamShare of(std::int64_t n) {
        const std::int64_t length = (n + blockDim.x - 1) / blockDim.x, first = length * threadIdx.x;
        const std::int64_t left = first < n ? n - first : 0;
        return {first, length < left ? length : left};
    }
};

inline unsigned n_blocks_for(std::int64_t count, std::int64_t per_block) {
    const std::int64_t blocks = (count + per_block - 1) / per_block;
    if (blocks > INT32_MAX)
        throw InvalidArgument("f", "has " + std::to_string(count) + " lines along the axis: too many");
    return static_cast<unsigned>(blocks);
}

/// Sum over a team, whose threads then all have it; shared: [warp], for one call. All threads of the block
/// must call.
template <class R>
__device__ R team_sum(R value, R* shared) {
    if (blockDim.x == 1) return value;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    const int n_warps = static_cast<int>(blockDim.x) / 32;
    if (n_warps == 1) return value;
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    R sum = 0;
    for (int warp = 0; warp < n_warps; ++warp) sum += shared[warp];
    return sum;
}

}  // namespace zonal::chebyshev::cuda
