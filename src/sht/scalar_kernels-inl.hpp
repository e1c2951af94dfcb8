// The inner loops of the Legendre stage away from the poles: Ishioka's recurrence for a group of ring vectors
// held in registers, for n_fields fields at once. Included once per SIMD target.

#if defined(ZONAL_SHT_SCALAR_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SCALAR_KERNELS_INL_HPP
#undef ZONAL_SHT_SCALAR_KERNELS_INL_HPP
#else
#define ZONAL_SHT_SCALAR_KERNELS_INL_HPP
#endif

#include <hwy/highway.h>

#include "sht/legendre.hpp"
#include "sht/scaled-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// A group of NV vectors of neighbouring ring pairs and where the recurrence stands in each lane.
template <int NV>
struct RecurrenceState {
    V previous[NV];  ///< lam_{i-1}
    V current[NV];   ///< lam_i
    V scale[NV];
    V cos2[NV];

    HWY_INLINE RecurrenceState(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                               std::int64_t ring) {
        const D d;
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

    /// Two recurrence steps; step: A_i, B_i; the next step lies `stride` further.
    HWY_INLINE void advance_two(const double* HWY_RESTRICT step, std::int64_t stride) {
        const D d;
        for (int v = 0; v < NV; ++v) {
            const V t = hn::MulAdd(hn::Set(d, step[0]), cos2[v], hn::Set(d, step[1]));
            previous[v] = hn::MulAdd(t, current[v], previous[v]);
        }
        for (int v = 0; v < NV; ++v) {
            const V t = hn::MulAdd(hn::Set(d, step[stride]), cos2[v], hn::Set(d, step[stride + 1]));
            current[v] = hn::MulAdd(t, previous[v], current[v]);
        }
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

    /// Runs the recurrence while no lane is visible; returns the step reached.
    HWY_INLINE std::int64_t skip_invisible(const double* HWY_RESTRICT steps, std::int64_t n_steps,
                                           std::int64_t stride) {
        std::int64_t i = 0;
        if (!no_lane_visible()) return i;
        while (i < n_steps) {
            advance_two(steps + i * stride, stride);
            i += 2;
            if (promote_lanes() && !no_lane_visible()) break;
        }
        return i;
    }
};

/// Sums over degrees: even[f] = sum_i b_i lam_i, odd[f] = sum_i c_i lam_i, re and im.
/// steps: [n_steps][2 + 4 NF] = A, B, then b re, b im, c re, c im per field. sums: [4 NF][NV].
template <int NV, int NF>
HWY_NOINLINE void synthesis_group(RecurrenceState<NV>& state, const double* HWY_RESTRICT steps,
                                  std::int64_t n_steps, V (&result)[4 * NF][NV]) {
    constexpr std::int64_t stride = 2 + 4 * NF;
    const D d;
    V sum[4 * NF][NV];
    for (auto& row : sum)
        for (V& x : row) x = hn::Zero(d);
    std::int64_t i = state.skip_invisible(steps, n_steps, stride);

    auto accumulate = [&](const double* HWY_RESTRICT step, const V(&lam)[NV]) HWY_ATTR {
        for (int k = 0; k < 4 * NF; ++k)
            for (int v = 0; v < NV; ++v) sum[k][v] = hn::MulAdd(hn::Set(d, step[2 + k]), lam[v], sum[k][v]);
    };

    while (i < n_steps && !state.all_lanes_visible()) {
        V factor[NV], lam[NV];
        for (int v = 0; v < NV; ++v) factor[v] = visibility(state.scale[v]);
        for (; i < n_steps; i += 2) {
            const double* step = steps + i * stride;
            for (int v = 0; v < NV; ++v) lam[v] = hn::Mul(state.current[v], factor[v]);
            accumulate(step, lam);
            state.advance_two(step, stride);
            for (int v = 0; v < NV; ++v) lam[v] = hn::Mul(state.previous[v], factor[v]);
            accumulate(step + stride, lam);
            if (state.promote_lanes()) {
                i += 2;
                break;
            }
        }
    }

    V previous[NV], current[NV], cos2[NV];
    for (int v = 0; v < NV; ++v) {
        previous[v] = state.previous[v];
        current[v] = state.current[v];
        cos2[v] = state.cos2[v];
    }
    for (; i < n_steps; i += 2) {
        const double* HWY_RESTRICT step = steps + i * stride;
        accumulate(step, current);
        for (int v = 0; v < NV; ++v)
            previous[v] = hn::MulAdd(hn::MulAdd(hn::Set(d, step[0]), cos2[v], hn::Set(d, step[1])),
                                     current[v], previous[v]);
        step += stride;
        accumulate(step, previous);
        for (int v = 0; v < NV; ++v)
            current[v] = hn::MulAdd(hn::MulAdd(hn::Set(d, step[0]), cos2[v], hn::Set(d, step[1])),
                                    previous[v], current[v]);
    }
    for (int k = 0; k < 4 * NF; ++k)
        for (int v = 0; v < NV; ++v) result[k][v] = sum[k][v];
}

/// Adds the horizontal sums of `lanes()` vectors to as many consecutive doubles.
HWY_INLINE void add_horizontal_sums(const V* HWY_RESTRICT x, double* HWY_RESTRICT out) {
    const D d;
#if HWY_MAX_BYTES >= 64 && HWY_TARGET != HWY_SCALAR
    // A transposing butterfly: each level halves the number of vectors. Blocks of 128 bits, then 256, then
    // 512. The last level leaves its blocks in the order 0, 2, 1, 3, hence the order of the inputs.
    auto fold128 = [&](V a, V b) HWY_ATTR {
        return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    };
    auto fold256 = [&](V a, V b) HWY_ATTR {
        return hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
    };
    const V low = fold256(fold128(x[0], x[1]), fold128(x[4], x[5]));
    const V high = fold256(fold128(x[2], x[3]), fold128(x[6], x[7]));
    const V same = hn::OddEvenBlocks(high, low),
            crossed = hn::SwapAdjacentBlocks(hn::OddEvenBlocks(low, high));
    hn::StoreU(hn::Add(hn::LoadU(d, out), hn::Add(same, crossed)), d, out);
#elif HWY_MAX_BYTES >= 32 && HWY_TARGET != HWY_SCALAR
    const V a = hn::Add(hn::InterleaveLower(d, x[0], x[1]), hn::InterleaveUpper(d, x[0], x[1]));
    const V b = hn::Add(hn::InterleaveLower(d, x[2], x[3]), hn::InterleaveUpper(d, x[2], x[3]));
    const V sum = hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
    hn::StoreU(hn::Add(hn::LoadU(d, out), sum), d, out);
#else
    for (std::int64_t k = 0; k < lanes(); ++k) out[k] += hn::GetLane(hn::SumOfLanes(d, x[k]));
#endif
}

/// The transpose of synthesis_group: adds sum over the group's rings of f[k] lam_i to sums[i][4 NF].
/// steps: [n_steps][2] = A, B. f: [4 NF][NV] = even re, even im, odd re, odd im per field.
/// sums: [n_steps][4 NF].
template <int NV, int NF>
HWY_NOINLINE void adjoint_group(RecurrenceState<NV>& state, const double* HWY_RESTRICT steps,
                                std::int64_t n_steps, const V (&f)[4 * NF][NV], double* HWY_RESTRICT sums) {
    constexpr std::int64_t stride = 2;
    const D d;
    std::int64_t i = state.skip_invisible(steps, n_steps, stride);

    // Horizontal sums take whole vectors of products: of one step where that is enough, else of two.
    constexpr std::int64_t n_products = 4 * NF;
    constexpr bool by_step = n_products % lanes() == 0;
    V products[2 * n_products];
    auto project = [&](const V(&lam)[NV], V* HWY_RESTRICT out) HWY_ATTR {
        for (std::int64_t k = 0; k < n_products; ++k) out[k] = hn::Mul(f[k][0], lam[0]);
        for (int v = 1; v < NV; ++v)
            for (std::int64_t k = 0; k < n_products; ++k) out[k] = hn::MulAdd(f[k][v], lam[v], out[k]);
    };
    auto add_first = [&](const V(&lam)[NV], std::int64_t step) HWY_ATTR {
        project(lam, products);
        if constexpr (by_step)
            for (std::int64_t k = 0; k < n_products; k += lanes())
                add_horizontal_sums(products + k, sums + step * n_products + k);
    };
    auto add_second = [&](const V(&lam)[NV], std::int64_t step) HWY_ATTR {
        if constexpr (by_step) return add_first(lam, step);
        project(lam, products + n_products);
        for (std::int64_t k = 0; k < 2 * n_products; k += lanes())
            add_horizontal_sums(products + k, sums + (step - 1) * n_products + k);
    };

    while (i < n_steps && !state.all_lanes_visible()) {
        V factor[NV], lam[NV];
        for (int v = 0; v < NV; ++v) factor[v] = visibility(state.scale[v]);
        for (; i < n_steps; i += 2) {
            for (int v = 0; v < NV; ++v) lam[v] = hn::Mul(state.current[v], factor[v]);
            add_first(lam, i);
            state.advance_two(steps + i * stride, stride);
            for (int v = 0; v < NV; ++v) lam[v] = hn::Mul(state.previous[v], factor[v]);
            add_second(lam, i + 1);
            if (state.promote_lanes()) {
                i += 2;
                break;
            }
        }
    }

    V previous[NV], current[NV], cos2[NV];
    for (int v = 0; v < NV; ++v) {
        previous[v] = state.previous[v];
        current[v] = state.current[v];
        cos2[v] = state.cos2[v];
    }
    for (; i < n_steps; i += 2) {
        const double* HWY_RESTRICT step = steps + i * stride;
        add_first(current, i);
        for (int v = 0; v < NV; ++v)
            previous[v] = hn::MulAdd(hn::MulAdd(hn::Set(d, step[0]), cos2[v], hn::Set(d, step[1])),
                                     current[v], previous[v]);
        add_second(previous, i + 1);
        for (int v = 0; v < NV; ++v)
            current[v] = hn::MulAdd(hn::MulAdd(hn::Set(d, step[2]), cos2[v], hn::Set(d, step[3])),
                                    previous[v], current[v]);
    }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
