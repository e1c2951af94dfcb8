#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "grids/healpix_pixel.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::healpix {
namespace {

using core::pi;

/// Half of the longitude that a disc covers on a ring: negative for none, pi for all of it.
// Half-angle formula of the spherical triangle of sides radius, theta, theta_0 for the angle at the pole,
//   tan^2(phi/2) = sin((radius + theta - theta_0)/2) sin((radius - theta + theta_0)/2)
//                / (sin((theta + theta_0 + radius)/2) sin((theta + theta_0 - radius)/2)),
// which keeps its digits for discs of any size.
double half_width(double theta, double theta_0, double radius) {
    const double over = std::sin((radius + theta - theta_0) / 2) * std::sin((radius - theta + theta_0) / 2);
    const double under = std::sin((theta + theta_0 + radius) / 2) * std::sin((theta + theta_0 - radius) / 2);
    if (over < 0) return -1;
    if (under <= 0) return pi;
    return 2 * std::atan2(std::sqrt(over), std::sqrt(under));
}

/// Adds the pixels of a ring from phi - width to phi + width.
void add_ranges(std::vector<PixelRange>& ranges, std::int64_t ring_index, const Ring& ring, double phi,
                double width) {
    const double per_radian = static_cast<double>(ring.n_pixels) / (2 * pi), from_first = phi - ring.phi_0;
    const auto west = static_cast<std::int64_t>(std::ceil((from_first - width) * per_radian));
    const auto east = static_cast<std::int64_t>(std::floor((from_first + width) * per_radian));
    const std::int64_t begin = ring.first_pixel, end = begin + ring.n_pixels;
    if (east < west) return;
    if (width >= pi || east - west + 1 >= ring.n_pixels) {
        ranges.push_back({ring_index, begin, end});
        return;
    }
    const std::int64_t first = begin + (west + ring.n_pixels) % ring.n_pixels, past = first + east - west + 1;
    if (past > end) ranges.push_back({ring_index, begin, past - ring.n_pixels});
    ranges.push_back({ring_index, first, std::min(past, end)});
}

}  // namespace

std::vector<PixelRange> query_disc(std::int64_t nside, const Angles& centre, double radius) {
    const std::int64_t n = n_rings(nside);
    const double phi = to_direction(centre).phi;
    if (!(radius >= 0 && radius <= pi))
        throw InvalidArgument(fmt::format("radius = {}: must be from 0 to pi", radius));
    // The rings that the disc can reach; one more at each end against rounding.
    const Angles top{std::max(0.0, centre.theta - radius), 0}, bottom{std::min(pi, centre.theta + radius), 0};
    const std::int64_t first = std::max<std::int64_t>(0, ring_above(nside, to_direction(top)));
    const std::int64_t last = std::min(n - 1, ring_above(nside, to_direction(bottom)) + 1);
    std::vector<PixelRange> ranges;
    for (std::int64_t index = first; index <= last; ++index) {
        const Ring row = ring(nside, index);
        const double width = half_width(row.theta, centre.theta, radius);
        if (width >= 0) add_ranges(ranges, index, row, phi, width);
    }
    return ranges;
}

}  // namespace zonal::healpix
