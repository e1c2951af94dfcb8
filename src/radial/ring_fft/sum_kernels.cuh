#pragma once

#include "radial/ring_fft/fold.cuh"
#include "radial/ring_fft/schedule.hpp"

/// The sum over rings on the device; Components: 1, or 2 of Q and U.
namespace zonal::radial::cuda {

/// Threads of a block, one or two modes each.
inline constexpr int sum_threads = 128;

/// With Q and U, or several maps, there are more sums in registers.
template <class R, int Components, int Maps = 1>
inline constexpr int modes_per_thread = sizeof(R) == 4 && Components == 1 && Maps == 1 ? 2 : 1;

/// Maps of a batch that share the kernel's rows and their transforms, at most: as many sums as registers
/// hold.
template <class R, int Components>
inline constexpr int most_maps = Components == 2  ? 1
                                 : sizeof(R) == 4 ? 4
                                                  : 2;

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

/// Entries of which what the sums read is in shared memory or on its way there.
inline constexpr int sum_stages = 3;

/// What a block reads of one entry: each thread's modes of each component or map and side, and, for each warp
/// by itself, the values.
template <class R, int Width, int Components, int Maps>
struct SumStage {
    static constexpr int per_thread = modes_per_thread<R, Components, Maps>, warps = sum_threads / 32;
    Complex<R> modes[Components * Maps][2][per_thread][sum_threads];
    alignas(16) R values[warps][Components][Width * group_size];

    /// Begins to copy; zero for modes that are not there. input: of the component or map k at k stride.
    __device__ __forceinline__ void fetch(const SumEntry& entry, std::int64_t mode, int first_j,
                                          const R* values_of, const Complex<R>* input, std::int64_t stride) {
        constexpr auto size = sizeof(Complex<R>);
#pragma unroll
        for (int side = 0; side < 2; ++side)
#pragma unroll
            for (int t = 0; t < per_thread; ++t) {
                const std::int64_t m = mode + t * sum_threads;
                const bool there = entry.modes[side] >= 0 && m < entry.limit;
                const Complex<R>* const from = input + (there ? entry.modes[side] + m : 0);
#pragma unroll
                for (int k = 0; k < Components * Maps; ++k)
                    __pipeline_memcpy_async(&modes[k][side][t][threadIdx.x], from + k * stride, size,
                                            there ? 0 : size);
            }
        constexpr int piece = 16 / sizeof(R), pieces = Width * group_size / piece;
        const int padded = (entry.n_values + Width - 1) / Width * Width;
#pragma unroll
        for (int c = 0; c < Components; ++c)
            for (int k = threadIdx.x % 32; k < pieces; k += 32)
                __pipeline_memcpy_async(
                    &values[threadIdx.x / 32][c][k * piece],
                    values_of + entry.values + (c * padded + first_j) * group_size + k * piece, 16);
    }

