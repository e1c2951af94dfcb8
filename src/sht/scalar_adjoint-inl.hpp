// The transpose of scalar_kernels-inl.hpp. Steps of the recurrence are taken in tiles: each group of ring
// vectors runs through a tile and is put aside, so that the tile's sums stay in the first-level cache and
// nothing is summed over lanes before all groups have added to them. Included once per SIMD target.

#if defined(ZONAL_SHT_SCALAR_ADJOINT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SCALAR_ADJOINT_INL_HPP
#undef ZONAL_SHT_SCALAR_ADJOINT_INL_HPP
#else
#define ZONAL_SHT_SCALAR_ADJOINT_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "sht/lane_sums-inl.hpp"
#include "sht/legendre.hpp"
#include "sht/scalar_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// Vectors of a group of one field, whose F_m stay in registers beside its recurrence, and of more fields.
#if HWY_MAX_BYTES >= 64
inline constexpr int own_vectors = 4, shared_vectors = 2;
#else
inline constexpr int own_vectors = 2, shared_vectors = 1;
#endif

/// Steps of a tile: a multiple of the lanes and of two. Of one field, and of more.
inline constexpr std::int64_t own_tile = 64, shared_tile = 48;

/// Rings whose lam of a tile lie in the first-level cache.
inline constexpr std::int64_t shared_rings = 48;

/// How far enter_tile came.
struct Entered {
    std::int64_t first;  ///< step emitted first
    std::int64_t next;   ///< step reached
};

/// Runs a group's recurrence from step `begin` until all its lanes are visible, or to `end`, and calls
/// emit(lam, i) from the first step on at which one is. Both are even. steps: [n_steps][2] = A, B.
template <int NV, class Emit>
HWY_INLINE Entered enter_tile(double* HWY_RESTRICT stored, const double* HWY_RESTRICT steps,
                              std::int64_t begin, std::int64_t end, const Emit& emit) {
    RecurrenceState<NV> state(stored);
    const std::int64_t first = state.skip_invisible(steps, begin, end, 2);
    std::int64_t i = first;
    while (i < end && !state.all_lanes_visible()) {
        V factor[NV], lam[NV];
        for (int v = 0; v < NV; ++v) factor[v] = visibility(state.scale[v]);
        for (; i < end; i += 2) {
            for (int v = 0; v < NV; ++v) lam[v] = hn::Mul(state.current[v], factor[v]);
            emit(lam, i);
            state.advance_two(steps + 2 * i, 2);
            for (int v = 0; v < NV; ++v) lam[v] = hn::Mul(state.previous[v], factor[v]);
            emit(lam, i + 1);
            if (state.promote_lanes()) {
                i += 2;
                break;
            }
        }
    }
    state.store(stored);
    return {first, i};
}

/// A group all of whose lanes are visible: all that its recurrence needs, in registers.
template <int NV>
struct VisibleState {
    V previous[NV], current[NV], cos2[NV];

    HWY_INLINE explicit VisibleState(const double* HWY_RESTRICT stored) {
        const D d;
        for (int v = 0; v < NV; ++v) {
            previous[v] = hn::Load(d, RecurrenceState<NV>::previous_at(stored, v));
            current[v] = hn::Load(d, RecurrenceState<NV>::current_at(stored, v));
            cos2[v] = hn::Load(d, RecurrenceState<NV>::cos2_at(stored, v));
        }
    }

    HWY_INLINE void store(double* HWY_RESTRICT stored) const {
        const D d;
        for (int v = 0; v < NV; ++v) {
            hn::Store(previous[v], d, RecurrenceState<NV>::previous_at(stored, v));
            hn::Store(current[v], d, RecurrenceState<NV>::current_at(stored, v));
        }
    }

    /// Calls emit(lam, i) for the steps i from `begin` to `end`, both even.
    template <class Emit>
    HWY_INLINE void run(const double* HWY_RESTRICT steps, std::int64_t begin, std::int64_t end,
                        const Emit& emit) {
        const D d;
        for (std::int64_t i = begin; i < end; i += 2) {
            const double* HWY_RESTRICT step = steps + 2 * i;
            emit(current, i);
            for (int v = 0; v < NV; ++v)
                previous[v] = hn::MulAdd(hn::MulAdd(hn::Set(d, step[0]), cos2[v], hn::Set(d, step[1])),
                                         current[v], previous[v]);
            emit(previous, i + 1);
            for (int v = 0; v < NV; ++v)
                current[v] = hn::MulAdd(hn::MulAdd(hn::Set(d, step[2]), cos2[v], hn::Set(d, step[3])),
                                        previous[v], current[v]);
        }
    }
};

