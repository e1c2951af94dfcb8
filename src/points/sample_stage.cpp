#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "points/sample_stage.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "core/transpose-inl.hpp"
#include "fft/mixed_radix-inl.hpp"
#include "points/lanes-inl.hpp"
#include "points/sample_stage.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::points::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using C = fft::HWY_NAMESPACE::ComplexV<D>;
using core::HWY_NAMESPACE::transpose;
using sht::block_size;
using sht::fourier_block;

constexpr std::int64_t width = 2 * lanes();  ///< doubles of a vector's complex numbers

std::int64_t group() {
    return width;
}

void reserve(const SampleTables& t, SampleScratch& scratch) {
    const auto size = static_cast<std::size_t>(width * std::max(2 * t.n_rings, t.n));
    for (auto& work : scratch.work)
        if (work.size() < size) work.resize(size);
}

/// A backward transform with re and im exchanged is a forward one.
HWY_INLINE C load_swapped(const double* x) {
    const C c = C::load(x);
    return {c.im, c.re};
}
HWY_INLINE void store_swapped(C c, double* x) {
    C{c.im, c.re}.store(x);
}
HWY_INLINE C scaled(C c, V factor) {
    return {hn::Mul(c.re, factor), hn::Mul(c.im, factor)};
}

/// Calls take(pair, north a, south a, north b, south b) for each ring pair, lane q holding the orders a = 2 q
/// and b = 2 q + 1 of the group. The numbers are written back if Write.
template <bool Write, class Take>
HWY_INLINE void for_each_pair(const SampleTables& t, double* modes, std::int64_t field, std::int64_t n_fields,
                              const Take& take) {
    const D d;
    constexpr std::int64_t L = lanes();
    const std::int64_t n_pairs = t.n_rings / 2, of_order = t.n_blocks() * n_fields * fourier_block;
    for (std::int64_t block = 0; block < t.n_blocks(); ++block) {
        double* const of_block = modes + (block * n_fields + field) * fourier_block;
        for (std::int64_t sub = 0; sub < block_size; sub += L) {
            // [a or b][north re, im, south re, im][lane or ring]
            V parts[2][4][L];
            for (int order = 0; order < 2; ++order)
                for (int part = 0; part < 4; ++part) {
                    if constexpr (!Write)
                        for (std::int64_t q = 0; q < L; ++q)
                            parts[order][part][q] =
                                hn::LoadU(d, of_block + (2 * q + order) * of_order + part * block_size + sub);
                    if constexpr (!Write) transpose(d, parts[order][part]);
                }
            for (std::int64_t i = 0; i < L; ++i) {
                const std::int64_t pair = block * block_size + sub + i;
                C c[4] = {{parts[0][0][i], parts[0][1][i]},
                          {parts[0][2][i], parts[0][3][i]},
                          {parts[1][0][i], parts[1][1][i]},
                          {parts[1][2][i], parts[1][3][i]}};
                if (pair < n_pairs)
                    take(pair, c[0], c[1], c[2], c[3]);
                else if constexpr (Write)  // lanes that are no rings
                    c[0] = c[1] = c[2] = c[3] = {hn::Zero(d), hn::Zero(d)};
                if constexpr (Write)
                    for (int order = 0; order < 2; ++order)
                        for (int side = 0; side < 2; ++side) {
                            parts[order][2 * side][i] = c[2 * order + side].re;
                            parts[order][2 * side + 1][i] = c[2 * order + side].im;
                        }
            }
            if constexpr (Write)
                for (int order = 0; order < 2; ++order)
                    for (int part = 0; part < 4; ++part) {
                        transpose(d, parts[order][part]);
                        for (std::int64_t q = 0; q < L; ++q)
                            hn::StoreU(parts[order][part][q], d,
                                       of_block + (2 * q + order) * of_order + part * block_size + sub);
                    }
        }
    }
}

