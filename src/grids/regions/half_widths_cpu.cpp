#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grids/regions/half_widths_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "grids/batch/directions-inl.hpp"
#include "grids/regions/half_widths.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::healpix::HWY_NAMESPACE {

// Half-angle formula of the spherical triangle of sides radius, theta, theta_0 for the angle at the pole,
//   tan^2(phi/2) = sin((radius + theta - theta_0)/2) sin((radius - theta + theta_0)/2)
//                / (sin((theta + theta_0 + radius)/2) sin((theta + theta_0 - radius)/2)),
// which keeps its digits for discs of any size.
HWY_INLINE V half_width(V theta, double theta_0, double radius) {
    const D d;
    const V half = real(0.5), zero = hn::Zero(d), away = theta - real(theta_0), sum = theta + real(theta_0);
    const V r = real(radius);
    const V over = hn::Sin(d, (r + away) * half) * hn::Sin(d, (r - away) * half);
    const V under = hn::Sin(d, (sum + r) * half) * hn::Sin(d, (sum - r) * half);
    const V angle = upper_angle(hn::Sqrt(hn::Max(over, zero)), hn::Sqrt(hn::Max(under, zero)));
    const V inside = select(hn::Le(under, zero), real(core::pi), angle + angle);
    return select(hn::Lt(over, zero), real(-1), inside);
}

void half_width_lanes(std::int64_t nside, const Disc& disc, std::int64_t first_row, double* widths,
                      std::int64_t n) {
    const D d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const V last = real(4 * sphere.real_nside), row = hn::Iota(d, static_cast<double>(first_row + at));
        const V width = half_width(theta_of_row(sphere, hn::Min(row, last)), disc.theta, disc.radius);
        HWY_ALIGN double values[8];
        hn::Store(width, d, values);
        std::copy_n(values, std::min(lanes(), n - at), widths + at);
    }
}

}  // namespace zonal::healpix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::healpix {

HWY_EXPORT(half_width_lanes);

void half_widths(std::int64_t nside, const Disc& disc, std::int64_t first_row, std::span<double> widths) {
    HWY_DYNAMIC_DISPATCH(half_width_lanes)(nside, disc, first_row, widths.data(), std::ssize(widths));
}

}  // namespace zonal::healpix
#endif