/// Adds f_k lam_i of one field to the lanes of sums[i - begin][k], k = even re, even im, odd re, odd im, for
/// the steps i from `begin` to `end`. sums: those of step `begin`; stored: a RecurrenceState that was put
/// aside; f: [4][NV] vectors.
template <int NV>
HWY_NOINLINE void add_own_tile(double* HWY_RESTRICT stored, const double* HWY_RESTRICT steps,
                               std::int64_t begin, std::int64_t end, const double* HWY_RESTRICT f,
                               double* HWY_RESTRICT sums) {
    const D d;
    sums -= begin * 4 * lanes();
    V f_m[4][NV];
    for (int k = 0; k < 4; ++k)
        for (int v = 0; v < NV; ++v) f_m[k][v] = hn::Load(d, f + (k * NV + v) * lanes());
    auto add = [&](const V(&lam)[NV], std::int64_t i) HWY_ATTR {
        double* HWY_RESTRICT out = sums + i * 4 * lanes();
        V sum[4];
        for (int k = 0; k < 4; ++k) sum[k] = hn::Load(d, out + k * lanes());
        for (int v = 0; v < NV; ++v)
            for (int k = 0; k < 4; ++k) sum[k] = hn::MulAdd(f_m[k][v], lam[v], sum[k]);
        for (int k = 0; k < 4; ++k) hn::Store(sum[k], d, out + k * lanes());
    };
    if (HWY_UNLIKELY(!RecurrenceState<NV>::all_visible_in(stored))) {
        begin = enter_tile<NV>(stored, steps, begin, end, add).next;
        if (begin == end) return;
    }
    VisibleState<NV> state(stored);
    state.run(steps, begin, end, add);
    state.store(stored);
}

/// Adds the lanes of a tile's sums to out[k][i], rows `stride` apart.
inline void fold_own_tile(const double* HWY_RESTRICT sums, std::int64_t n_steps, double* HWY_RESTRICT out,
                          std::int64_t stride) {
    const D d;
    for (int k = 0; k < 4; ++k)
        for (std::int64_t i = 0; i < n_steps; i += lanes()) {
            V x[HWY_MAX_BYTES / sizeof(double)];
            for (std::int64_t j = 0; j < lanes(); ++j) x[j] = hn::Load(d, sums + ((i + j) * 4 + k) * lanes());
            add_horizontal_sums(x, out + k * stride + i);
        }
}

#if HWY_MAX_BYTES >= 64 && HWY_TARGET != HWY_SCALAR
/// The blocks of 128 bits 0 and 2 (Odd: 1 and 3) of a, then of b: for bytes Highway has no name for it.
template <bool Odd>
HWY_INLINE V alternate_blocks(V a, V b) {
    return V{_mm512_shuffle_f64x2(a.raw, b.raw, Odd ? 0xdd : 0x88)};
}
#endif

/// Transposes a square of as many vectors as they have lanes.
HWY_INLINE void transpose(V* HWY_RESTRICT x) {
#if HWY_TARGET != HWY_SCALAR
    const D d;
    constexpr std::int64_t n = lanes();
    V pairs[n];
    for (std::int64_t i = 0; i < n; i += 2) {
        pairs[i] = hn::InterleaveLower(d, x[i], x[i + 1]);
        pairs[i + 1] = hn::InterleaveUpper(d, x[i], x[i + 1]);
    }
#if HWY_MAX_BYTES >= 64
    for (int odd = 0; odd < 2; ++odd) {
        const V* p = pairs + odd;
        const V low = hn::ConcatLowerLower(d, p[2], p[0]), low2 = hn::ConcatLowerLower(d, p[6], p[4]);
        const V high = hn::ConcatUpperUpper(d, p[2], p[0]), high2 = hn::ConcatUpperUpper(d, p[6], p[4]);
        x[odd] = alternate_blocks<false>(low, low2);
        x[2 + odd] = alternate_blocks<true>(low, low2);
        x[4 + odd] = alternate_blocks<false>(high, high2);
        x[6 + odd] = alternate_blocks<true>(high, high2);
    }
#elif HWY_MAX_BYTES >= 32
    for (int odd = 0; odd < 2; ++odd) {
        x[odd] = hn::ConcatLowerLower(d, pairs[2 + odd], pairs[odd]);
        x[2 + odd] = hn::ConcatUpperUpper(d, pairs[2 + odd], pairs[odd]);
    }
#else
    for (std::int64_t i = 0; i < n; ++i) x[i] = pairs[i];
#endif
#else
    (void)x;
#endif
}

