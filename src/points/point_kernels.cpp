#include "points/point_kernels.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "points/point_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "core/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::points::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using core::HWY_NAMESPACE::transpose;

constexpr std::int64_t lanes() {
    return HWY_TARGET == HWY_SCALAR ? 1 : std::min<std::int64_t>(HWY_MAX_BYTES / sizeof(double), 8);
}
constexpr std::int64_t group = 2 * lanes();
static_assert(group <= points_at_once);

/// Sums go by vectors of four at most, each of which lies in one line of a cache. Windows begin anywhere in a
/// vector, and are preceded by weights of 0.
using SumD = hn::CappedTag<double, 4>;
using SumV = hn::Vec<SumD>;
constexpr std::int64_t sum_lanes() {
    return std::min<std::int64_t>(lanes(), 4);
}
constexpr std::int64_t vectors_of(std::int64_t width) {
    return (width + 2 * sum_lanes() - 2) / sum_lanes();
}
constexpr int max_vectors = static_cast<int>(vectors_of(max_width));
/// Weights of a point in phi: those vectors, and what is written behind them.
constexpr std::int64_t column_room =
    (max_width + 2 * longest_vector) / longest_vector * longest_vector + longest_vector;

/// a b = p + e exactly.
HWY_INLINE void exact_product(V a, V b, V& p, V& e) {
    p = hn::Mul(a, b);
#if defined(HWY_NATIVE_FMA) && HWY_NATIVE_FMA
    e = hn::MulSub(a, b, p);
#else
    // Dekker (1971): halves of 26 bits, whose products are exact.
    const D d;
    const V splitter = hn::Set(d, 134217729.0);
    const V ta = hn::Mul(splitter, a), tb = hn::Mul(splitter, b);
    const V ah = hn::Sub(ta, hn::Sub(ta, a)), bh = hn::Sub(tb, hn::Sub(tb, b));
    const V al = hn::Sub(a, ah), bl = hn::Sub(b, bh);
    e = hn::Add(hn::Add(hn::Add(hn::Sub(hn::Mul(ah, bh), p), hn::Mul(ah, bl)), hn::Mul(al, bh)),
                hn::Mul(al, bl));
#endif
}

/// places of a vector of coordinates.
HWY_INLINE void place(const PlaceRule& rule, V x, V& first, V& y) {
    const D d;
    const V inverse = hn::Set(d, 0x1.45f306dc9c883p-3),
            rest = hn::Set(d, -0x1.6b01ec5417056p-57);  // 1 / 2 pi
    const V n = hn::Set(d, static_cast<double>(rule.n)),
            half = hn::Set(d, static_cast<double>(rule.width) / 2);
    V p, e, q, r;
    exact_product(x, inverse, p, e);
    e = hn::MulAdd(x, rest, e);
    exact_product(p, n, q, r);
    V cell = hn::Round(q);
    const V fraction = hn::Add(hn::Sub(q, cell), hn::MulAdd(e, n, r));
    const V start = hn::Ceil(hn::Sub(fraction, half));
    y = hn::MulAdd(hn::Set(d, 2.0), hn::Sub(hn::Sub(fraction, start), half), hn::Set(d, 1.0));
    if (rule.wraps) {
        // Integers below 2^53; the number of turns may be one off.
        const V turns = hn::Floor(hn::Mul(cell, hn::Set(d, 1 / static_cast<double>(rule.n))));
        cell = hn::Sub(cell, hn::Mul(turns, n));
        cell = hn::IfThenElse(hn::Lt(cell, hn::Zero(d)), hn::Add(cell, n), cell);
        cell = hn::IfThenElse(hn::Ge(cell, n), hn::Sub(cell, n), cell);
    }
    first = hn::Add(hn::Add(cell, start), hn::Set(d, static_cast<double>(rule.border)));
}

