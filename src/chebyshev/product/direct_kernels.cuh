#pragma once

#include "chebyshev/product/direct_math.hpp"
#include "core/cuda.cuh"

/// The sum over pairs of coefficients: along rows (the last axis) from shared memory, over pairs of rows for
/// the other axes (direct_math.hpp).
namespace zonal::chebyshev::cuda {

/// Coefficients as the kernels take them: axes (l, j, k) from the slowest, absent ones of extent 1.
template <class R>
struct RowArray {
    R* data = nullptr;
    std::int64_t batch_stride = 0, strides[3] = {0, 0, 0};
    std::int64_t n[3] = {1, 1, 1};
    bool is_plain = false;

    __device__ std::int64_t degree(int axis) const { return n[axis] - 1; }
    __device__ R* row(std::int64_t item, std::int64_t l, std::int64_t j) const {
        return data + item * batch_stride + l * strides[0] + j * strides[1];
    }
};

/// out = weight a b, or out += weight a b.
template <class R>
struct DirectLaunch {
    RowArray<const R> a, b;
    RowArray<R> out;
    int dimensions;
    bool adds;
    R weight;  ///< 2^-dimensions included
    int tile;  ///< elements of a that are in shared memory at once, a multiple of 32
};

/// What makes a coefficient of a plain sum one of a primed sum, in one row and at k = 0 there.
__device__ inline int zero_factor(int dimensions, std::int64_t l, std::int64_t j) {
    return (dimensions > 1 && j == 0 ? 2 : 1) * (dimensions > 2 && l == 0 ? 2 : 1);
}

template <class R>
struct PrimedRow {
    const R* data;
    std::int64_t stride, degree;
    R factor, first_factor;

    __device__ PrimedRow(const RowArray<const R>& array, int dimensions, std::int64_t item, std::int64_t l,
                         std::int64_t j)
        : data(array.row(item, l, j)), stride(array.strides[2]), degree(array.degree(2)) {
        factor = array.is_plain ? static_cast<R>(zero_factor(dimensions, l, j)) : R{1};
        first_factor = array.is_plain ? 2 * factor : R{1};
    }
    /// a_|i|, 0 beyond the highest mode.
    __device__ R operator()(std::int64_t i) const {
        const std::int64_t k = fold(i);
        return k > degree ? R{0} : data[k * stride] * (k == 0 ? first_factor : factor);
    }
};

template <class R>
__device__ void store_coefficient(const DirectLaunch<R>& launch, std::int64_t item, std::int64_t l,
                                  std::int64_t j, std::int64_t k, R sum) {
    R value = launch.weight * sum;
    if (launch.out.is_plain) value /= static_cast<R>(zero_factor(launch.dimensions, l, j) * (k == 0 ? 2 : 1));
    R* const out = launch.out.row(item, l, j) + k * launch.out.strides[2];
    *out = launch.adds ? *out + value : value;
}

/// Coefficients k = first + lane + 32 r, r < Outputs, of one row of the output.
template <int Outputs>
struct RowPart {
    std::int64_t item, l, j, first;

    template <class R>
    __device__ explicit RowPart(const RowArray<R>& out) {
        constexpr std::int64_t width = 32 * Outputs;
        const std::int64_t n_parts = (out.n[2] + width - 1) / width;
        std::int64_t block = blockIdx.x;
        first = block % n_parts * width;
        block /= n_parts;
        j = block % out.n[1];
        block /= out.n[1];
        l = block % out.n[0];
        item = block / out.n[0];
    }
};

/// A stretch of a and all of b that meets it: a[x] = a_{a_first + x}, b[x] = b_{b_first + x}.
template <class R>
struct Stretch {
    R* a;
    R* b;
    int a_first, b_first;
    int n_strips;  ///< of 32 elements of a
    int b_degree;
};

template <int Outputs, class R>
__device__ __forceinline__ void load_stretch(const Stretch<R>& stretch, const PrimedRow<R>& a,
                                             const PrimedRow<R>& b, int thread, int n_threads) {
    const int length = 32 * stretch.n_strips;
    for (int x = thread; x < length; x += n_threads) stretch.a[x] = a(stretch.a_first + x);
    for (int x = thread; x < length + 32 * Outputs - 1; x += n_threads) stretch.b[x] = b(stretch.b_first + x);
}

/// sums[r] += a_i b_{k - i} for Strips elements i = begin + i_0 + 32 s of a, all i_0 < 32 or every n-th: each
/// element that is read serves up to Outputs or Strips sums. Where all of b is zero, beyond its highest mode,
/// nothing is done.
template <int Strips, int Outputs, class R>
__device__ __forceinline__ void add_strips(const Stretch<R>& stretch, int first, int begin, int first_shift,
                                           int shift_step, R (&sums)[Outputs]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int shift = first_shift; shift < 32; shift += shift_step) {
        R left[Strips];
#pragma unroll
        for (int s = 0; s < Strips; ++s) left[s] = stretch.a[begin + shift + 32 * s];
        const int index = first - (stretch.a_first + begin + shift);  // k - i of lane 0, r = s
        const R* const b = stretch.b + (index - stretch.b_first + lane);
#pragma unroll
        for (int d = 1 - Strips; d < Outputs; ++d) {  // r - s
            const int low = index + 32 * d;
            if (low > stretch.b_degree || low + 31 < -stretch.b_degree) continue;
            const R right = b[32 * d];
#pragma unroll
            for (int r = 0; r < Outputs; ++r)
                if (0 <= r - d && r - d < Strips) sums[r] = fma(left[r - d], right, sums[r]);
        }
    }
}

