// The Legendre stage away from the poles: Ishioka's recurrence for a group of ring vectors held in registers,
// the synthesis of several fields at once, and the adjoint of one. Included once per SIMD target.

#if defined(ZONAL_SHT_SCALAR_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SCALAR_KERNELS_INL_HPP
#undef ZONAL_SHT_SCALAR_KERNELS_INL_HPP
#else
#define ZONAL_SHT_SCALAR_KERNELS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "sht/legendre/legendre.hpp"
#include "sht/legendre/scaled-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// One step of the recurrence; step: A_i, B_i. previous: lam_{i-1}, becomes lam_{i+1}.
template <int NV>
HWY_INLINE void advance(const double* HWY_RESTRICT step, const V (&cos2)[NV], const V (&current)[NV],
                        V (&previous)[NV]) {
    const D d;
    for (int v = 0; v < NV; ++v) {
        const V t = hn::MulAdd(hn::Set(d, step[0]), cos2[v], hn::Set(d, step[1]));
        previous[v] = hn::MulAdd(t, current[v], previous[v]);
    }
}

/// A group of NV vectors of neighbouring ring pairs and where the recurrence stands in each lane.
template <int NV>
struct RecurrenceState {
    V previous[NV];  ///< lam_{i-1}
    V current[NV];   ///< lam_i
    V scale[NV];
    V cos2[NV];

    HWY_INLINE RecurrenceState(const LegendreOrder& order, std::int64_t ring) {
        const D d;
        const LegendreTable& table = order.table;
        const RingPairs& rings = order.rings;
        const std::int64_t m = order.m;
        const double sign = m % 2 == 0 ? 1 : -1;
        for (int v = 0; v < NV; ++v) {
            const std::int64_t first = ring + v * lanes();
            LogSum log{hn::Set(d, table.log2_scalar.high[m]), hn::Set(d, table.log2_scalar.low[m])};
            log.add(static_cast<double>(m), rings.log2_sin, first);
            const Scaled start = exp2_scaled(log, sign);
            previous[v] = hn::Zero(d);
            current[v] = start.value;
            scale[v] = start.scale;
            cos2[v] = hn::LoadU(d, rings.cos2_theta.data() + first);
        }
    }

    /// A group is put aside vector by vector: lam_{i-1}, lam_i, scale and cos^2 theta of each.
    template <class T>
    static T* previous_at(T* from, int v) {
        return from + 4 * v * lanes();
    }
    template <class T>
    static T* current_at(T* from, int v) {
        return from + (4 * v + 1) * lanes();
    }
    template <class T>
    static T* scale_at(T* from, int v) {
        return from + (4 * v + 2) * lanes();
    }
    template <class T>
    static T* cos2_at(T* from, int v) {
        return from + (4 * v + 3) * lanes();
    }

    HWY_INLINE explicit RecurrenceState(const double* HWY_RESTRICT from) {
        const D d;
        for (int v = 0; v < NV; ++v) {
            previous[v] = hn::Load(d, previous_at(from, v));
            current[v] = hn::Load(d, current_at(from, v));
            scale[v] = hn::Load(d, scale_at(from, v));
            cos2[v] = hn::Load(d, cos2_at(from, v));
        }
    }

    HWY_INLINE void store(double* HWY_RESTRICT to) const {
        const D d;
        for (int v = 0; v < NV; ++v) {
            hn::Store(previous[v], d, previous_at(to, v));
            hn::Store(current[v], d, current_at(to, v));
            hn::Store(scale[v], d, scale_at(to, v));
            hn::Store(cos2[v], d, cos2_at(to, v));
        }
    }

    static HWY_INLINE bool all_visible_in(const double* HWY_RESTRICT from) {
        const D d;
        V least = hn::Load(d, scale_at(from, 0));
        for (int v = 1; v < NV; ++v) least = hn::Min(least, hn::Load(d, scale_at(from, v)));
        return all_visible(least);
    }

    /// Two recurrence steps; step: A_i, B_i; the next step lies `stride` further.
    HWY_INLINE void advance_two(const double* HWY_RESTRICT step, std::int64_t stride) {
        advance(step, cos2, current, previous);
        advance(step + stride, cos2, previous, current);
    }

    HWY_INLINE bool promote_lanes() {
        const D d;
        V largest = hn::Abs(current[0]);
        for (int v = 1; v < NV; ++v) largest = hn::Max(largest, hn::Abs(current[v]));
        if (HWY_LIKELY(hn::AllFalse(d, hn::Ge(largest, hn::Set(d, 0x1p734))))) return false;
        for (int v = 0; v < NV; ++v) promote(previous[v], current[v], scale[v]);
        return true;
    }

    HWY_INLINE bool all_lanes_visible() const {
        bool all = true;
        for (int v = 0; v < NV; ++v) all = all && all_visible(scale[v]);
        return all;
    }

    HWY_INLINE bool no_lane_visible() const {
        bool none = true;
        for (int v = 0; v < NV; ++v) none = none && none_visible(scale[v]);
        return none;
    }