bool places(const PlaceRule& rule, const double* x, std::int64_t count, std::int32_t* first, double* y) {
    const D d;
    const hn::Rebind<std::int32_t, D> di;
    const V least = hn::Set(d, rule.least), most = hn::Set(d, rule.most);
    auto valid = hn::Eq(least, least);
    V firsts, ys;
    const auto place_valid = [&](V v) HWY_ATTR {
        const auto is_valid = hn::And(hn::Ge(v, least), hn::Le(v, most));
        valid = hn::And(valid, is_valid);
        place(rule, hn::IfThenElse(is_valid, v, least), firsts, ys);  // others are in no int32
    };
    std::int64_t i = 0;
    for (; i + lanes() <= count; i += lanes()) {
        place_valid(hn::LoadU(d, x + i));
        hn::StoreU(hn::DemoteTo(di, firsts), di, first + i);
        hn::StoreU(ys, d, y + i);
    }
    for (; i < count; ++i) {
        HWY_ALIGN double one[lanes()];
        place_valid(hn::Set(d, x[i]));
        hn::Store(firsts, d, one);
        first[i] = static_cast<std::int32_t>(one[0]);
        hn::Store(ys, d, one);
        y[i] = one[0];
    }
    return hn::AllTrue(d, valid);
}

/// Weights of a group of points.
struct Weights {
    HWY_ALIGN double rows[max_width + 1][group];   ///< [sample in theta][point]
    HWY_ALIGN double columns[group][column_room];  ///< [point][sample in phi], from the start of a vector on
};

/// Samples of the widest window in whole vectors, by points.
using ColumnScratch = double[(max_width + lanes() - 1) / lanes() * lanes()][group];

HWY_INLINE void transpose_to_points(const ColumnScratch& of_samples, std::int64_t window,
                                    const PlacedPoint* points,
                                    double (*HWY_RESTRICT of_points)[column_room]) {
    const D d;
    for (std::int64_t half = 0; half < group; half += lanes()) {
        std::int64_t shift[lanes()];
        for (std::int64_t i = 0; i < lanes(); ++i) {
            shift[i] = points[half + i].column % sum_lanes();
            double* const out = of_points[half + i];
            hn::Store(hn::Zero(d), d, out);
            // Up to the end of the last vector; of this the window's own part is written again.
            const SumD sum;
            hn::StoreU(hn::Zero(sum), sum, out + window);
            hn::StoreU(hn::Zero(sum), sum, out + window + sum_lanes());
        }
        for (std::int64_t first = 0; first < window; first += lanes()) {
            V x[lanes()];
            for (std::int64_t i = 0; i < lanes(); ++i) x[i] = hn::Load(d, of_samples[first + i] + half);
            transpose(d, x);
            for (std::int64_t i = 0; i < lanes(); ++i)
                hn::StoreU(x[i], d, of_points[half + i] + shift[i] + first);
        }
    }
}

