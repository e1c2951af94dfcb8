#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grids/regions/list_pixels_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "grids/regions/region_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::healpix::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void list_lanes(const Ranges& ranges, std::int64_t* pixels) {
    const hn::ScalableTag<std::int64_t> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto step = hn::Set(d, lanes);
    for (auto [pixel, end] : ranges) {
        auto numbers = hn::Iota(d, pixel);
        for (; pixel + lanes <= end; pixel += lanes, pixels += lanes) {
            hn::StoreU(numbers, d, pixels);
            numbers = hn::Add(numbers, step);
        }
        while (pixel < end) *pixels++ = pixel++;
    }
}

}  // namespace zonal::healpix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::healpix {

HWY_EXPORT(list_lanes);

void list_contiguous(const Ranges& ranges, std::int64_t* pixels) {
    HWY_DYNAMIC_DISPATCH(list_lanes)(ranges, pixels);
}

}  // namespace zonal::healpix
#endif