    /// Runs the recurrence from step i while no lane is visible; returns the step reached, `end` at most.
    HWY_INLINE std::int64_t skip_invisible(const double* HWY_RESTRICT steps, std::int64_t i, std::int64_t end,
                                           std::int64_t stride) {
        if (!no_lane_visible()) return i;
        while (i < end) {
            advance_two(steps + i * stride, stride);
            i += 2;
            if (promote_lanes() && !no_lane_visible()) break;
        }
        return i;
    }
};

/// Sums over degrees: even[f] = sum_i b_i lam_i, odd[f] = sum_i c_i lam_i, re and im, from the step on that
/// the group has reached. steps: [n_steps][2 + 4 NF] = A, B, then b re, b im, c re, c im per field. sums: [4
/// NF][NV].
template <int NV, int NF>
HWY_NOINLINE void synthesis_group(RecurrenceState<NV>& state, const double* HWY_RESTRICT steps,
                                  std::int64_t reached, std::int64_t n_steps, V (&result)[4 * NF][NV]) {
    constexpr std::int64_t stride = 2 + 4 * NF;
    const D d;
    V sum[4 * NF][NV];
    for (auto& row : sum)
        for (V& x : row) x = hn::Zero(d);
    std::int64_t i = state.skip_invisible(steps, reached, n_steps, stride);
    auto accumulate = [&](const double* HWY_RESTRICT step, const V(&lam)[NV], int first) HWY_ATTR {
        for (int k = 0; k < 4 * NF; ++k)
            for (int v = first; v < NV; ++v)
                sum[k][v] = hn::MulAdd(hn::Set(d, step[2 + k]), lam[v], sum[k][v]);
    };

    // Rings nearer to the equator become visible first: sums of the vectors from First on, until one before
    // them is visible, too, and of all until all lanes are.
    auto run_visible = [&]<int First>() HWY_ATTR {
        auto done = [&]() HWY_ATTR {
            if (First == 0) return state.all_lanes_visible();
            for (int v = 0; v < First; ++v)
                if (!none_visible(state.scale[v])) return true;
            return false;
        };
        while (i < n_steps && !done()) {
            V factor[NV], lam[NV];
            for (int v = First; v < NV; ++v) factor[v] = visibility(state.scale[v]);
            for (; i < n_steps; i += 2) {
                const double* step = steps + i * stride;
                for (int v = First; v < NV; ++v) lam[v] = hn::Mul(state.current[v], factor[v]);
                accumulate(step, lam, First);
                state.advance_two(step, stride);
                for (int v = First; v < NV; ++v) lam[v] = hn::Mul(state.previous[v], factor[v]);
                accumulate(step + stride, lam, First);
                if (state.promote_lanes()) {
                    i += 2;
                    break;
                }
            }
        }
    };
    [&]<int... Done>(std::integer_sequence<int, Done...>) HWY_ATTR {
        (run_visible.template operator()<NV - 1 - Done>(), ...);
    }
    (std::make_integer_sequence<int, NV>());

    V previous[NV], current[NV], cos2[NV];
    for (int v = 0; v < NV; ++v) {
        previous[v] = state.previous[v];
        current[v] = state.current[v];
        cos2[v] = state.cos2[v];
    }
    for (; i < n_steps; i += 2) {
        const double* HWY_RESTRICT step = steps + i * stride;
        accumulate(step, current, 0);
        advance(step, cos2, current, previous);
        step += stride;
        accumulate(step, previous, 0);
        advance(step, cos2, previous, current);
    }
    for (int k = 0; k < 4 * NF; ++k)
        for (int v = 0; v < NV; ++v) result[k][v] = sum[k][v];
}

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
        for (std::int64_t i = begin; i < end; i += 2) {
            emit(current, i);
            advance(steps + 2 * i, cos2, current, previous);
            emit(previous, i + 1);
            advance(steps + 2 * i + 2, cos2, previous, current);
        }
    }
};

// The adjoint of one field or two. Rings go through a tile of steps and are put aside, so that the tile's
// sums stay in the cache and nothing is summed over lanes before all rings have added to them.

/// Steps of a tile: a multiple of the lanes and of two.
inline constexpr std::int64_t own_tile = 64;

/// Vectors of rings that go through a tile together: what the first-level cache holds of them.
inline constexpr std::int64_t own_rings = 32;

/// Steps of two fields whose sums stay in registers while the rings pass.
inline constexpr int own_steps = HWY_MAX_BYTES >= 64 ? 2 : 1;

/// Vectors of a group some of whose lanes may be invisible. Its F_m stay in registers beside its recurrence.
constexpr int own_vectors(int n_fields) {
    return (HWY_MAX_BYTES >= 64 ? 4 : 2) / n_fields;
}