template <int Outputs, class R>
__device__ __forceinline__ void add_stretch(const Stretch<R>& stretch, int first, int first_shift,
                                            int shift_step, R (&sums)[Outputs]) {
    int s = 0;
    for (; s + 8 <= stretch.n_strips; s += 8)
        add_strips<8>(stretch, first, 32 * s, first_shift, shift_step, sums);
    const int rest = stretch.n_strips - s;
    if (rest & 4) add_strips<4>(stretch, first, 32 * s, first_shift, shift_step, sums);
    s += rest & 4;
    if (rest & 2) add_strips<2>(stretch, first, 32 * s, first_shift, shift_step, sums);
    s += rest & 2;
    if (rest & 1) add_strips<1>(stretch, first, 32 * s, first_shift, shift_step, sums);
}

/// Elements of shared memory: of one team, and of a block's sums.
template <int Outputs>
__host__ __device__ constexpr int team_size(int tile) {
    return 2 * tile + 32 * Outputs;
}
inline constexpr int direct_warps = 8;

/// Warps that share the rows in shared memory: all of a block, which then share the work on each pair of
/// rows, or each warp alone, with pairs of its own.
template <bool WholeBlock>
struct Team {
    static __device__ int thread() {
        return static_cast<int>(threadIdx.x) % (WholeBlock ? 32 * direct_warps : 32);
    }
    static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }
    static constexpr int n_threads = WholeBlock ? 32 * direct_warps : 32;
    static __device__ void wait() {
        if (WholeBlock)
            __syncthreads();
        else
            __syncwarp();
    }
};

/// The sums of a team over its pairs of rows.
template <int Outputs, bool WholeBlock, class R>
__device__ __forceinline__ void add_pairs(const DirectLaunch<R>& launch, const RowPart<Outputs>& part,
                                          R* memory, R (&sums)[Outputs]) {
    using Members = Team<WholeBlock>;
    const auto &a = launch.a, &b = launch.b;
    const PairRange slow = pair_range(part.l, a.degree(0), b.degree(0));
    const PairRange rows = pair_range(part.j, a.degree(1), b.degree(1));
    const std::int64_t last_k = part.first + 32 * Outputs - 1;
    const PairRange low = pair_range(part.first, a.degree(2), b.degree(2));
    const PairRange high = pair_range(last_k, a.degree(2), b.degree(2));
    const std::int64_t n_rows = rows.last - rows.first + 1;
    const std::int64_t n_pairs =
        n_rows > 0 && slow.last >= slow.first ? n_rows * (slow.last - slow.first + 1) : 0;
    for (std::int64_t pair = WholeBlock ? 0 : Members::warp(); pair < n_pairs;
         pair += WholeBlock ? 1 : direct_warps) {
        const std::int64_t i2 = slow.first + pair / n_rows, i1 = rows.first + pair % n_rows;
        const PrimedRow<R> a_row(a, launch.dimensions, part.item, fold(i2), fold(i1));
        const PrimedRow<R> b_row(b, launch.dimensions, part.item, fold(part.l - i2), fold(part.j - i1));
        for (std::int64_t i = low.first; i <= high.last; i += launch.tile) {
            const std::int64_t left = high.last - i + 1;
            const int length = static_cast<int>(left < launch.tile ? (left + 31) / 32 * 32 : launch.tile);
            const Stretch<R> stretch{memory,
                                     memory + launch.tile,
                                     static_cast<int>(i),
                                     static_cast<int>(part.first - i) - length + 1,
                                     length / 32,
                                     static_cast<int>(b.degree(2))};
            Members::wait();
            load_stretch<Outputs>(stretch, a_row, b_row, Members::thread(), Members::n_threads);
            Members::wait();
            add_stretch(stretch, static_cast<int>(part.first), WholeBlock ? Members::warp() : 0,
                        WholeBlock ? direct_warps : 1, sums);
        }
    }
}

