// lam of a tile of steps and rings, made once for many fields, and products with it. Included once per SIMD
// target.

#if defined(ZONAL_SHT_SHARED_LAM_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SHARED_LAM_INL_HPP
#undef ZONAL_SHT_SHARED_LAM_INL_HPP
#else
#define ZONAL_SHT_SHARED_LAM_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "core/transpose-inl.hpp"
#include "sht/legendre/scalar_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// Steps and rings of a tile: multiples of all vectors, and few enough for lam to stay in the first-level
/// cache.
inline constexpr std::int64_t shared_row = 48;

/// Vectors of rings whose recurrences run together: of synthesis, and of the adjoint, whose steps are
/// transposed.
inline constexpr int row_vectors = HWY_MAX_BYTES >= 64 ? 4 : 2,
                     transposed_vectors = HWY_MAX_BYTES >= 64 ? 2 : 1;

/// Writes lam of a group in a tile to lam[i - begin][ring], rows shared_row long, zero where no lane is
/// visible. Returns the first step at which one is, or `end`.
template <int NV>
HWY_NOINLINE std::int64_t write_lam_rows(double* HWY_RESTRICT stored, const double* HWY_RESTRICT steps,
                                         std::int64_t begin, std::int64_t end, double* HWY_RESTRICT lam) {
    const D d;
    auto keep = [&](const V(&value)[NV], std::int64_t i) HWY_ATTR {
        for (int v = 0; v < NV; ++v) hn::Store(value[v], d, lam + (i - begin) * shared_row + v * lanes());
    };
    Entered entered{begin, begin};
    if (HWY_UNLIKELY(!RecurrenceState<NV>::all_visible_in(stored))) {
        entered = enter_tile<NV>(stored, steps, begin, end, keep);
        V zero[NV];
        for (V& x : zero) x = hn::Zero(d);
        for (std::int64_t i = begin; i < entered.first; ++i) keep(zero, i);
    }
    if (entered.next < end) {
        VisibleState<NV> state(stored);
        state.run(steps, entered.next, end, keep);
        state.store(stored);
    }
    return entered.first;
}

/// lam with the steps in the lanes: writes that of as many steps as there are lanes to lam[ring][0..], rows
/// shared_row long. x: the steps; overwritten.
HWY_INLINE void store_transposed(V* HWY_RESTRICT x, double* HWY_RESTRICT lam) {
    const D d;
    core::HWY_NAMESPACE::transpose(d, x);
    for (std::int64_t j = 0; j < lanes(); ++j) hn::Store(x[j], d, lam + j * shared_row);
}

/// lam with the steps in the lanes: writes that of the steps from `begin` to `end`, whole vectors of them, to
/// lam[ring][i], rows shared_row long. rows: [i][NV] vectors.
template <int NV>
HWY_INLINE void transpose_rows(const double* HWY_RESTRICT rows, std::int64_t begin, std::int64_t end,
                               double* HWY_RESTRICT lam) {
    const D d;
    for (std::int64_t i = begin; i < end; i += lanes())
        for (int v = 0; v < NV; ++v) {
            V x[lanes()];
            for (std::int64_t j = 0; j < lanes(); ++j)
                x[j] = hn::Load(d, rows + ((i + j) * NV + v) * lanes());
            store_transposed(x, lam + v * lanes() * shared_row + i);
        }
}

/// The steps of a tile that a group's lam takes in vectors of steps: at least two.
inline constexpr std::int64_t step_vector = lanes() > 1 ? lanes() : 2;

constexpr std::int64_t round_up_steps(std::int64_t n) {
    return (n + step_vector - 1) / step_vector * step_vector;
}

