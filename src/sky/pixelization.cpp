// What pixels a map has.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sht/analysis/field_math.hpp"
#include "zonal/memory.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal {

std::string to_string(const Pixelization& pixelization) {
    if (const auto* pixels = std::get_if<HealpixPixels>(&pixelization))
        return fmt::format("nside {}, {}", pixels->nside,
                           pixels->ordering == healpix::Order::nest ? "nest" : "ring");
    const auto& car = std::get<CarPixels>(pixelization);
    const double half_a_pixel = std::numbers::pi / static_cast<double>(car.n_phi);
    return fmt::format("CAR, {} rings of {} pixels{}{}", car.n_rings, car.n_phi,
                       car.phi_0 == half_a_pixel ? ""
                                                 : fmt::format(" from longitude {:.6g} degrees",
                                                               car.phi_0 * 180 / std::numbers::pi),
                       car.poles ? ", poles included" : "");
}

std::int64_t full_sky_size(const Pixelization& pixelization) {
    if (const auto* pixels = std::get_if<HealpixPixels>(&pixelization))
        return 12 * pixels->nside * pixels->nside;
    const auto& car = std::get<CarPixels>(pixelization);
    return car.n_rings * car.n_phi;
}

std::int64_t ring_count(const Pixelization& pixelization) {
    const auto* pixels = std::get_if<HealpixPixels>(&pixelization);
    return pixels != nullptr ? 4 * pixels->nside - 1 : std::get<CarPixels>(pixelization).n_rings;
}

bool same_pixels(const Pixelization& a, const Pixelization& b) {
    const auto *healpix_a = std::get_if<HealpixPixels>(&a), *healpix_b = std::get_if<HealpixPixels>(&b);
    if (healpix_a && healpix_b) return healpix_a->nside == healpix_b->nside;
    if (healpix_a || healpix_b) return false;
    // Headers of two patches of one grid round phi_0 differently.
    constexpr double rounding = 1e-6;  // in pixels
    auto car = std::get<CarPixels>(a);
    const auto& other = std::get<CarPixels>(b);
    const double apart = std::abs(car.phi_0 - other.phi_0) * static_cast<double>(other.n_phi);
    if (apart < 2 * std::numbers::pi * rounding) car.phi_0 = other.phi_0;
    return car == other;
}

Grid make_grid(const Pixelization& pixelization) {
    require_memory(static_cast<double>(ring_count(pixelization)) * sizeof(Ring),
                   to_string(pixelization) + ": a grid");
    if (const auto* pixels = std::get_if<HealpixPixels>(&pixelization)) return Grid::healpix(pixels->nside);
    const auto& car = std::get<CarPixels>(pixelization);
    return car.poles ? Grid::clenshaw_curtis(car.n_rings, car.n_phi, car.phi_0)
                     : Grid::fejer1(car.n_rings, car.n_phi, car.phi_0);
}

std::int64_t nearest_pixel(const Grid& grid, double theta, double phi) {
    const auto& rings = grid.rings();  // from north to south
    const auto below = std::lower_bound(rings.begin(), rings.end(), theta,
                                        [](const Ring& ring, double angle) { return ring.theta < angle; });
    auto ring = below == rings.end() ? below - 1 : below;
    if (ring != rings.begin() && theta - (ring - 1)->theta < ring->theta - theta) --ring;
    return ring->first_pixel + sht::nearest_on_ring(phi, ring->phi_0, ring->n_pixels);
}

}  // namespace zonal