/// lam with the steps in the lanes: writes that of as many steps as there are lanes to lam[ring][0..], rows
/// shared_tile long. x: the steps; overwritten.
HWY_INLINE void store_transposed(V* HWY_RESTRICT x, double* HWY_RESTRICT lam) {
    const D d;
    transpose(x);
    for (std::int64_t j = 0; j < lanes(); ++j) hn::Store(x[j], d, lam + j * shared_tile);
}

/// lam with the steps in the lanes: writes that of the steps from `begin` to `end`, whole vectors of them, to
/// lam[ring][i], rows shared_tile long. rows: [i][NV] vectors.
template <int NV>
HWY_INLINE void transpose_rows(const double* HWY_RESTRICT rows, std::int64_t begin, std::int64_t end,
                               double* HWY_RESTRICT lam) {
    const D d;
    for (std::int64_t i = begin; i < end; i += lanes())
        for (int v = 0; v < NV; ++v) {
            V x[lanes()];
            for (std::int64_t j = 0; j < lanes(); ++j)
                x[j] = hn::Load(d, rows + ((i + j) * NV + v) * lanes());
            store_transposed(x, lam + v * lanes() * shared_tile + i);
        }
}

/// The steps of a tile that a group's lam takes in vectors of steps: at least two.
inline constexpr std::int64_t step_vector = lanes() > 1 ? lanes() : 2;

constexpr std::int64_t round_up_steps(std::int64_t n) {
    return (n + step_vector - 1) / step_vector * step_vector;
}

/// Writes lam of a group in a tile to lam[ring][i - begin], rows shared_tile long, zero where no lane is
/// visible and up to a whole vector behind `end`. Returns whether any lane was. rows: scratch,
/// [shared_tile][NV] vectors.
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
            std::fill(lam + ring * shared_tile, lam + ring * shared_tile + visible, 0.0);
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
                store_transposed(x[v] + part, lam + v * lanes() * shared_tile + i + part);
    }
    if (i < n_steps) {
        state.run(steps, begin + i, end, keep);
        std::fill(rows + n_steps * row, rows + round_up_steps(n_steps) * row, 0.0);
        transpose_rows<NV>(rows, i, round_up_steps(n_steps), lam);
    }
    state.store(stored);
    return any_visible;
}

/// Vectors of steps that add_products takes at once: with four sums each, as many as the registers hold.
inline constexpr int product_vectors = HWY_MAX_BYTES >= 64 ? 6 : 3;

/// Adds sum over rings of f[ring][k] lam[ring][i] to sums[k][i], for n_steps steps i, whole vectors. Rows of
/// lam: shared_tile, of sums: stride.
template <int NV = product_vectors>
HWY_NOINLINE void add_products(const double* HWY_RESTRICT f, const double* HWY_RESTRICT lam,
                               std::int64_t n_rings, std::int64_t n_steps, double* HWY_RESTRICT sums,
                               std::int64_t stride) {
    const D d;
    std::int64_t i = 0;
    for (; i + NV * lanes() <= n_steps; i += NV * lanes()) {
        V sum[4][NV];
        for (int k = 0; k < 4; ++k)
            for (int v = 0; v < NV; ++v) sum[k][v] = hn::LoadU(d, sums + k * stride + i + v * lanes());
        for (std::int64_t ring = 0; ring < n_rings; ++ring) {
            V x[NV];
            for (int v = 0; v < NV; ++v) x[v] = hn::Load(d, lam + ring * shared_tile + i + v * lanes());
            for (int k = 0; k < 4; ++k) {
                const V weight = hn::Set(d, f[ring * 4 + k]);
                for (int v = 0; v < NV; ++v) sum[k][v] = hn::MulAdd(weight, x[v], sum[k][v]);
            }
        }
        for (int k = 0; k < 4; ++k)
            for (int v = 0; v < NV; ++v) hn::StoreU(sum[k][v], d, sums + k * stride + i + v * lanes());
    }
    if constexpr (NV > 1) {
        if (i < n_steps) add_products<(NV + 1) / 2>(f, lam + i, n_rings, n_steps - i, sums + i, stride);
    }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
