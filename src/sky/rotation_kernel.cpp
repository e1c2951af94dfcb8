#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sky/rotation_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "sky/rotation_wigner.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {
namespace rotation {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr std::int64_t n_lanes = HWY_MAX_BYTES < 64 ? HWY_MAX_BYTES / 8 : 8;
// Two vectors fill the 32 registers of the wide targets with one component; more components leave room for
// one.
constexpr int vectors_for(int n_components) {
    return HWY_MAX_BYTES >= 64 && n_components == 1 ? 2 : 1;
}

/// n_vectors vectors of columns m on their way from row m' = l down, and the sums of C components for them.
template <int n_vectors, int C>
struct Columns {
    V m[n_vectors];
    V p[n_vectors], p_above[n_vectors], p_scale[n_vectors];
    V n[n_vectors], n_above[n_vectors], n_scale[n_vectors];
    V a_re[C][n_vectors], a_im[C][n_vectors];
    V sum_re[C][n_vectors], sum_im[C][n_vectors];
};

template <int n_vectors, int C>
HWY_INLINE void load(const WignerDegree& wigner, const RotationRows& rows, std::int64_t first,
                     Columns<n_vectors, C>& columns) {
    const D d;
    for (int i = 0; i < n_vectors; ++i) {
        const auto at = first + i * n_lanes;
        columns.m[i] = hn::Iota(d, static_cast<double>(at));
        columns.p[i] = hn::Load(d, wigner.start_p.data() + at);
        columns.n[i] = hn::Load(d, wigner.start_n.data() + at);
        columns.p_scale[i] = hn::Load(d, wigner.scale_p.data() + at);
        columns.n_scale[i] = hn::Load(d, wigner.scale_n.data() + at);
        columns.p_above[i] = columns.n_above[i] = hn::Zero(d);
        for (int c = 0; c < C; ++c) {
            columns.a_re[c][i] = hn::Load(d, rows.column_re + c * rows.stride + at);
            columns.a_im[c][i] = hn::Load(d, rows.column_im + c * rows.stride + at);
            columns.sum_re[c][i] = columns.sum_im[c][i] = hn::Zero(d);
        }
    }
}

/// Adds what row m' and these columns give each other: P + N to the real, P - N to the imaginary part.
/// in_row, in_column: which columns count for the row (m <= m') and which the row counts for (m < m').
template <bool triangle, int n_vectors, int C>
HWY_INLINE void accumulate(const RotationRows& rows, std::int64_t row, const V (&p)[n_vectors],
                           const V (&n)[n_vectors], Columns<n_vectors, C>& columns) {
    const D d;
    const V m_row = hn::Set(d, static_cast<double>(row));
    for (int c = 0; c < C; ++c) {
        double* sums = rows.row_sums + (row * C + c) * 2 * n_lanes;
        V row_re = hn::Load(d, sums), row_im = hn::Load(d, sums + n_lanes);
        const V b_re = hn::Set(d, rows.row_re[c * rows.stride + row]);
        const V b_im = hn::Set(d, rows.row_im[c * rows.stride + row]);
        for (int i = 0; i < n_vectors; ++i) {
            V even = hn::Add(p[i], n[i]), odd = hn::Sub(p[i], n[i]);
            if constexpr (triangle) {
                even = hn::IfThenElseZero(hn::Le(columns.m[i], m_row), even);
                odd = hn::IfThenElseZero(hn::Le(columns.m[i], m_row), odd);
            }
            row_re = hn::MulAdd(even, columns.a_re[c][i], row_re);
            row_im = hn::MulAdd(odd, columns.a_im[c][i], row_im);
            if constexpr (triangle) {
                even = hn::IfThenElseZero(hn::Lt(columns.m[i], m_row), even);
                odd = hn::IfThenElseZero(hn::Lt(columns.m[i], m_row), odd);
            }
            columns.sum_re[c][i] = hn::MulAdd(even, b_re, columns.sum_re[c][i]);
            columns.sum_im[c][i] = hn::MulAdd(odd, b_im, columns.sum_im[c][i]);
        }
        hn::Store(row_re, d, sums);
        hn::Store(row_im, d, sums + n_lanes);
    }
}

/// From row m' to m' - 1.
template <int n_vectors, int C>
HWY_INLINE void step(const WignerDegree& wigner, std::int64_t row, Columns<n_vectors, C>& columns) {
    const D d;
    const V m_row = hn::Set(d, static_cast<double>(row)), slope = hn::Set(d, wigner.slope[row]);
    const V offset_p = hn::Set(d, wigner.offset_p[row]), offset_n = hn::Set(d, wigner.offset_n[row]);
    const V second = hn::Set(d, wigner.second[row]);
    for (int i = 0; i < n_vectors; ++i) {
        const V factor_p = hn::MulAdd(slope, hn::Sub(columns.m[i], m_row), offset_p);
        const V factor_n = hn::NegMulAdd(slope, columns.m[i], offset_n);
        const V p = hn::MulSub(factor_p, columns.p[i], hn::Mul(second, columns.p_above[i]));
        const V n = hn::MulSub(factor_n, columns.n[i], hn::Mul(second, columns.n_above[i]));
        columns.p_above[i] = columns.p[i];
        columns.n_above[i] = columns.n[i];
        columns.p[i] = p;
        columns.n[i] = n;
    }
}

/// Brings values that have grown past 2^400 one scale up.
HWY_INLINE void promote(V& value, V& above, V& scale) {
    const D d;
    const M large = hn::And(hn::Gt(hn::Abs(value), hn::Set(d, 0x1p400)), hn::Gt(scale, hn::Zero(d)));
    if (HWY_LIKELY(hn::AllFalse(d, large))) return;
    const V factor = hn::IfThenElse(large, hn::Set(d, 0x1p-800), hn::Set(d, 1.0));
    value = hn::Mul(value, factor);
    above = hn::Mul(above, factor);
    scale = hn::Sub(scale, hn::IfThenElseZero(large, hn::Set(d, 1.0)));
}

/// Values in sight, that is above 2^-400 or of scale 0; the others become 0. Returns which of none, some,
/// all.
enum class Sight { none, some, all };
template <int n_vectors, int C>
HWY_INLINE Sight visible_parts(Columns<n_vectors, C>& columns, V (&p)[n_vectors], V (&n)[n_vectors]) {
    const D d;
    bool any = false, all = true;
    for (int i = 0; i < n_vectors; ++i) {
        promote(columns.p[i], columns.p_above[i], columns.p_scale[i]);
        promote(columns.n[i], columns.n_above[i], columns.n_scale[i]);
        const M see_p = hn::Eq(columns.p_scale[i], hn::Zero(d)),
                see_n = hn::Eq(columns.n_scale[i], hn::Zero(d));
        p[i] = hn::IfThenElseZero(see_p, columns.p[i]);
        n[i] = hn::IfThenElseZero(see_n, columns.n[i]);
        any = any || !hn::AllFalse(d, hn::Or(see_p, see_n));
        all = all && hn::AllTrue(d, hn::And(see_p, see_n));
    }
    return all ? Sight::all : any ? Sight::some : Sight::none;
}

template <int n_vectors, int C>
HWY_INLINE void rotate_columns(const WignerDegree& wigner, const RotationRows& rows, std::int64_t first) {
    const D d;
    Columns<n_vectors, C> columns;
    load(wigner, rows, first, columns);
    V p[n_vectors], n[n_vectors];
    // Rows above all columns: first while some values are too small for their part of the recurrence to
    // count.
    const std::int64_t last_column = first + n_vectors * n_lanes - 1;
    std::int64_t row = wigner.l;
    for (; row > last_column; --row) {
        const Sight sight = visible_parts(columns, p, n);
        if (sight == Sight::all) break;
        if (sight == Sight::some) accumulate<false>(rows, row, p, n, columns);
        step(wigner, row, columns);
    }
    for (; row > last_column; --row) {
        accumulate<false>(rows, row, columns.p, columns.n, columns);
        step(wigner, row, columns);
    }
    for (; row >= first; --row) {
        visible_parts(columns, p, n);
        accumulate<true>(rows, row, p, n, columns);
        step(wigner, row, columns);
    }
    for (int c = 0; c < C; ++c)
        for (int i = 0; i < n_vectors; ++i) {
            const auto at = c * rows.stride + first + i * n_lanes;
            hn::Store(columns.sum_re[c][i], d, rows.column_sums_re + at);
            hn::Store(columns.sum_im[c][i], d, rows.column_sums_im + at);
        }
}

template <int C>
void rotate_components(const WignerDegree& wigner, const RotationRows& rows) {
    constexpr int n_vectors = vectors_for(C);
    for (std::int64_t first = 0; first <= wigner.l; first += n_vectors * n_lanes)
        rotate_columns<n_vectors, C>(wigner, rows, first);
}

}  // namespace rotation

std::int64_t rotation_lanes() {
    return rotation::n_lanes;
}

void rotate_degree(const WignerDegree& wigner, const RotationRows& rows) {
    if (rows.n_components == 1) return rotation::rotate_components<1>(wigner, rows);
    if (rows.n_components == 2) return rotation::rotate_components<2>(wigner, rows);
    rotation::rotate_components<3>(wigner, rows);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::sht {

HWY_EXPORT(rotation_lanes);
HWY_EXPORT(rotate_degree);

std::int64_t rotation_lanes() {
    return HWY_DYNAMIC_DISPATCH(rotation_lanes)();
}

void rotate_degree(const WignerDegree& wigner, const RotationRows& rows) {
    HWY_DYNAMIC_DISPATCH(rotate_degree)(wigner, rows);
}

}  // namespace zonal::sht
#endif
