// Vectors of doubles as the kernels of points take them. Included once per SIMD target.

#if defined(ZONAL_POINTS_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_POINTS_LANES_INL_HPP
#undef ZONAL_POINTS_LANES_INL_HPP
#else
#define ZONAL_POINTS_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace zonal::points::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::int64_t lanes() {
    return HWY_TARGET == HWY_SCALAR ? 1 : std::min<std::int64_t>(HWY_MAX_BYTES / sizeof(double), 8);
}

}  // namespace zonal::points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ZONAL_POINTS_LANES_INL_HPP