/// Weights from even and odd parts: sample j of each pair gets even + y odd, its mirror image even - y odd
/// times mirror_sign. The same polynomials serve both directions and all points. columns: [W in whole
/// vectors][group], of which those from the W-th on are 0.
template <bool Slopes>
HWY_INLINE void write_weights(const WindowPolynomials& p, const PlacedPoint* points,
                              double (*HWY_RESTRICT rows)[group], double (*HWY_RESTRICT columns)[group]) {
    const D d;
    constexpr std::int64_t L = lanes();
    V y[4], square[4];
    for (int half = 0; half < 2; ++half) {
        V place, caller;
        hn::LoadInterleaved4(d, &points[half * L].y_theta, y[half], y[2 + half], place, caller);
    }
    for (int i = 0; i < 4; ++i) square[i] = hn::Mul(y[i], y[i]);
    const double* HWY_RESTRICT even = Slopes ? p.slope_even.data() : p.even.data();
    const double* HWY_RESTRICT odd = Slopes ? p.slope_odd.data() : p.odd.data();
    for (std::int64_t j = 0; j < p.n_pairs; ++j, even += p.n_terms, odd += p.n_terms) {
        V e[4], o[4];
        for (int i = 0; i < 4; ++i) {
            e[i] = hn::Set(d, even[p.n_terms - 1]);
            o[i] = hn::Set(d, odd[p.n_terms - 1]);
        }
        for (std::int64_t term = p.n_terms - 2; term >= 0; --term) {
            const V a = hn::Set(d, even[term]), b = hn::Set(d, odd[term]);
            for (int i = 0; i < 4; ++i) {
                e[i] = hn::MulAdd(e[i], square[i], a);
                o[i] = hn::MulAdd(o[i], square[i], b);
            }
        }
        const std::int64_t mirror = p.width - 1 - j;
        for (int i = 0; i < 4; ++i) {
            double(*const out)[group] = i < 2 ? rows : columns;
            // Where j is its own mirror image, one of the parts is 0.
            const V y_odd = hn::Mul(y[i], o[i]);
            hn::Store(Slopes ? hn::Sub(y_odd, e[i]) : hn::Sub(e[i], y_odd), d, out[mirror] + i % 2 * L);
            hn::Store(hn::Add(e[i], y_odd), d, out[j] + i % 2 * L);
        }
    }
}

/// What sums over rows come to with the weights of columns.
template <int N>
HWY_INLINE double total(const SumV* HWY_RESTRICT sums, const double* HWY_RESTRICT columns) {
    const SumD d;
    SumV all = hn::Mul(sums[0], hn::Load(d, columns));
    for (int v = 1; v < N; ++v) all = hn::MulAdd(sums[v], hn::Load(d, columns + v * sum_lanes()), all);
    return hn::GetLane(hn::SumOfLanes(d, all));
}

template <int N>
struct Interpolation {
    template <bool Slopes>
    static void run(const WindowPolynomials& p, const SampleFields& samples, const PlacedPoint* points,
                    std::int64_t first, std::int64_t end, double* HWY_RESTRICT values, std::int64_t stride) {
        const SumD d;
        HWY_ALIGN Weights weights, slopes;
        HWY_ALIGN ColumnScratch columns = {}, column_slopes = {};
        for (std::int64_t i = first; i < end; i += group) {
            write_weights<false>(p, points + i, weights.rows, columns);
            transpose_to_points(columns, p.width, points + i, weights.columns);
            if constexpr (Slopes) {
                write_weights<true>(p, points + i, slopes.rows, column_slopes);
                transpose_to_points(column_slopes, p.width, points + i, slopes.columns);
            }
            for (std::int64_t q = 0; q < std::min(group, end - i); ++q)
                for (std::int64_t f = 0; f < samples.n_fields; ++f) {
                    const PlacedPoint& point = points[i + q];
                    const double* HWY_RESTRICT x = samples.data[f] +
                                                   (point.row - samples.first_row) * samples.stride +
                                                   point.column / sum_lanes() * sum_lanes();
                    SumV sums[N], by_theta[N];
                    for (int v = 0; v < N; ++v) sums[v] = by_theta[v] = hn::Zero(d);
                    for (std::int64_t row = 0; row < p.width; ++row, x += samples.stride) {
                        const SumV w = hn::Set(d, weights.rows[row][q]);
                        SumV slope = hn::Zero(d);
                        if constexpr (Slopes) slope = hn::Set(d, slopes.rows[row][q]);
                        for (int v = 0; v < N; ++v) {
                            const SumV sample = hn::Load(d, x + v * sum_lanes());
                            sums[v] = hn::MulAdd(w, sample, sums[v]);
                            if constexpr (Slopes) by_theta[v] = hn::MulAdd(slope, sample, by_theta[v]);
                        }
                    }
                    double* const out = values + f * stride + i - first + q;
                    out[0] = total<N>(sums, weights.columns[q]);
                    if constexpr (Slopes) {
                        out[samples.n_fields * stride] = total<N>(by_theta, weights.columns[q]);
                        out[2 * samples.n_fields * stride] = total<N>(sums, slopes.columns[q]);
                    }
                }
        }
    }
};

