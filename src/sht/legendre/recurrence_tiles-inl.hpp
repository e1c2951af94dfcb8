// Ishioka's recurrence in tiles of steps, after which a group of ring vectors is put aside. Included once per
// SIMD target.

#if defined(ZONAL_SHT_RECURRENCE_TILES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_RECURRENCE_TILES_INL_HPP
#undef ZONAL_SHT_RECURRENCE_TILES_INL_HPP
#else
#define ZONAL_SHT_RECURRENCE_TILES_INL_HPP
#endif

#include <hwy/highway.h>

#include "sht/legendre/scalar_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

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

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