/// Sums over the coefficients G of both orders of each lane, c_k = (G_k +- G_{-k}) / 2.
void sum_errors(const SampleTables& t, const double* x, V sign, const ErrorWeights& weights,
                OrderErrors* errors) {
    const D d;
    V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (std::int64_t k = 0; k <= t.lmax; ++k) {
        const C up = C::load(x + k * width), down = C::load(x + (k == 0 ? 0 : t.n - k) * width);
        const V power = hn::Set(d, weights.power[static_cast<std::size_t>(k)]),
                alias = hn::Set(d, weights.alias[static_cast<std::size_t>(k)]);
        for (int order = 0; order < 2; ++order) {
            const V s = order == 0 ? sign : hn::Neg(sign);
            const V re = hn::MulAdd(s, down.re, up.re), im = hn::MulAdd(s, down.im, up.im);
            const V square = hn::MulAdd(re, re, hn::Mul(im, im));
            sums[2 * order] = hn::MulAdd(square, power, sums[2 * order]);
            sums[2 * order + 1] = hn::MulAdd(square, alias, sums[2 * order + 1]);
        }
    }
    HWY_ALIGN double values[4][lanes()];
    for (int i = 0; i < 4; ++i) hn::Store(sums[i], d, values[i]);
    for (std::int64_t q = 0; q < lanes(); ++q)
        for (int order = 0; order < 2; ++order)
            errors[2 * q + order] = {values[2 * order][q], values[2 * order + 1][q]};
}

void rings_to_rows(const SampleTables& t, std::int64_t first_order, std::int64_t field, std::int64_t n_fields,
                   const SampleView& out, SampleScratch& scratch, const ErrorWeights* weights,
                   OrderErrors* errors) {
    const D d;
    reserve(t, scratch);
    // F_a(-theta) = sign F_a(theta) of the even orders, and the opposite of the odd ones.
    const V sign = hn::Set(d, t.sign());
    double* const circle = scratch.work[0].data();
    const auto store_both = [&](std::int64_t ring, C a, C b) HWY_ATTR {
        store_swapped(a + b, circle + ring * width);
        store_swapped(scaled(a - b, sign), circle + (2 * t.n_rings - 1 - ring) * width);
    };
    for_each_pair<false>(t, scratch.modes.data(), field, n_fields,
                         [&](std::int64_t pair, C& na, C& sa, C& nb, C& sb) HWY_ATTR {
                             store_both(pair, na, nb);
                             store_both(t.n_rings - 1 - pair, sa, sb);
                         });
    fft::HWY_NAMESPACE::transform<D>(t.circle, scratch.work[0], scratch.work[1]);
    const double* const series = scratch.work[0].data();
    double* const x = scratch.work[1].data();
    for (std::int64_t k = 0; k <= t.lmax; ++k) {
        const C phase = {hn::Set(d, t.phase_re[static_cast<std::size_t>(k)]),
                         hn::Set(d, t.phase_im[static_cast<std::size_t>(k)])};
        load_swapped(series + k * width).times(phase).store(x + k * width);
        if (k > 0)
            load_swapped(series + (2 * t.n_rings - k) * width)
                .times(C{phase.re, hn::Neg(phase.im)})
                .store(x + (t.n - k) * width);
    }
    std::fill(x + (t.lmax + 1) * width, x + (t.n - t.lmax) * width, 0.0);
    if (weights != nullptr) sum_errors(t, x, sign, *weights, errors);
    fft::HWY_NAMESPACE::transform<D>(t.samples, scratch.work[1], scratch.work[0]);
    V factor_a, factor_b;
    hn::LoadInterleaved2(d, t.factors.data() + first_order, factor_a, factor_b);
    const double* const values = scratch.work[1].data();
    const SampleRows rows = out.computed(t.n);
    for (std::int64_t j = rows.first; j < rows.end; ++j) {
        const C up = C::load(values + j * width),
                down = scaled(C::load(values + (j == 0 ? 0 : t.n - j) * width), sign);
        const C a = scaled(up + down, factor_a), b = scaled(up - down, factor_b);
        hn::StoreInterleaved4(a.re, a.im, b.re, b.im, d, out.row(j) + 2 * first_order);
    }
}