/// Writes lam of a group in a tile to lam[ring][i - begin], rows shared_row long, zero where no lane is
/// visible and up to a whole vector behind `end`. Returns whether any lane was. rows: scratch,
/// [shared_row][NV] vectors.
template <int NV>
HWY_NOINLINE bool write_lam_tile(double* HWY_RESTRICT stored, const double* HWY_RESTRICT steps,
                                 std::int64_t begin, std::int64_t end, double* HWY_RESTRICT rows,
                                 double* HWY_RESTRICT lam) {
    const D d;
    constexpr std::int64_t row = NV * lanes();
    const std::int64_t n_steps = end - begin;
    auto keep = [&](const V(&value)[NV], std::int64_t i) HWY_ATTR {
        for (int v = 0; v < NV; ++v) hn::Store(value[v], d, rows + (i - begin) * row + v * lanes());
    };
    std::int64_t i = 0;
    bool any_visible = true;
    if (HWY_UNLIKELY(!RecurrenceState<NV>::all_visible_in(stored))) {
        const Entered entered = enter_tile<NV>(stored, steps, begin, end, keep);
        any_visible = entered.first < end;
        const std::int64_t first = entered.first - begin, visible = first / step_vector * step_vector;
        for (std::int64_t ring = 0; ring < row; ++ring)
            std::fill(lam + ring * shared_row, lam + ring * shared_row + visible, 0.0);
        std::fill(rows + visible * row, rows + first * row, 0.0);
        i = std::min(round_up_steps(entered.next - begin), n_steps);
        VisibleState<NV> state(stored);
        state.run(steps, entered.next, begin + i, keep);
        if (entered.next < begin + i) state.store(stored);
        std::fill(rows + i * row, rows + round_up_steps(i) * row, 0.0);
        transpose_rows<NV>(rows, visible, round_up_steps(i), lam);
    }
    if (i == n_steps) return any_visible;
    VisibleState<NV> state(stored);
    for (; i + step_vector <= n_steps; i += step_vector) {
        V x[NV][step_vector];
        state.run(steps, begin + i, begin + i + step_vector,
                  [&](const V(&value)[NV], std::int64_t at) HWY_ATTR {
                      for (int v = 0; v < NV; ++v) x[v][at - begin - i] = value[v];
                  });
        for (int v = 0; v < NV; ++v)
            for (std::int64_t part = 0; part < step_vector; part += lanes())
                store_transposed(x[v] + part, lam + v * lanes() * shared_row + i + part);
    }
    if (i < n_steps) {
        state.run(steps, begin + i, end, keep);
        std::fill(rows + n_steps * row, rows + round_up_steps(n_steps) * row, 0.0);
        transpose_rows<NV>(rows, i, round_up_steps(n_steps), lam);
    }
    state.store(stored);
    return any_visible;
}

/// Vectors that add_products takes at once: with four sums each, as many as the registers hold.
inline constexpr int product_vectors = HWY_MAX_BYTES >= 64 ? 6 : 3;

/// Adds sum over rows r of f[r][k] lam[r][c] to sums[k][c], for n_columns columns c, whole vectors. Rows are
/// steps and columns rings in synthesis, the other way round in its adjoint. Rows of lam: shared_row, of
/// sums: stride.
template <int NV = product_vectors>
HWY_NOINLINE void add_products(const double* HWY_RESTRICT f, const double* HWY_RESTRICT lam,
                               std::int64_t n_rows, std::int64_t n_columns, double* HWY_RESTRICT sums,
                               std::int64_t stride) {
    const D d;
    std::int64_t c = 0;
    for (; c + NV * lanes() <= n_columns; c += NV * lanes()) {
        V sum[4][NV];
        for (int k = 0; k < 4; ++k)
            for (int v = 0; v < NV; ++v) sum[k][v] = hn::LoadU(d, sums + k * stride + c + v * lanes());
        for (std::int64_t r = 0; r < n_rows; ++r) {
            V x[NV];
            for (int v = 0; v < NV; ++v) x[v] = hn::Load(d, lam + r * shared_row + c + v * lanes());
            for (int k = 0; k < 4; ++k) {
                const V weight = hn::Set(d, f[r * 4 + k]);
                for (int v = 0; v < NV; ++v) sum[k][v] = hn::MulAdd(weight, x[v], sum[k][v]);
            }
        }
        for (int k = 0; k < 4; ++k)
            for (int v = 0; v < NV; ++v) hn::StoreU(sum[k][v], d, sums + k * stride + c + v * lanes());
    }
    if constexpr (NV > 1) {
        if (c < n_columns) add_products<(NV + 1) / 2>(f, lam + c, n_rows, n_columns - c, sums + c, stride);
    }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