/// A block for 32 Outputs coefficients of a row.
template <class R, int Outputs, bool WholeBlock>
__global__ void __launch_bounds__(32 * direct_warps)
    sum_pairs(const __grid_constant__ DirectLaunch<R> launch) {
    extern __shared__ double2 shared_bytes[];
    R* const memory = reinterpret_cast<R*>(shared_bytes);
    const RowPart<Outputs> part(launch.out);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    R sums[Outputs] = {};
    add_pairs<Outputs, WholeBlock>(launch, part,
                                   memory + (WholeBlock ? 0 : warp * team_size<Outputs>(launch.tile)), sums);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < Outputs; ++r) memory[warp * 32 * Outputs + 32 * r + lane] = sums[r];
    __syncthreads();
    for (int x = static_cast<int>(threadIdx.x); x < 32 * Outputs; x += 32 * direct_warps) {
        R sum = 0;
        for (int w = 0; w < direct_warps; ++w) sum += memory[w * 32 * Outputs + x];
        const std::int64_t k = part.first + x;
        if (k < launch.out.n[2]) store_coefficient(launch, part.item, part.l, part.j, k, sum);
    }
}

/// One dimension, few series: a block for few_outputs coefficients, its threads along i, so that one product
/// has many processors at work and there is nothing to wait for but the one read of both series.
inline constexpr int few_outputs = 4;

template <class R>
__global__ void __launch_bounds__(32 * direct_warps)
    sum_few_pairs(const __grid_constant__ DirectLaunch<R> launch) {
    __shared__ R warp_sums[direct_warps][few_outputs];
    const std::int64_t n_parts = (launch.out.n[2] + few_outputs - 1) / few_outputs;
    const std::int64_t item = blockIdx.x / n_parts, first = blockIdx.x % n_parts * few_outputs;
    const PrimedRow<R> a(launch.a, 1, item, 0, 0), b(launch.b, 1, item, 0, 0);
    const PairRange low = pair_range(first, a.degree, b.degree);
    const PairRange high = pair_range(first + few_outputs - 1, a.degree, b.degree);
    R sums[few_outputs] = {};
#pragma unroll 4
    for (std::int64_t i = low.first + threadIdx.x; i <= high.last; i += 32 * direct_warps) {
        const R left = a(i);
#pragma unroll
        for (int r = 0; r < few_outputs; ++r) sums[r] = fma(left, b(first + r - i), sums[r]);
    }
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int r = 0; r < few_outputs; ++r) {
        for (int offset = 16; offset > 0; offset /= 2) sums[r] += __shfl_xor_sync(~0u, sums[r], offset);
        if (lane == 0) warp_sums[warp][r] = sums[r];
    }
    __syncthreads();
    const int r = static_cast<int>(threadIdx.x);
    if (r >= few_outputs || first + r >= launch.out.n[2]) return;
    R sum = 0;
    for (int w = 0; w < direct_warps; ++w) sum += warp_sums[w][r];
    store_coefficient(launch, item, 0, 0, first + r, sum);
}

/// out = weight in, or out += weight in, zero beyond in; without in: zero. Between conventions.
template <class R>
struct CopyLaunch {
    RowArray<const R> in;
    RowArray<R> out;
    int dimensions;
    bool adds;
    R weight;
    std::int64_t size;  ///< of all outputs
};
inline constexpr int copy_threads = 256;

template <class R>
__global__ void __launch_bounds__(copy_threads)
    copy_coefficients(const __grid_constant__ CopyLaunch<R> launch) {
    const auto& in = launch.in;
    const auto& out = launch.out;
    std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * copy_threads + threadIdx.x;
    if (index >= launch.size) return;
    const std::int64_t k = index % out.n[2];
    index /= out.n[2];
    const std::int64_t j = index % out.n[1];
    index /= out.n[1];
    const std::int64_t l = index % out.n[0], item = index / out.n[0];
    R value = 0;
    if (in.data != nullptr && k < in.n[2] && j < in.n[1] && l < in.n[0]) {
        value = launch.weight * in.row(item, l, j)[k * in.strides[2]];
        const R factor = static_cast<R>(zero_factor(launch.dimensions, l, j) * (k == 0 ? 2 : 1));
        if (in.is_plain && !out.is_plain) value *= factor;
        if (out.is_plain && !in.is_plain) value /= factor;
    }
    R* const target = out.row(item, l, j) + k * out.strides[2];
    *target = launch.adds ? *target + value : value;
}

}  // namespace zonal::chebyshev::cuda
