// Sums over the lanes of vectors. Included once per SIMD target.

#if defined(ZONAL_SHT_LANE_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_LANE_SUMS_INL_HPP
#undef ZONAL_SHT_LANE_SUMS_INL_HPP
#else
#define ZONAL_SHT_LANE_SUMS_INL_HPP
#endif

#include <hwy/highway.h>

#include "sht/legendre/scaled-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

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

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