    /// rows[sign][a][t] = sum_j v_aj wave_j of the thread's modes. For Q and U: k_m (sign 0) and k_-m, the
    /// sums with cosines plus and minus those with sines.
    __device__ __forceinline__ void make_rows(const R (&waves)[Components][Width][per_thread],
                                              R (&rows)[Components][group_size][per_thread]) const {
        static_assert(group_size == 4);
        using Four = typename FourOf<R>::type;
#pragma unroll
        for (int c = 0; c < Components; ++c) {
            const Four* const v = reinterpret_cast<const Four*>(values[threadIdx.x / 32][c]);
#pragma unroll
            for (int j = 0; j < Width; ++j) {
                const Four four = v[j];
#pragma unroll
                for (int t = 0; t < per_thread; ++t) {
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
                for (int t = 0; t < per_thread; ++t) {
                    const R even = rows[0][a][t], odd = rows[1][a][t];
                    rows[0][a][t] = even + odd;
                    rows[1][a][t] = even - odd;
                }
    }

    /// f[k] = F(m) of a thread's mode of component or map k. For Q and U these are Q + iU and Q - iU, which
    /// change places where they are for K-.
    __device__ __forceinline__ void read_modes(const SumClass& shape, int side, int t,
                                               Complex<R> (&f)[Components * Maps]) const {
#pragma unroll
        for (int k = 0; k < Components * Maps; ++k) f[k] = modes[k][side][t][threadIdx.x];
        if constexpr (Components == 2) {
            const Complex<R> q = f[0], u = f[1];
            const R sign = shape.is_minus != 0 ? R(-1) : R(1);
            f[0] = {fma(-sign, u.y, q.x), fma(sign, u.x, q.y)};
            f[1] = {fma(sign, u.y, q.x), fma(-sign, u.x, q.y)};
        }
    }
};

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
/// strides: of the input and of the output, complex numbers from Q to U or from map to map.
template <class R, int Width, int Components, int Maps>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(const SumGroup* groups, const SumClass* classes, const SumEntry* entries, const R* values,
               const Complex<R>* input, Complex<R>* output, longlong2 strides) {
    static_assert(Components == 1 || Maps == 1);
    constexpr int per_thread = modes_per_thread<R, Components, Maps>, n_sums = Components * Maps;
    const SumGroup& group = groups[blockIdx.x];
    const std::int64_t tile = static_cast<std::int64_t>(blockIdx.y) * sum_threads * per_thread;
    if (tile >= group.most_modes) return;
    const std::int64_t mode = tile + threadIdx.x;
    __shared__ SumStage<R, Width, Components, Maps> stages[sum_stages];
    Complex<R> sums[n_sums][group_size][2][per_thread] = {};
    R waves[Components][Width][per_thread];
    for (std::int64_t c = group.first_class; c < group.end_class; ++c) {
        const SumClass shape = classes[c];
        if (tile >= shape.n_modes) continue;
        for (int first_j = 0; first_j < shape.n_values; first_j += Width) {
            std::int64_t next = shape.first;
            int n_fetched = 0;
            // The next entry that counts here, if there is one.
            const auto fetch = [&] {
                while (next < shape.end && (first_j >= entries[next].n_values || tile >= entries[next].limit))
                    ++next;
                if (next < shape.end)
                    stages[n_fetched++ % sum_stages].fetch(entries[next++], mode, first_j, values, input,
                                                           strides.x);
                __pipeline_commit();
            };
            __syncwarp();  // the last values have been read
            for (int stage = 0; stage + 1 < sum_stages; ++stage) fetch();
            write_waves(shape, mode, first_j, waves);
            for (int done = 0; done < n_fetched; ++done) {
                __pipeline_wait_prior(sum_stages - 2);
                __syncwarp();  // this entry's values are there, and those before have been read
                fetch();
                const auto& stage = stages[done % sum_stages];
                R rows[Components][group_size][per_thread] = {};
                stage.make_rows(waves, rows);
#pragma unroll
                for (int side = 0; side < 2; ++side)
#pragma unroll
                    for (int t = 0; t < per_thread; ++t) {
                        Complex<R> f[n_sums];
                        stage.read_modes(shape, side, t, f);
#pragma unroll
                        for (int i = 0; i < n_sums; ++i)
#pragma unroll
                            for (int a = 0; a < group_size; ++a) {
                                // In the south m and -m change places.
                                const R row = rows[Components == 1 ? 0 : i ^ side][a][t];
                                Complex<R>& sum = sums[i][a][side][t];
                                sum.x = fma(row, f[i].x, sum.x);
                                sum.y = fma(row, f[i].y, sum.y);
                            }
                    }
            }
            __pipeline_wait_prior(0);
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
                if constexpr (Components == 2)
                    store_circular<R>(sums[0][a][side][t], sums[1][a][side][t], out, out + strides.y);
                else
#pragma unroll
                    for (int i = 0; i < Maps; ++i) out[i * strides.y] = sums[i][a][side][t];
            }
}

/// G of rows from those of their slices, a block per row; blockIdx.y: the component or map.
template <class R>
__global__ void __launch_bounds__(sum_threads)
    add_slices_kernel(const SlicedRow* rows, std::int64_t stride, Complex<R>* output) {
    const SlicedRow row = rows[blockIdx.x];
    output += blockIdx.y * stride;
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
