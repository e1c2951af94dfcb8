#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/constants.hpp"
#include "grids/healpix_pixel.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::healpix {
namespace {

/// Face east (+1) or west (-1) of a face in the same row of four.
std::int64_t beside(std::int64_t face, std::int64_t step) {
    return face / 4 * 4 + (face + step + 4) % 4;
}

// Gorski et al. (2005), figure 4: how the twelve faces touch. east, west: -1, 0 or 1, the side on which x and
// y leave the face (the corner where x = y = nside is its north, x = y = 0 its south). Across an edge between
// two faces of a cap the axes turn by a quarter, across the pole by a half. At the corners where three faces
// meet there is nothing.
std::optional<FacePixel> across(std::int64_t nside, FacePixel pixel, int x_side, int y_side) {
    const std::int64_t last = 2 * nside - 1, quarter = pixel.face % 4;
    const auto [face, x, y] = pixel;
    const bool opposite_corner = x_side * y_side < 0;
    switch (face / 4) {
        case 0:
            if (opposite_corner) return {};
            if (x_side > 0 && y_side > 0) return FacePixel{beside(face, 2), last - x, last - y};
            if (x_side > 0) return FacePixel{beside(face, 1), y, last - x};
            if (y_side > 0) return FacePixel{beside(face, -1), last - y, x};
            if (x_side < 0 && y_side < 0) return FacePixel{8 + quarter, x + nside, y + nside};
            if (x_side < 0) return FacePixel{4 + quarter, x + nside, y};
            return FacePixel{4 + (quarter + 1) % 4, x, y + nside};
        case 1:
            if (x_side * y_side > 0) return {};
            if (opposite_corner)
                return FacePixel{beside(face, x_side), x - x_side * nside, y - y_side * nside};
            if (x_side > 0) return FacePixel{quarter, x - nside, y};
            if (y_side > 0) return FacePixel{beside(quarter, -1), x, y - nside};
            if (x_side < 0) return FacePixel{beside(8 + quarter, -1), x + nside, y};
            return FacePixel{8 + quarter, x, y + nside};
        default:
            if (opposite_corner) return {};
            if (x_side < 0 && y_side < 0) return FacePixel{beside(face, 2), -1 - x, -1 - y};
            if (x_side < 0) return FacePixel{beside(face, -1), y, -1 - x};
            if (y_side < 0) return FacePixel{beside(face, 1), -1 - y, x};
            if (x_side > 0 && y_side > 0) return FacePixel{quarter, x - nside, y - nside};
            if (x_side > 0) return FacePixel{4 + (quarter + 1) % 4, x - nside, y};
            return FacePixel{4 + quarter, x, y - nside};
    }
}

/// -1 below 0, 1 from nside on, else 0.
int side(std::int64_t nside, std::int64_t coordinate) {
    return coordinate < 0 ? -1 : coordinate >= nside ? 1 : 0;
}

}  // namespace

std::array<std::int64_t, 8> neighbours(std::int64_t nside, Order order, std::int64_t pixel) {
    check_pixel(nside, order, pixel);
    const FacePixel centre = to_face_pixel(nside, order, pixel);
    std::array<std::int64_t, 8> found{};
    for (std::size_t direction = 0; direction < found.size(); ++direction) {
        const FacePixel step{centre.face, centre.x + neighbour_steps_x[direction],
                             centre.y + neighbour_steps_y[direction]};
        const int x_side = side(nside, step.x), y_side = side(nside, step.y);
        const auto neighbour =
            x_side == 0 && y_side == 0 ? std::optional(step) : across(nside, step, x_side, y_side);
        found[direction] = neighbour ? to_pixel(nside, order, *neighbour) : -1;
    }
    return found;
}

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