/// Adds f_k lam_i to the lanes of sums[i - begin][k], k = even re, even im, odd re, odd im of one field after
/// the other, for the steps i from `begin` to `end`; unless Add, writes what these would be to zeros. sums:
/// those of step `begin`; stored: a RecurrenceState that was put aside; f: [NV][4 NF] vectors.
template <int NF, int NV, bool Add>
HWY_NOINLINE void add_own_tile(double* HWY_RESTRICT stored, const double* HWY_RESTRICT steps,
                               std::int64_t begin, std::int64_t end, const double* HWY_RESTRICT f,
                               double* HWY_RESTRICT sums) {
    constexpr int n_sums = 4 * NF;
    const D d;
    const std::int64_t origin = begin;
    V f_m[NV][n_sums];
    for (int v = 0; v < NV; ++v)
        for (int k = 0; k < n_sums; ++k) f_m[v][k] = hn::Load(d, f + (v * n_sums + k) * lanes());
    auto add = [&](const V(&lam)[NV], std::int64_t i) HWY_ATTR {
        double* HWY_RESTRICT out = sums + (i - origin) * n_sums * lanes();
        for (int k = 0; k < n_sums; ++k) {
            V sum = Add ? hn::Load(d, out + k * lanes()) : hn::Zero(d);
            for (int v = 0; v < NV; ++v) sum = hn::MulAdd(f_m[v][k], lam[v], sum);
            hn::Store(sum, d, out + k * lanes());
        }
    };
    if (HWY_UNLIKELY(!RecurrenceState<NV>::all_visible_in(stored))) {
        const Entered entered = enter_tile<NV>(stored, steps, begin, end, add);
        if constexpr (!Add) std::fill_n(sums, (entered.first - begin) * n_sums * lanes(), 0.0);
        begin = entered.next;
        if (begin == end) return;
    }
    VisibleState<NV> state(stored);
    state.run(steps, begin, end, add);
    state.store(stored);
}

/// Keeps a value in a register that the compiler would read from memory again for every use.
HWY_INLINE V in_register(V value) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL && HWY_TARGET != HWY_SCALAR
    asm("" : "+v"(value.raw));
#endif
    return value;
}

/// Two fields, NS steps, and rings all of whose lanes are visible: adds f_k lam_j to the lanes of sums[j][k]
/// or, unless `add`, writes what these would be to zeros. Swapped: lam_i lies where lam_{i-1} does otherwise;
/// NS is one.
template <int NS, bool Swapped = false>
HWY_NOINLINE void add_visible_steps(double* HWY_RESTRICT stored, std::int64_t n_vectors,
                                    const double* HWY_RESTRICT steps, const double* HWY_RESTRICT f,
                                    double* HWY_RESTRICT sums, bool add) {
    using State = RecurrenceState<1>;
    constexpr int n_sums = 8;
    const D d;
    V sum[NS][n_sums], a[NS], b[NS];
    for (int j = 0; j < NS; ++j) {
        a[j] = hn::Set(d, steps[2 * j]);
        b[j] = hn::Set(d, steps[2 * j + 1]);
        for (int k = 0; k < n_sums; ++k)
            sum[j][k] = add ? hn::Load(d, sums + (j * n_sums + k) * lanes()) : hn::Zero(d);
    }
    for (std::int64_t v = 0; v < n_vectors; ++v, stored += 4 * lanes(), f += n_sums * lanes()) {
        double *const here = State::current_at(stored, 0), *const before = State::previous_at(stored, 0);
        const V cos2 = in_register(hn::Load(d, State::cos2_at(stored, 0)));
        V lam[NS + 2];
        lam[0] = hn::Load(d, Swapped ? here : before);
        lam[1] = hn::Load(d, Swapped ? before : here);
        for (int j = 0; j < NS; ++j)
            lam[j + 2] = hn::MulAdd(hn::MulAdd(a[j], cos2, b[j]), lam[j + 1], lam[j]);
        if constexpr (NS > 1) hn::Store(lam[NS], d, before);
        hn::Store(lam[NS + 1], d, NS == 1 && !Swapped ? before : here);
        for (int k = 0; k < n_sums; ++k) {
            const V weight = in_register(hn::Load(d, f + k * lanes()));
            for (int j = 0; j < NS; ++j) sum[j][k] = hn::MulAdd(weight, lam[j + 1], sum[j][k]);
        }
    }
    for (int j = 0; j < NS; ++j)
        for (int k = 0; k < n_sums; ++k) hn::Store(sum[j][k], d, sums + (j * n_sums + k) * lanes());
}

/// The same for the steps from `begin` to `end`.
inline void add_visible_tile(double* HWY_RESTRICT stored, std::int64_t n_vectors,
                             const double* HWY_RESTRICT steps, std::int64_t begin, std::int64_t end,
                             const double* HWY_RESTRICT f, double* HWY_RESTRICT sums, bool add) {
    auto at = [&](std::int64_t i) { return sums + (i - begin) * 8 * lanes(); };
    for (std::int64_t i = begin; i < end; i += 2)
        if constexpr (own_steps == 2) {
            add_visible_steps<2>(stored, n_vectors, steps + 2 * i, f, at(i), add);
        } else {
            add_visible_steps<1, false>(stored, n_vectors, steps + 2 * i, f, at(i), add);
            add_visible_steps<1, true>(stored, n_vectors, steps + 2 * i + 2, f, at(i + 1), add);
        }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
