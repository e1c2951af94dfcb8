#pragma once

#include "radial/ring_fft/fold.cuh"
#include "radial/ring_fft/schedule.hpp"

/// The sum over rings on the device; Components: 1, or 2 of Q and U.
namespace zonal::radial::cuda {

/// Threads of a block, one or two modes each.
inline constexpr int sum_threads = 128;

/// With Q and U there are twice as many sums and waves in registers.
template <class R, int Components>
inline constexpr int modes_per_thread = sizeof(R) == 4 && Components == 1 ? 2 : 1;

/// The radial kernel's table or that of K+, and that of K-: chord^2 up to which they count (-1: no table).
struct RowTables {
    ChordTableView<double> table[2];
    double limit[2];
};

/// The values of a group's rows, a block per group and a warp per entry:
/// values[entry.values + j group_size + a] = w_q K, q = parity + 2 j; zeros up to a multiple of the width.
/// For Q and U the even parts come first, then the odd ones.
template <class R, int Components>
__global__ void row_values_kernel(const SumGroup* groups, const SumClass* classes, const SumEntry* entries,
                                  const EntryTurns* turns, const std::int32_t* class_of, RowTables tables,
                                  R* values) {
    const SumGroup& group = groups[blockIdx.x];
    const int warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
    for (std::int64_t e = group.first_entry + warp; e < group.end_entry; e += n_warps) {
        const SumEntry& entry = entries[e];
        const SumClass& shape = classes[class_of[e]];
        const int part = Components == 1 ? 0 : shape.is_minus;
        const ChordTableView<double> table = part == 0 ? tables.table[0] : tables.table[1];
        const double limit = part == 0 ? tables.limit[0] : tables.limit[1];
        const auto length = static_cast<double>(shape.length);
        const int padded = (entry.n_values + group.width - 1) / group.width * group.width;
        for (int k = threadIdx.x % 32; k < padded * group_size; k += 32) {
            const std::int64_t q = shape.parity + 2 * static_cast<std::int64_t>(k / group_size);
            const ChordOfLongitude chord = entry.chord[k % group_size];
            double value = 0, odd = 0;
            if (q <= shape.length) {
                const double half = 0.5 * static_cast<double>(q) / length, sine = sinpi(half);
                const double u = chord.offset + chord.factor * sine * sine;
                if (u <= limit) value = evaluate(table, fmin(u, table.end));
                value *= (q == 0 || q == shape.length ? 1 : 2) / length;
                if constexpr (Components == 2) {
                    const auto power = turns[e].of[k % group_size].fourth_power(cospi(half), sine);
                    odd = value * power.odd;
                    value *= power.even;
                }
            }
            values[entry.values + k] = static_cast<R>(value);
            if constexpr (Components == 2)
                values[entry.values + padded * group_size + k] = static_cast<R>(odd);
        }
    }
}

/// waves[0][j][t] = cos(pi m (parity + 2 (first_j + j)) / length) of the thread's modes, zero past the
/// class's last one; waves[1]: sines.
template <class R, int Width, int PerThread, int Components>
__device__ __forceinline__ void write_waves(const SumClass& shape, std::int64_t first_mode, int first_j,
                                            R (&waves)[Components][Width][PerThread]) {
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
            waves[0][j][t] = static_cast<R>(scale * value.x);
            if constexpr (Components == 2) waves[1][j][t] = static_cast<R>(scale * value.y);
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

/// rows[sign][a][t] = sum_j v_aj wave_j of the thread's modes of an entry, Width values from first_j on. Of Q
/// and U: k_m (sign 0) and k_-m, the sums with cosines plus and minus those with sines.
template <class R, int Width, int PerThread, int Components>
__device__ __forceinline__ void make_rows(const SumEntry& entry, const R* values, int first_j,
                                          const R (&waves)[Components][Width][PerThread],
                                          R (&rows)[Components][group_size][PerThread]) {
    static_assert(group_size == 4);
    using Four = typename FourOf<R>::type;
    const Four* const v = reinterpret_cast<const Four*>(values + entry.values) + first_j;
#pragma unroll
    for (int c = 0; c < Components; ++c) {
        const int padded = c == 0 ? 0 : (entry.n_values + Width - 1) / Width * Width;
#pragma unroll
        for (int j = 0; j < Width; ++j) {
            const Four four = v[padded + j];
#pragma unroll
            for (int t = 0; t < PerThread; ++t) {
                rows[c][0][t] = fma(four.x, waves[c][j][t], rows[c][0][t]);
                rows[c][1][t] = fma(four.y, waves[c][j][t], rows[c][1][t]);
                rows[c][2][t] = fma(four.z, waves[c][j][t], rows[c][2][t]);
                rows[c][3][t] = fma(four.w, waves[c][j][t], rows[c][3][t]);
            }
        }
    }
    if constexpr (Components == 2)
#pragma unroll
        for (int a = 0; a < group_size; ++a)
#pragma unroll
            for (int t = 0; t < PerThread; ++t) {
                const R even = rows[0][a][t], odd = rows[1][a][t];
                rows[0][a][t] = even + odd;
                rows[1][a][t] = even - odd;
            }
}

/// f[c][side][t] = F(m) of the thread's modes. Of Q and U: of Q + iU and Q - iU, which change places where
/// they are for K-.
template <class R, int PerThread, int Components>
__device__ __forceinline__ void read_modes(const SumEntry& entry, const SumClass& shape, std::int64_t mode,
                                           const Complex<R>* input, std::int64_t component_stride,
                                           Complex<R> (&f)[Components][2][PerThread]) {
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
        for (int t = 0; t < PerThread; ++t) {
            const std::int64_t m = mode + t * sum_threads;
            const bool there = entry.modes[side] >= 0 && m < entry.limit;
            f[0][side][t] = there ? input[entry.modes[side] + m] : Complex<R>{0, 0};
            if constexpr (Components == 2) {
                const Complex<R> q = f[0][side][t];
                const Complex<R> u =
                    there ? input[component_stride + entry.modes[side] + m] : Complex<R>{0, 0};
                const R sign = shape.is_minus != 0 ? R(-1) : R(1);
                f[0][side][t] = {fma(-sign, u.y, q.x), fma(sign, u.x, q.y)};
                f[1][side][t] = {fma(sign, u.y, q.x), fma(-sign, u.x, q.y)};
            }
        }
}

/// From Q + iU and Q - iU.
template <class R>
__device__ __forceinline__ void store_circular(Complex<R> plus, Complex<R> minus, Complex<R>* q,
                                               Complex<R>* u) {
    constexpr R half = R(0.5);
    *q = {half * (plus.x + minus.x), half * (plus.y + minus.y)};
    *u = {half * (plus.y - minus.y), half * (minus.x - plus.x)};
}

/// G(m) of a group's outputs, Width values of the rows at a time:
///   G_a(m) = sum_b [sum_j v_abj cos_j(m)] F_b(m)
/// component_strides: of the input and of the output, complex numbers from Q to U.
template <class R, int Width, int Components>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(const SumGroup* groups, const SumClass* classes, const SumEntry* entries, const R* values,
               const Complex<R>* input, Complex<R>* output, longlong2 component_strides) {
    constexpr int per_thread = modes_per_thread<R, Components>;
    const SumGroup& group = groups[blockIdx.x];
    const std::int64_t tile = static_cast<std::int64_t>(blockIdx.y) * sum_threads * per_thread;
    if (tile >= group.most_modes) return;
    const std::int64_t mode = tile + threadIdx.x;
    Complex<R> sums[Components][group_size][2][per_thread] = {};
    R waves[Components][Width][per_thread];
    for (std::int64_t c = group.first_class; c < group.end_class; ++c) {
        const SumClass shape = classes[c];
        if (tile >= shape.n_modes) continue;
        for (int first_j = 0; first_j < shape.n_values; first_j += Width) {
            write_waves(shape, mode, first_j, waves);
            for (std::int64_t e = shape.first; e < shape.end; ++e) {
                const SumEntry& entry = entries[e];
                if (first_j >= entry.n_values || tile >= entry.limit) continue;
                Complex<R> f[Components][2][per_thread];
                read_modes<R>(entry, shape, mode, input, component_strides.x, f);
                R rows[Components][group_size][per_thread] = {};
                make_rows(entry, values, first_j, waves, rows);
#pragma unroll
                for (int i = 0; i < Components; ++i)
#pragma unroll
                    for (int a = 0; a < group_size; ++a)
#pragma unroll
                        for (int side = 0; side < 2; ++side)
#pragma unroll
                            for (int t = 0; t < per_thread; ++t) {
                                // In the south m and -m change places.
                                const R row = rows[Components == 1 ? 0 : i ^ side][a][t];
                                Complex<R>& sum = sums[i][a][side][t];
                                sum.x = fma(row, f[i][side][t].x, sum.x);
                                sum.y = fma(row, f[i][side][t].y, sum.y);
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
                if (group.modes[a][side] < 0 || m >= group.n_modes[a]) continue;
                Complex<R>* const out = output + group.modes[a][side] + m;
                if constexpr (Components == 1)
                    *out = sums[0][a][side][t];
                else
                    store_circular<R>(sums[0][a][side][t], sums[1][a][side][t], out,
                                      out + component_strides.y);
            }
}

/// G of rows from those of their slices, a block per row; blockIdx.y: the component.
template <class R>
__global__ void __launch_bounds__(sum_threads)
    add_slices_kernel(const SlicedRow* rows, std::int64_t component_stride, Complex<R>* output) {
    const SlicedRow row = rows[blockIdx.x];
    output += blockIdx.y * component_stride;
    for (std::int64_t m = threadIdx.x; m < row.n_modes; m += sum_threads) {
        Complex<R> sum{0, 0};
        for (std::int64_t slice = 0; slice < row.n_slices; ++slice) {
            const Complex<R> one = output[row.slices + slice * row.stride + m];
            sum.x += one.x;
            sum.y += one.y;
        }
        output[row.sum + m] = sum;
    }
}

}  // namespace zonal::radial::cuda
