#include "points/point_kernels.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "points/point_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "points/point_weights-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::points::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Points of the same samples that are summed together, so that these are loaded, or stored, once for all: as
/// many as the registers hold with three vectors of each.
constexpr std::int64_t most_alike = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 3 : 4;

/// kernel.run<K>(q) for all points of a block, K that have the same samples from the q-th on.
template <class Kernel>
HWY_INLINE void for_points(const Block& block, const Kernel& kernel) {
    if (!block.by_samples) {
        for (std::int64_t q = 0; q < block.count; ++q) kernel.template run<1>(q);
        return;
    }
    std::int64_t n = 0;
    for (std::int64_t q = 0; q < block.count; q += n) {
        n = std::min(block.alike[q], most_alike);
        if (n == 1)
            kernel.template run<1>(q);
        else if (n == 2)
            kernel.template run<2>(q);
        else if (n == 3)
            kernel.template run<3>(q);
        else
            kernel.template run<most_alike>(q);
    }
}

/// Of N vectors of a window, how many are summed at once from the first-th on: all of one point, at most
/// three of several, in steps as equal as may be.
template <int N, int K>
constexpr int step_from(int first) {
    const int steps = K == 1 ? 1 : (N + 2) / 3;
    int begin = 0;
    for (int step = 0; step < steps; ++step) {
        const int size = (N - begin + steps - step - 1) / (steps - step);
        if (begin == first) return size;
        begin += size;
    }
    return 0;
}

/// A field's sums over rows, of C vectors, for K points of a block from the q-th on.
template <int K, int C>
HWY_INLINE void sum_rows(const Block& block, std::int64_t q, const double* HWY_RESTRICT samples,
                         std::int64_t stride, SumV (&sums)[K][C]) {
    const SumD d;
    const double* weights[K];
    for (int k = 0; k < K; ++k) {
        weights[k] = block.row_weights(q + k);
        for (int v = 0; v < C; ++v) sums[k][v] = hn::Zero(d);
    }
    for (std::int64_t row = 0; row < block.width; ++row, samples += stride) {
        SumV x[C];
        for (int v = 0; v < C; ++v) x[v] = hn::Load(d, samples + v * sum_lanes());
        for (int k = 0; k < K; ++k) {
            const SumV w = hn::Set(d, weights[k][row * group]);
            for (int v = 0; v < C; ++v) sums[k][v] = hn::MulAdd(w, x[v], sums[k][v]);
        }
    }
}

/// Where the samples of a point begin in a field.
HWY_INLINE const double* samples_of(const SampleFields& fields, std::int64_t f, const Block& block,
                                    std::int64_t q) {
    return fields.data[f] + (block.points[q].row - fields.first_row) * fields.stride + block.column(q);
}

template <int N, bool Slopes>
struct Interpolation {
    const Block &block, &slopes;
    const SampleFields& fields;
    const std::int64_t f;
    double* const values;
    const std::int64_t stride_of_slopes;

    template <int K>
    HWY_INLINE void run(std::int64_t q) const {
        const SumD d;
        SumV totals[Slopes ? 3 : 1][K];
        for (auto& total : totals)
            for (SumV& of_point : total) of_point = hn::Zero(d);
        add<0>(q, samples_of(fields, f, block, q), totals);
        for (int i = 0; i < (Slopes ? 3 : 1); ++i)
            for (int k = 0; k < K; ++k)
                values[i * stride_of_slopes + q + k] = hn::GetLane(hn::SumOfLanes(d, totals[i][k]));
    }
    template <int First, int K>
    HWY_INLINE void add(std::int64_t q, const double* HWY_RESTRICT samples,
                        SumV (&totals)[Slopes ? 3 : 1][K]) const {
        constexpr int C = step_from<N, K>(First);
        sum<First, C>(block, q, samples, block, totals[0]);
        if constexpr (Slopes) {
            sum<First, C>(slopes, q, samples, block, totals[1]);
            sum<First, C>(block, q, samples, slopes, totals[2]);
        }
        if constexpr (First + C < N) add<First + C>(q, samples, totals);
    }
    template <int First, int C, int K>
    HWY_INLINE void sum(const Block& in_theta, std::int64_t q, const double* HWY_RESTRICT samples,
                        const Block& in_phi, SumV (&totals)[K]) const {
        const SumD d;
        SumV sums[K][C];
        sum_rows(in_theta, q, samples + First * sum_lanes(), fields.stride, sums);
        for (int k = 0; k < K; ++k)
            for (int v = 0; v < C; ++v)
                totals[k] = hn::MulAdd(sums[k][v],
                                       hn::Load(d, in_phi.column_weights(q + k) + (First + v) * sum_lanes()),
                                       totals[k]);
    }