/// Fields go one by one over some points, whose tile of a field then is in the nearest cache, and add to the
/// points' sums over rows.
template <int N>
struct Combination {
    static constexpr std::int64_t at_once = 64;
    struct Scratch {
        Weights weights[at_once / group];
        HWY_ALIGN double sums[at_once][N * 4];
    };

    /// Adds the rows of a field from x on, times factor and their weights.
    static HWY_INLINE void add(const double* HWY_RESTRICT x, std::int64_t stride, std::int64_t width,
                               const double (*HWY_RESTRICT rows)[group], std::int64_t q, double factor,
                               double* HWY_RESTRICT to) {
        const SumD d;
        SumV sums[N];
        for (int v = 0; v < N; ++v) sums[v] = hn::Load(d, to + v * sum_lanes());
        for (std::int64_t row = 0; row < width; ++row, x += stride) {
            const SumV w = hn::Set(d, factor * rows[row][q]);
            for (int v = 0; v < N; ++v) sums[v] = hn::MulAdd(w, hn::Load(d, x + v * sum_lanes()), sums[v]);
        }
        for (int v = 0; v < N; ++v) hn::Store(sums[v], d, to + v * sum_lanes());
    }

    static void run(const WindowPolynomials& p, const SampleFields& samples, const FieldGroups& groups,
                    const PlacedPoint* points, std::int64_t first, std::int64_t end,
                    const double* HWY_RESTRICT factors, double* HWY_RESTRICT values, std::int64_t stride) {
        HWY_ALIGN Scratch scratch;
        HWY_ALIGN ColumnScratch columns = {};
        for (std::int64_t i = first; i < end; i += at_once) {
            const std::int64_t count = std::min(at_once, end - i);
            for (std::int64_t k = 0; k * group < count; ++k) {
                Weights& weights = scratch.weights[k];
                write_weights<false>(p, points + i + k * group, weights.rows, columns);
                transpose_to_points(columns, p.width, points + i + k * group, weights.columns);
            }
            for (std::int64_t g = 0, f = 0; g < groups.n; ++g) {
                std::fill_n(scratch.sums[0], count * N * 4, 0.0);
                for (; f < groups.ends[g]; ++f)
                    for (std::int64_t q = 0; q < count; ++q) {
                        const PlacedPoint& point = points[i + q];
                        add(samples.data[f] + (point.row - samples.first_row) * samples.stride +
                                point.column / sum_lanes() * sum_lanes(),
                            samples.stride, p.width, scratch.weights[q / group].rows, q % group,
                            factors[f * stride + i - first + q], scratch.sums[q]);
                    }
                for (std::int64_t q = 0; q < count; ++q) {
                    SumV sums[N];
                    for (int v = 0; v < N; ++v) sums[v] = hn::Load(SumD(), scratch.sums[q] + v * sum_lanes());
                    values[g * stride + i - first + q] =
                        total<N>(sums, scratch.weights[q / group].columns[q % group]);
                }
            }
        }
    }
};

