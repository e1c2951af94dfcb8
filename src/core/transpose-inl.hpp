// Squares of vectors. Included once per SIMD target.

#if defined(ZONAL_CORE_TRANSPOSE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_CORE_TRANSPOSE_INL_HPP
#undef ZONAL_CORE_TRANSPOSE_INL_HPP
#else
#define ZONAL_CORE_TRANSPOSE_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace zonal::core::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_MAX_BYTES >= 64 && HWY_TARGET != HWY_SCALAR
/// The blocks of 128 bits 0 and 2 (Odd: 1 and 3) of a, then of b: for bytes Highway has no name for it.
template <bool Odd>
HWY_INLINE hn::Vec<hn::CappedTag<double, 8>> alternate_blocks(hn::Vec<hn::CappedTag<double, 8>> a,
                                                              hn::Vec<hn::CappedTag<double, 8>> b) {
    return hn::Vec<hn::CappedTag<double, 8>>{_mm512_shuffle_f64x2(a.raw, b.raw, Odd ? 0xdd : 0x88)};
}
#endif

/// Transposes a square of as many vectors as they have lanes, the machine's widest.
template <class D>
HWY_INLINE void transpose(D d, hn::Vec<D>* HWY_RESTRICT x) {
#if HWY_TARGET != HWY_SCALAR
    using V = hn::Vec<D>;
    constexpr std::int64_t n = HWY_MAX_BYTES / sizeof(double);
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
    (void)d;
    (void)x;
#endif
}

}  // namespace zonal::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
