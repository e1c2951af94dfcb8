#include "beams/harmonics.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "beams/harmonics.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace zonal::beams::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;

void harmonics(const double* HWY_RESTRICT x, std::int64_t count, std::int64_t kmax,
               double* HWY_RESTRICT cosines, double* HWY_RESTRICT sines, std::int64_t stride) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::fill_n(cosines, count, 1.0);
    std::fill_n(sines, count, 0.0);
    if (kmax == 0) return;
    constexpr double largest = 30000;  // for which the vector functions are
    double *const c = cosines + stride, *const s = sines + stride;
    std::int64_t first = 0;
    if (std::all_of(x, x + count, [](double angle) { return std::abs(angle) <= largest; }))
        for (; first + lanes <= count; first += lanes) {
            const auto angle = hn::LoadU(d, x + first);
            hn::StoreU(hn::Cos(d, angle), d, c + first);
            hn::StoreU(hn::Sin(d, angle), d, s + first);
        }
    for (; first < count; ++first) {
        c[first] = std::cos(x[first]);
        s[first] = std::sin(x[first]);
    }
    for (std::int64_t k = 2; k <= kmax; ++k)
        for (std::int64_t i = 0; i < count; ++i) {
            const double a = cosines[(k - 1) * stride + i], b = sines[(k - 1) * stride + i];
            cosines[k * stride + i] = a * c[i] - b * s[i];
            sines[k * stride + i] = b * c[i] + a * s[i];
        }
}

}  // namespace zonal::beams::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::beams {

HWY_EXPORT(harmonics);

void make_harmonics(const double* x, std::int64_t count, std::int64_t kmax, double* cosines, double* sines,
                    std::int64_t stride) {
    HWY_DYNAMIC_DISPATCH(harmonics)(x, count, kmax, cosines, sines, stride);
}

}  // namespace zonal::beams
#endif