template <int N>
struct Spreading {
    static void run(const WindowPolynomials& p, const PlacedPoint* points, std::int64_t first,
                    std::int64_t end, std::int64_t row, std::int64_t column,
                    const double* HWY_RESTRICT values, std::int64_t stride, std::int64_t n_fields,
                    double* HWY_RESTRICT sums) {
        const SumD d;
        HWY_ALIGN Weights weights;
        HWY_ALIGN ColumnScratch columns = {};
        for (std::int64_t i = first; i < end; i += group) {
            write_weights<false>(p, points + i, weights.rows, columns);
            transpose_to_points(columns, p.width, points + i, weights.columns);
            for (std::int64_t q = 0; q < std::min(group, end - i); ++q)
                for (std::int64_t f = 0; f < n_fields; ++f) {
                    const PlacedPoint& point = points[i + q];
                    double* HWY_RESTRICT x = sums + f * Tile::doubles + (point.row - row) * Tile::columns +
                                             (point.column - column) / sum_lanes() * sum_lanes();
                    const SumV value = hn::Set(d, values[f * stride + i - first + q]);
                    SumV along[N];
                    for (int v = 0; v < N; ++v)
                        along[v] = hn::Mul(value, hn::Load(d, weights.columns[q] + v * sum_lanes()));
                    for (std::int64_t k = 0; k < p.width; ++k, x += Tile::columns) {
                        const SumV w = hn::Set(d, weights.rows[k][q]);
                        for (int v = 0; v < N; ++v)
                            hn::Store(hn::MulAdd(w, along[v], hn::Load(d, x + v * sum_lanes())), d,
                                      x + v * sum_lanes());
                    }
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

void interpolate(const WindowPolynomials& p, const SampleFields& samples, const PlacedPoint* points,
                 std::int64_t first, std::int64_t end, bool slopes, double* values, std::int64_t stride) {
    with_vectors(p.width, [&](auto n) {
        using Kernel = Interpolation<decltype(n)::value>;
        if (slopes)
            Kernel::template run<true>(p, samples, points, first, end, values, stride);
        else
            Kernel::template run<false>(p, samples, points, first, end, values, stride);
    });
}

void combine(const WindowPolynomials& p, const SampleFields& samples, const FieldGroups& groups,
             const PlacedPoint* points, std::int64_t first, std::int64_t end, const double* factors,
             double* sums, std::int64_t stride) {
    with_vectors(p.width, [&](auto n) {
        Combination<decltype(n)::value>::run(p, samples, groups, points, first, end, factors, sums, stride);
    });
}

void spread(const WindowPolynomials& p, const PlacedPoint* points, std::int64_t first, std::int64_t end,
            std::int64_t row, std::int64_t column, const double* values, std::int64_t stride,
            std::int64_t n_fields, double* sums) {
    with_vectors(p.width, [&](auto n) {
        Spreading<decltype(n)::value>::run(p, points, first, end, row, column, values, stride, n_fields,
                                           sums);
    });
}

}  // namespace zonal::points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::points {

HWY_EXPORT(places);
HWY_EXPORT(interpolate);
HWY_EXPORT(combine);
HWY_EXPORT(spread);

bool find_places(const PlaceRule& rule, const double* x, std::int64_t count, std::int32_t* first, double* y) {
    return HWY_DYNAMIC_DISPATCH(places)(rule, x, count, first, y);
}
void interpolate_points(const WindowPolynomials& polynomials, const SampleFields& samples,
                        const PlacedPoint* points, std::int64_t first, std::int64_t end, bool slopes,
                        double* values, std::int64_t stride) {
    HWY_DYNAMIC_DISPATCH(interpolate)(polynomials, samples, points, first, end, slopes, values, stride);
}
void combine_points(const WindowPolynomials& polynomials, const SampleFields& samples,
                    const FieldGroups& groups, const PlacedPoint* points, std::int64_t first,
                    std::int64_t end, const double* factors, double* sums, std::int64_t stride) {
    HWY_DYNAMIC_DISPATCH(combine)(polynomials, samples, groups, points, first, end, factors, sums, stride);
}
void spread_points(const WindowPolynomials& polynomials, const PlacedPoint* points, std::int64_t first,
                   std::int64_t end, std::int64_t row, std::int64_t column, const double* values,
                   std::int64_t stride, std::int64_t n_fields, double* sums) {
    HWY_DYNAMIC_DISPATCH(spread)
    (polynomials, points, first, end, row, column, values, stride, n_fields, sums);
}

}  // namespace zonal::points
#endif
