#pragma once

#include "radial/ring_fft_complex.cuh"
#include "radial/ring_fft_schedule.hpp"

/// The sum over rings on the device.
namespace zonal::radial::cuda {

/// Threads of a block, one or two modes each.
inline constexpr int sum_threads = 128;

template <class R>
inline constexpr int modes_per_thread = sizeof(R) == 4 ? 2 : 1;

/// The values of a group's rows, a block per group and a warp per entry:
/// values[entry.values + j group_size + a] = w_q K, q = parity + 2 j; zeros up to a multiple of the width.
template <class R>
__global__ void row_values_kernel(const SumGroup* groups, const SumClass* classes, const SumEntry* entries,
                                  const std::int32_t* class_of, ChordTableView<double> table, double limit,
                                  R* values) {
    const SumGroup& group = groups[blockIdx.x];
    const int warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
    for (std::int64_t e = group.first_entry + warp; e < group.end_entry; e += n_warps) {
        const SumEntry& entry = entries[e];
        const SumClass& shape = classes[class_of[e]];
        const auto length = static_cast<double>(shape.length);
        const int padded = (entry.n_values + group.width - 1) / group.width * group.width;
        for (int k = threadIdx.x % 32; k < padded * group_size; k += 32) {
            const std::int64_t q = shape.parity + 2 * static_cast<std::int64_t>(k / group_size);
            const ChordOfLongitude chord = entry.chord[k % group_size];
            double value = 0;
            if (q <= shape.length) {
                const double sine = sinpi(0.5 * static_cast<double>(q) / length);
                const double u = chord.offset + chord.factor * sine * sine;
                if (u <= limit) value = evaluate(table, fmin(u, table.end));
                value *= (q == 0 || q == shape.length ? 1 : 2) / length;
            }
            values[entry.values + k] = static_cast<R>(value);
        }
    }
}

/// cosines[j][t] = cos(pi m (parity + 2 (first_j + j)) / length) of the thread's modes, zero past the class's
/// last one.
template <class R, int Width, int PerThread>
__device__ __forceinline__ void write_cosines(const SumClass& shape, std::int64_t first_mode, int first_j,
                                              R (&cosines)[Width][PerThread]) {
#pragma unroll
    for (int t = 0; t < PerThread; ++t) {
        const std::int64_t m = first_mode + t * sum_threads, turn = 2 * shape.length;
        const double scale = m >= shape.n_modes ? 0 : m == shape.halved ? 0.5 : 1;
        const std::int64_t q = (shape.parity + 2 * static_cast<std::int64_t>(first_j)) % turn;
        const auto length = static_cast<double>(shape.length);
        double2 value, step;
        sincospi(static_cast<double>(m * q % turn) / length, &value.y, &value.x);
        sincospi(static_cast<double>(2 * m % turn) / length, &step.y, &step.x);
#pragma unroll
        for (int j = 0; j < Width; ++j) {
            cosines[j][t] = static_cast<R>(scale * value.x);
            value = times(value, step);
        }
    }
}

template <class R>
struct FourOf;
template <>
struct FourOf<float> {
    using type = float4;
};
template <>
struct FourOf<double> {
    using type = double4_16a;
};

/// G(m) of a group's outputs, Width values of the rows at a time:
///   G_a(m) = sum_b [sum_j v_abj cos_j(m)] F_b(m)
template <class R, int Width>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(const SumGroup* groups, const SumClass* classes, const SumEntry* entries, const R* values,
               const Complex<R>* input, Complex<R>* output) {
    constexpr int per_thread = modes_per_thread<R>;
    static_assert(group_size == 4);
    const SumGroup& group = groups[blockIdx.x];
    const std::int64_t tile = static_cast<std::int64_t>(blockIdx.y) * sum_threads * per_thread;
    if (tile >= group.most_modes) return;
    const std::int64_t mode = tile + threadIdx.x;
    Complex<R> sums[group_size][2][per_thread] = {};
    R cosines[Width][per_thread];
    for (std::int64_t c = group.first_class; c < group.end_class; ++c) {
        const SumClass shape = classes[c];
        if (tile >= shape.n_modes) continue;
        for (int first_j = 0; first_j < shape.n_values; first_j += Width) {
            write_cosines<R, Width, per_thread>(shape, mode, first_j, cosines);
            for (std::int64_t e = shape.first; e < shape.end; ++e) {
                const SumEntry& entry = entries[e];
                if (first_j >= entry.n_values || tile >= entry.limit) continue;
                Complex<R> f[2][per_thread];
#pragma unroll
                for (int side = 0; side < 2; ++side)
#pragma unroll
                    for (int t = 0; t < per_thread; ++t) {
                        const std::int64_t m = mode + t * sum_threads;
                        const bool there = entry.modes[side] >= 0 && m < entry.limit;
                        f[side][t] = there ? input[entry.modes[side] + m] : Complex<R>{0, 0};
                    }
                R row[group_size][per_thread] = {};
                using Four = typename FourOf<R>::type;
                const Four* const v = reinterpret_cast<const Four*>(values + entry.values) + first_j;
#pragma unroll
                for (int j = 0; j < Width; ++j) {
                    const Four four = v[j];
#pragma unroll
                    for (int t = 0; t < per_thread; ++t) {
                        row[0][t] = fma(four.x, cosines[j][t], row[0][t]);
                        row[1][t] = fma(four.y, cosines[j][t], row[1][t]);
                        row[2][t] = fma(four.z, cosines[j][t], row[2][t]);
                        row[3][t] = fma(four.w, cosines[j][t], row[3][t]);
                    }
                }
#pragma unroll
                for (int a = 0; a < group_size; ++a)
#pragma unroll
                    for (int side = 0; side < 2; ++side)
#pragma unroll
                        for (int t = 0; t < per_thread; ++t) {
                            sums[a][side][t].x = fma(row[a][t], f[side][t].x, sums[a][side][t].x);
                            sums[a][side][t].y = fma(row[a][t], f[side][t].y, sums[a][side][t].y);
                        }
            }
        }
    }
#pragma unroll
    for (int a = 0; a < group_size; ++a)
#pragma unroll
        for (int side = 0; side < 2; ++side)
#pragma unroll
            for (int t = 0; t < per_thread; ++t) {
                const std::int64_t m = mode + t * sum_threads;
                if (group.modes[a][side] >= 0 && m < group.n_modes[a])
                    output[group.modes[a][side] + m] = sums[a][side][t];
            }
}

}  // namespace zonal::radial::cuda