    static void run_all(const WindowPolynomials& p, const SampleFields& fields, const PointRange& points,
                        double* HWY_RESTRICT values, std::int64_t stride) {
        Block block, slopes;
        const std::int64_t step = Block::size_for(fields.n_fields);
        for (std::int64_t i = points.first; i < points.end; i += step) {
            block.make<false>(p, points, i, step);
            if constexpr (Slopes) slopes.make<true>(p, points, i, step);
            for (std::int64_t f = 0; f < fields.n_fields; ++f) {
                double* const out = values + f * stride + i - points.first;
                for_points(block, Interpolation{block, slopes, fields, f, out, fields.n_fields * stride});
            }
        }
    }
};

/// Adds fields, times the points' factors, to the points' sums over rows: [point of the block][N vectors].
template <int N>
struct Combination {
    using Sums = double[Block::most][N * 4];

    const Block& block;
    const SampleFields& fields;
    const std::int64_t f;
    const double* const factors;
    Sums& sums;

    template <int K>
    HWY_INLINE void run(std::int64_t q) const {
        add<0, K>(q, samples_of(fields, f, block, q));
    }
    template <int First, int K>
    HWY_INLINE void add(std::int64_t q, const double* HWY_RESTRICT samples) const {
        constexpr int C = step_from<N, K>(First);
        const SumD d;
        SumV of_field[K][C];
        sum_rows(block, q, samples + First * sum_lanes(), fields.stride, of_field);
        for (int k = 0; k < K; ++k) {
            const SumV factor = hn::Set(d, factors[q + k]);
            for (int v = 0; v < C; ++v) {
                double* const to = sums[q + k] + (First + v) * sum_lanes();
                hn::Store(hn::MulAdd(factor, of_field[k][v], hn::Load(d, to)), d, to);
            }
        }
        if constexpr (First + C < N) add<First + C, K>(q, samples);
    }

    static void run_all(const WindowPolynomials& p, const SampleFields& fields, const FieldGroups& groups,
                        const PointRange& points, const double* HWY_RESTRICT factors,
                        double* HWY_RESTRICT values, std::int64_t stride) {
        const SumD d;
        Block block;
        HWY_ALIGN Sums sums;
        for (std::int64_t i = points.first; i < points.end; i += Block::most) {
            block.make<false>(p, points, i, Block::most);
            for (std::int64_t g = 0, f = 0; g < groups.n; ++g) {
                std::fill_n(sums[0], block.count * N * 4, 0.0);
                for (; f < groups.ends[g]; ++f)
                    for_points(block,
                               Combination{block, fields, f, factors + f * stride + i - points.first, sums});
                for (std::int64_t q = 0; q < block.count; ++q) {
                    SumV total = hn::Zero(d);
                    for (std::int64_t v = 0; v < N * sum_lanes(); v += sum_lanes())
                        total = hn::MulAdd(hn::Load(d, sums[q] + v), hn::Load(d, block.column_weights(q) + v),
                                           total);
                    values[g * stride + i - points.first + q] = hn::GetLane(hn::SumOfLanes(d, total));
                }
            }
        }
    }
};

/// Adds points' values, times their weights, to a field's sums of a tile.
template <int N>
struct Spreading {
    const Block& block;
    const std::int64_t row, column;  ///< the tile's
    const double* const values;
    double* const sums;