void rows_to_rings(const SampleTables& t, std::int64_t first_order, std::int64_t field, std::int64_t n_fields,
                   const SampleView& in, SampleScratch& scratch) {
    const D d;
    reserve(t, scratch);
    const V sign = hn::Set(d, t.sign());
    V factor_a, factor_b;
    hn::LoadInterleaved2(d, t.factors.data() + first_order, factor_a, factor_b);
    double* const values = scratch.work[0].data();
    const SampleRows rows = in.computed(t.n);
    std::fill(values, values + t.n * width, 0.0);
    for (std::int64_t j = rows.first; j < rows.end; ++j) {
        C a, b;
        hn::LoadInterleaved4(d, in.row(j) + 2 * first_order, a.re, a.im, b.re, b.im);
        a = scaled(a, factor_a);
        b = scaled(b, factor_b);
        const C up = a + b, down = scaled(a - b, sign);
        if (j == 0 || 2 * j == t.n) {
            store_swapped(up + down, values + j * width);
        } else {
            store_swapped(up, values + j * width);
            store_swapped(down, values + (t.n - j) * width);
        }
    }
    fft::HWY_NAMESPACE::transform<D>(t.samples, scratch.work[0], scratch.work[1]);
    const double* const series = scratch.work[0].data();
    double* const x = scratch.work[1].data();
    for (std::int64_t k = 0; k <= t.lmax; ++k) {
        const C phase = {hn::Set(d, t.phase_re[static_cast<std::size_t>(k)]),
                         hn::Set(d, t.phase_im[static_cast<std::size_t>(k)])};
        load_swapped(series + k * width).times(C{phase.re, hn::Neg(phase.im)}).store(x + k * width);
        if (k > 0)
            load_swapped(series + (t.n - k) * width).times(phase).store(x + (2 * t.n_rings - k) * width);
    }
    std::fill(x + (t.lmax + 1) * width, x + (2 * t.n_rings - t.lmax) * width, 0.0);
    fft::HWY_NAMESPACE::transform<D>(t.circle, scratch.work[1], scratch.work[0]);
    const double* const circle = scratch.work[1].data();
    const auto load_both = [&](std::int64_t ring, C& a, C& b) HWY_ATTR {
        const C up = C::load(circle + ring * width),
                down = scaled(C::load(circle + (2 * t.n_rings - 1 - ring) * width), sign);
        a = up + down;
        b = up - down;
    };
    for_each_pair<true>(t, scratch.modes.data(), field, n_fields,
                        [&](std::int64_t pair, C& na, C& sa, C& nb, C& sb) HWY_ATTR {
                            load_both(pair, na, nb);
                            load_both(t.n_rings - 1 - pair, sa, sb);
                        });
}

/// The rows of a group; those that are missing stand for the last one, and are only read.
struct GroupRows {
    double* of[width];
    GroupRows(const SampleView& field, std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 0; i < width; ++i) of[i] = field.row(first + std::min(i, count - 1));
    }
};

/// Orders m to m + orders_at_once - 1 of all rows of a half of the group.
constexpr std::int64_t orders_at_once = std::max<std::int64_t>(lanes() / 2, 1);
HWY_INLINE void load_orders(double* const* rows, std::int64_t m, C* orders) {
    const D d;
    if constexpr (lanes() == 1) {
        orders[0] = {hn::LoadU(d, rows[0] + 2 * m), hn::LoadU(d, rows[0] + 2 * m + 1)};
    } else {
        V x[lanes()];
        for (std::int64_t q = 0; q < lanes(); ++q) x[q] = hn::LoadU(d, rows[q] + 2 * m);
        transpose(d, x);
        for (std::int64_t i = 0; i < orders_at_once; ++i) orders[i] = {x[2 * i], x[2 * i + 1]};
    }
}
HWY_INLINE void store_orders(const C* orders, double* const* rows, std::int64_t m, std::int64_t n_rows) {
    const D d;
    if constexpr (lanes() == 1) {
        if (n_rows < 1) return;
        hn::StoreU(orders[0].re, d, rows[0] + 2 * m);
        hn::StoreU(orders[0].im, d, rows[0] + 2 * m + 1);
    } else {
        V x[lanes()];
        for (std::int64_t i = 0; i < orders_at_once; ++i) {
            x[2 * i] = orders[i].re;
            x[2 * i + 1] = orders[i].im;
        }
        transpose(d, x);
        for (std::int64_t q = 0; q < std::min(lanes(), n_rows); ++q) hn::StoreU(x[q], d, rows[q] + 2 * m);
    }
}

