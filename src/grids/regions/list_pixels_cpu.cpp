#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grids/regions/list_pixels_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "core/interruption.hpp"
#include "grids/regions/region_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::healpix::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void list_lanes(const Ranges& ranges, std::int64_t* pixels) {
    const hn::ScalableTag<std::int64_t> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto step = hn::Set(d, lanes);
    constexpr std::int64_t most = 1 << 20;  // between polls, which cost as much as some tens of pixels
    const core::InterruptionPoll poll;
    std::int64_t left = most;
    for (const auto& [first, last] : ranges)
        for (auto pixel = first; pixel < last;) {
            if (left == 0) {
                poll();
                left = most;
            }
            const auto end = std::min(last, pixel + left);
            left -= end - pixel;
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
