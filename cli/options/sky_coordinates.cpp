#include "options/sky_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal::cli {
namespace {

/// R^T v
healpix::Vector turn_back(const RotationMatrix& rotation, const healpix::Vector& v) {
    healpix::Vector result = {};
    for (std::size_t column = 0; column < 3; ++column)
        for (std::size_t row = 0; row < 3; ++row) result[column] += rotation[row][column] * v[row];
    return result;
}

}  // namespace

std::int64_t nearest_pixel(const Grid& grid, double theta, double phi) {
    const auto& rings = grid.rings();  // from north to south
    const auto below = std::lower_bound(rings.begin(), rings.end(), theta,
                                        [](const Ring& ring, double angle) { return ring.theta < angle; });
    auto ring = below == rings.end() ? below - 1 : below;
    if (ring != rings.begin() && theta - (ring - 1)->theta < std::abs(ring->theta - theta)) --ring;
    const auto step = 2 * std::numbers::pi / static_cast<double>(ring->n_pixels);
    const auto index = std::llround((phi - ring->phi_0) / step);
    return ring->first_pixel + (index % ring->n_pixels + ring->n_pixels) % ring->n_pixels;
}

void carry_unseen(const SkyMap& from, View<const double, 1> from_row, const RotationMatrix& rotation,
                  const SkyMap& to, View<double, 1> to_row) {
    const auto any = std::any_of(from_row.data(), from_row.data() + from_row.size(), is_unseen_value);
    if (!any) return;
    for (const auto& ring : to.grid().rings())
        for (std::int64_t i = 0; i < ring.n_pixels; ++i) {
            const double phi = ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(i) /
                                                static_cast<double>(ring.n_pixels);
            const auto v = turn_back(
                rotation, {ring.sin_theta * std::cos(phi), ring.sin_theta * std::sin(phi), ring.cos_theta});
            const auto pixel = from.nside() > 0
                                   ? healpix::vec2pix(from.nside(), healpix::Order::ring, v)
                                   : nearest_pixel(from.grid(), std::atan2(std::hypot(v[0], v[1]), v[2]),
                                                   std::atan2(v[1], v[0]));
            if (is_unseen_value(from_row[pixel])) to_row[ring.first_pixel + i] = unseen_value;
        }
}

}  // namespace zonal::cli