void rows_to_samples(const SampleTables& t, std::int64_t first_row, std::int64_t n_rows,
                     const SampleView& field, SampleScratch& scratch) {
    const D d;
    constexpr std::int64_t L = lanes();
    reserve(t, scratch);
    const GroupRows rows(field, first_row, n_rows);
    double* const x = scratch.work[0].data();
    for (std::int64_t m = 0; m <= t.mmax; m += orders_at_once) {
        C a[orders_at_once], b[orders_at_once];
        load_orders(rows.of, m, a);
        load_orders(rows.of + L, m, b);
        for (std::int64_t i = 0; i < orders_at_once && m + i <= t.mmax; ++i) {
            if (m + i == 0) {  // real
                C{a[0].re, b[0].re}.store(x);
                continue;
            }
            // a + i b of m, and of -m, where both are conjugate.
            (a[i] + b[i].times_i()).store(x + (m + i) * width);
            C{hn::Add(a[i].re, b[i].im), hn::Sub(b[i].re, a[i].im)}.store(x + (t.n - m - i) * width);
        }
    }
    std::fill(x + (t.mmax + 1) * width, x + (t.n - t.mmax) * width, 0.0);
    fft::HWY_NAMESPACE::transform<D>(t.samples, scratch.work[0], scratch.work[1]);
    const double* const values = scratch.work[0].data();
    for (std::int64_t j = 0; j < t.n; j += L) {
        V a[L], b[L];
        for (std::int64_t i = 0; i < L; ++i) {
            const C c = C::load(values + (j + i) * width);
            a[i] = c.re;
            b[i] = c.im;
        }
        transpose(d, a);
        transpose(d, b);
        for (std::int64_t q = 0; q < std::min(L, n_rows); ++q) hn::StoreU(a[q], d, rows.of[q] + t.border + j);
        for (std::int64_t q = 0; q < std::min(L, n_rows - L); ++q)
            hn::StoreU(b[q], d, rows.of[L + q] + t.border + j);
    }
    for (std::int64_t q = 0; q < n_rows; ++q) {
        double* const samples = rows.of[q] + t.border;
        std::copy(samples + t.n - t.border, samples + t.n, samples - t.border);
        std::copy(samples, samples + t.border + longest_vector, samples + t.n);
    }
}

void samples_to_rows(const SampleTables& t, std::int64_t first_row, std::int64_t n_rows,
                     const SampleView& field, SampleScratch& scratch) {
    const D d;
    constexpr std::int64_t L = lanes();
    reserve(t, scratch);
    const GroupRows rows(field, first_row, n_rows);
    double* const x = scratch.work[0].data();
    for (std::int64_t j = 0; j < t.n; j += L) {
        V a[L], b[L];
        for (std::int64_t q = 0; q < L; ++q) {
            a[q] = hn::LoadU(d, rows.of[q] + t.border + j);
            b[q] = hn::LoadU(d, rows.of[L + q] + t.border + j);
        }
        transpose(d, a);
        transpose(d, b);
        for (std::int64_t i = 0; i < L; ++i) store_swapped({a[i], b[i]}, x + (j + i) * width);
    }
    fft::HWY_NAMESPACE::transform<D>(t.samples, scratch.work[0], scratch.work[1]);
    const double* const values = scratch.work[0].data();
    const V half = hn::Set(d, 0.5);
    for (std::int64_t m = 0; m < t.padded_orders(); m += orders_at_once) {
        C a[orders_at_once], b[orders_at_once];
        for (std::int64_t i = 0; i < orders_at_once; ++i) {
            a[i] = b[i] = {hn::Zero(d), hn::Zero(d)};
            if (m + i > t.mmax) continue;
            const C up = load_swapped(values + (m + i) * width),
                    down = load_swapped(values + (m + i == 0 ? 0 : t.n - m - i) * width);
            a[i] = scaled({hn::Add(up.re, down.re), hn::Sub(up.im, down.im)}, half);
            b[i] = scaled({hn::Add(up.im, down.im), hn::Sub(down.re, up.re)}, half);
        }
        store_orders(a, rows.of, m, n_rows);
        store_orders(b, rows.of + L, m, n_rows - L);
    }
}

}  // namespace zonal::points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::points {

HWY_EXPORT(group);
HWY_EXPORT(rings_to_rows);
HWY_EXPORT(rows_to_rings);
HWY_EXPORT(rows_to_samples);
HWY_EXPORT(samples_to_rows);

std::int64_t group_size() {
    return HWY_DYNAMIC_DISPATCH(group)();
}
void rings_to_rows(const SampleTables& tables, std::int64_t first_order, std::int64_t field,
                   std::int64_t n_fields, const SampleView& out, SampleScratch& scratch,
                   const ErrorWeights* weights, OrderErrors* errors) {
    HWY_DYNAMIC_DISPATCH(rings_to_rows)
    (tables, first_order, field, n_fields, out, scratch, weights, errors);
}
void rows_to_rings(const SampleTables& tables, std::int64_t first_order, std::int64_t field,
                   std::int64_t n_fields, const SampleView& in, SampleScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(rows_to_rings)(tables, first_order, field, n_fields, in, scratch);
}
void rows_to_samples(const SampleTables& tables, std::int64_t first_row, std::int64_t n_rows,
                     const SampleView& field, SampleScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(rows_to_samples)(tables, first_row, n_rows, field, scratch);
}
void samples_to_rows(const SampleTables& tables, std::int64_t first_row, std::int64_t n_rows,
                     const SampleView& field, SampleScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(samples_to_rows)(tables, first_row, n_rows, field, scratch);
}

}  // namespace zonal::points
#endif
