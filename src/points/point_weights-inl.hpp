// Weights of the samples around points. Included once per SIMD target.

#if defined(ZONAL_POINTS_POINT_WEIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_POINTS_POINT_WEIGHTS_INL_HPP
#undef ZONAL_POINTS_POINT_WEIGHTS_INL_HPP
#else
#define ZONAL_POINTS_POINT_WEIGHTS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "core/transpose-inl.hpp"
#include "points/lanes-inl.hpp"
#include "points/point_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::points::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using core::HWY_NAMESPACE::transpose;

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

/// Points whose sums are made field by field: of these a field's samples stay in the nearest cache.
struct Block {
    static constexpr std::int64_t most = 64;
    /// A group where there is one field, for which the weights of more would only fill the cache.
    static constexpr std::int64_t size_for(std::int64_t n_fields) { return n_fields == 1 ? group : most; }

    /// The weights of up to `size` points of a range, from the first-th on. Slopes: of the derivatives.
    template <bool Slopes>
    void make(const WindowPolynomials& p, const PointRange& range, std::int64_t first_point,
              std::int64_t size) {
        points = range.placed + first_point;
        count = std::min(size, range.end - first_point);
        by_samples = range.by_samples;
        width = p.width;
        for (std::int64_t first = 0; first < count; first += group) {
            Weights& of_group = weights[first / group];
            write_weights<Slopes>(p, points + first, of_group.rows, scratch_);
            transpose_to_points(scratch_, width, points + first, of_group.columns);
        }
        if (by_samples) find_alike();
    }
    /// The weight of a point for a row is row_weights(q)[row * group].
    const double* row_weights(std::int64_t q) const { return &weights[q / group].rows[0][q % group]; }
    const double* column_weights(std::int64_t q) const { return weights[q / group].columns[q % group]; }
    /// Where the vectors of a point's samples begin.
    std::int64_t column(std::int64_t q) const { return points[q].column / sum_lanes() * sum_lanes(); }

    const PlacedPoint* points;
    std::int64_t count, width;
    bool by_samples;
    std::int64_t alike[most];  ///< by_samples: how many points from each on have the same samples
    Weights weights[most / group];

  private:
    void find_alike() {
        alike[count - 1] = 1;
        for (std::int64_t q = count - 2; q >= 0; --q) {
            const bool same = points[q].row == points[q + 1].row && column(q) == column(q + 1);
            alike[q] = same ? alike[q + 1] + 1 : 1;
        }
    }

    HWY_ALIGN ColumnScratch scratch_ = {};  ///< of which the samples beyond the window stay 0
};

}  // namespace zonal::points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ZONAL_POINTS_POINT_WEIGHTS_INL_HPP