    template <int K>
    HWY_INLINE void run(std::int64_t q) const {
        add<0, K>(q, sums + (block.points[q].row - row) * Tile::columns + block.column(q) -
                         column / sum_lanes() * sum_lanes());
    }
    template <int First, int K>
    HWY_INLINE void add(std::int64_t q, double* HWY_RESTRICT samples) const {
        constexpr int C = step_from<N, K>(First);
        const SumD d;
        const double* weights[K];
        SumV along[K][C];
        for (int k = 0; k < K; ++k) {
            weights[k] = block.row_weights(q + k);
            const SumV value = hn::Set(d, values[q + k]);
            for (int v = 0; v < C; ++v)
                along[k][v] =
                    hn::Mul(value, hn::Load(d, block.column_weights(q + k) + (First + v) * sum_lanes()));
        }
        double* HWY_RESTRICT x = samples + First * sum_lanes();
        for (std::int64_t r = 0; r < block.width; ++r, x += Tile::columns) {
            SumV sum[C];
            for (int v = 0; v < C; ++v) sum[v] = hn::Load(d, x + v * sum_lanes());
            for (int k = 0; k < K; ++k) {
                const SumV w = hn::Set(d, weights[k][r * group]);
                for (int v = 0; v < C; ++v) sum[v] = hn::MulAdd(w, along[k][v], sum[v]);
            }
            for (int v = 0; v < C; ++v) hn::Store(sum[v], d, x + v * sum_lanes());
        }
        if constexpr (First + C < N) add<First + C, K>(q, samples);
    }

    static void run_all(const WindowPolynomials& p, const PointRange& points, std::int64_t row,
                        std::int64_t column, const double* HWY_RESTRICT values, std::int64_t stride,
                        std::int64_t n_fields, double* HWY_RESTRICT sums) {
        Block block;
        const std::int64_t step = Block::size_for(n_fields);
        for (std::int64_t i = points.first; i < points.end; i += step) {
            block.make<false>(p, points, i, step);
            for (std::int64_t f = 0; f < n_fields; ++f) {
                double* const tile = sums + f * Tile::doubles;
                for_points(block,
                           Spreading{block, row, column, values + f * stride + i - points.first, tile});
            }
        }
    }
};

/// Calls work(std::integral_constant<int, n>()), n the vectors of the window.
template <class Work>
void with_vectors(std::int64_t width, const Work& work) {
    const auto vectors = static_cast<int>(vectors_of(width));
    const auto try_each = [&]<int... N>(std::integer_sequence<int, N...>) {
        ((vectors == N + 1 ? work(std::integral_constant<int, N + 1>()) : void()), ...);
    };
    try_each(std::make_integer_sequence<int, max_vectors>());
}

void interpolate(const WindowPolynomials& p, const SampleFields& samples, const PointRange& points,
                 bool slopes, double* values, std::int64_t stride) {
    with_vectors(p.width, [&](auto n) {
        constexpr int N = decltype(n)::value;
        if (slopes)
            Interpolation<N, true>::run_all(p, samples, points, values, stride);
        else
            Interpolation<N, false>::run_all(p, samples, points, values, stride);
    });
}

void combine(const WindowPolynomials& p, const SampleFields& samples, const FieldGroups& groups,
             const PointRange& points, const double* factors, double* sums, std::int64_t stride) {
    with_vectors(p.width, [&](auto n) {
        Combination<decltype(n)::value>::run_all(p, samples, groups, points, factors, sums, stride);
    });
}

void spread(const WindowPolynomials& p, const PointRange& points, std::int64_t row, std::int64_t column,
            const double* values, std::int64_t stride, std::int64_t n_fields, double* sums) {
    with_vectors(p.width, [&](auto n) {
        Spreading<decltype(n)::value>::run_all(p, points, row, column, values, stride, n_fields, sums);
    });
}

}  // namespace zonal::points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::points {

HWY_EXPORT(interpolate);
HWY_EXPORT(combine);
HWY_EXPORT(spread);

void interpolate_points(const WindowPolynomials& polynomials, const SampleFields& samples,
                        const PointRange& points, bool slopes, double* values, std::int64_t stride) {
    HWY_DYNAMIC_DISPATCH(interpolate)(polynomials, samples, points, slopes, values, stride);
}
void combine_points(const WindowPolynomials& polynomials, const SampleFields& samples,
                    const FieldGroups& groups, const PointRange& points, const double* factors, double* sums,
                    std::int64_t stride) {
    HWY_DYNAMIC_DISPATCH(combine)(polynomials, samples, groups, points, factors, sums, stride);
}
void spread_points(const WindowPolynomials& polynomials, const PointRange& points, std::int64_t row,
                   std::int64_t column, const double* values, std::int64_t stride, std::int64_t n_fields,
                   double* sums) {
    HWY_DYNAMIC_DISPATCH(spread)
    (polynomials, points, row, column, values, stride, n_fields, sums);
}

}  // namespace zonal::points
#endif
