// Numbers far below the range of double: value * 2^(scale_step * scale), one scale per lane.
// Included once per SIMD target (no include guard of the usual kind).

#if defined(ZONAL_SHT_SCALED_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SCALED_INL_HPP
#undef ZONAL_SHT_SCALED_INL_HPP
#else
#define ZONAL_SHT_SCALED_INL_HPP
#endif

#include <hwy/highway.h>

#include "sht/rings/ring_pairs.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, block_size>;
using V = hn::Vec<D>;
HWY_INLINE constexpr std::int64_t lanes() {
    return static_cast<std::int64_t>(HWY_MAX_BYTES / sizeof(double)) < block_size
               ? static_cast<std::int64_t>(HWY_MAX_BYTES / sizeof(double))
               : block_size;
}

/// A recurrence runs over values from 2^visible up to 2^(visible + scale_step); what is smaller has scale <
/// 0. Below 2^visible a term adds nothing to a sum of order 1: 2^-60 would do, the rest covers the growth
/// between two checks.
inline constexpr double scale_step = 800;
inline constexpr double visible = -66;

struct Scaled {
    V value;
    V scale;  ///< <= 0, integer
};

/// A sum of logarithms in two doubles per lane.
struct LogSum {
    V high, low;

    /// Adds power * table[ring..].
    HWY_INLINE void add(double power, const LogTable& table, std::int64_t ring) {
        const D d;
        const V p = hn::Set(d, power), t = hn::LoadU(d, table.high.data() + ring);
        const V product = hn::Mul(p, t);  // exact, see LogTable
        const V sum = hn::Add(high, product);
        const V part = hn::Sub(sum, high);  // Knuth's two-sum
        const V sum_error = hn::Add(hn::Sub(high, hn::Sub(sum, part)), hn::Sub(product, part));
        high = sum;
        low = hn::Add(low, hn::Add(sum_error, hn::Mul(p, hn::LoadU(d, table.low.data() + ring))));
    }
};

/// 2^x for |x| up to 1/2 and a little more: the series of e^(x ln 2), whose rest is below 2^-57 there.
HWY_INLINE V exp2_of_fraction(V x) {
    constexpr double c[] = {1.0,
                            6.9314718055994530942e-01,
                            2.4022650695910071233e-01,
                            5.5504108664821579953e-02,
                            9.6181291076284771620e-03,
                            1.3333558146428443423e-03,
                            1.5403530393381609954e-04,
                            1.5252733804059840280e-05,
                            1.3215486790144309488e-06,
                            1.0178086009239699727e-07,
                            7.0549116208011233299e-09,
                            4.4455382718708114975e-10,
                            2.5678435993488205141e-11,
                            1.3691488853904128881e-12};
    const D d;
    V sum = hn::Set(d, c[13]);
    for (int k = 12; k >= 0; --k) sum = hn::MulAdd(sum, x, hn::Set(d, c[k]));
    return sum;
}

/// sign * 2^log.
HWY_INLINE Scaled exp2_scaled(const LogSum& log, double sign) {
    const D d;
    const hn::RebindToSigned<D> di;
    const V units = hn::Floor(hn::Mul(hn::Sub(log.high, hn::Set(d, visible)), hn::Set(d, 1 / scale_step)));
    const V scale = hn::Min(units, hn::Zero(d));
    // The fraction is taken before the scale's multiple is added to the whole part, so that both are exact.
    const V nearest = hn::Round(log.high);
    const V fraction = hn::Add(hn::Sub(log.high, nearest), log.low);
    const V whole = hn::NegMulAdd(scale, hn::Set(d, scale_step), nearest);
    const V mantissa = exp2_of_fraction(fraction);
    // The sum's last bits are the integer whole + 1023; AVX2 has no conversion to 64-bit integers.
    const auto exponent = hn::ShiftLeft<52>(hn::BitCast(di, hn::Add(whole, hn::Set(d, 0x1.8p52 + 1023))));
    return {hn::Mul(hn::Set(d, sign), hn::Mul(mantissa, hn::BitCast(d, exponent))), scale};
}

/// Moves lanes whose current value has passed 2^(visible + scale_step) up by one scale. Returns whether any
/// moved.
HWY_INLINE bool promote(V& previous, V& current, V& scale) {
    const D d;
    const auto large = hn::Ge(hn::Abs(current), hn::Set(d, 0x1p734));
    if (HWY_LIKELY(hn::AllFalse(d, large))) return false;
    const V factor = hn::IfThenElse(large, hn::Set(d, 0x1p-800), hn::Set(d, 1.0));
    previous = hn::Mul(previous, factor);
    current = hn::Mul(current, factor);
    scale = hn::Add(scale, hn::IfThenElseZero(large, hn::Set(d, 1.0)));
    return true;
}

HWY_INLINE bool all_visible(V scale) {
    const D d;
    return hn::AllTrue(d, hn::Eq(scale, hn::Zero(d)));
}

HWY_INLINE bool none_visible(V scale) {
    const D d;
    return hn::AllFalse(d, hn::Eq(scale, hn::Zero(d)));
}

/// 1 in lanes with scale 0, else 0.
HWY_INLINE V visibility(V scale) {
    const D d;
    return hn::IfThenElseZero(hn::Eq(scale, hn::Zero(d)), hn::Set(d, 1.0));
}

/// The sums of the lanes of `lanes()` vectors.
HWY_INLINE V horizontal_sums(const V* HWY_RESTRICT x) {
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
    return hn::Add(same, crossed);
#elif HWY_MAX_BYTES >= 32 && HWY_TARGET != HWY_SCALAR
    const V a = hn::Add(hn::InterleaveLower(d, x[0], x[1]), hn::InterleaveUpper(d, x[0], x[1]));
    const V b = hn::Add(hn::InterleaveLower(d, x[2], x[3]), hn::InterleaveUpper(d, x[2], x[3]));
    return hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
#else
    HWY_ALIGN double sums[HWY_MAX_BYTES / sizeof(double)];
    for (std::int64_t k = 0; k < lanes(); ++k) sums[k] = hn::GetLane(hn::SumOfLanes(d, x[k]));
    return hn::Load(d, sums);
#endif
}

/// Writes the sums of the lanes of a tile's sums, n_sums of each step, to out[k][i], rows `stride` apart, or
/// adds them. Goes on behind the last step to a whole vector.
inline void fold_tile(const double* HWY_RESTRICT sums, std::int64_t n_steps, std::int64_t n_sums, bool add,
                      double* HWY_RESTRICT out, std::int64_t stride) {
    const D d;
    for (std::int64_t k = 0; k < n_sums; ++k)
        for (std::int64_t i = 0; i < n_steps; i += lanes()) {
            V x[HWY_MAX_BYTES / sizeof(double)];
            for (std::int64_t j = 0; j < lanes(); ++j)
                x[j] = hn::Load(d, sums + ((i + j) * n_sums + k) * lanes());
            double* const at = out + k * stride + i;
            const V sum = horizontal_sums(x);
            hn::StoreU(add ? hn::Add(hn::LoadU(d, at), sum) : sum, d, at);
        }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
