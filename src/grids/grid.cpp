#include "zonal/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "zonal/error.hpp"

namespace zonal {

Ring make_ring(double theta, double phi_0, double weight, std::int64_t n_pixels, std::int64_t first_pixel) {
    return {theta, std::cos(theta), std::sin(theta), phi_0, weight, n_pixels, first_pixel};
}

Grid::Grid(std::vector<Ring> rings, std::int64_t n_map_pixels, std::string name)
    : rings_(std::move(rings)), n_pixels_(n_map_pixels), name_(std::move(name)) {
    std::int64_t end = 0;
    for (const Ring& ring : rings_) end = std::max(end, ring.first_pixel + ring.n_pixels);
    if (n_pixels_ < 0) n_pixels_ = end;
}

Grid Grid::healpix(std::int64_t nside) {
    std::vector<Ring> rings;
    const double weight = 4 * std::numbers::pi / (12.0 * nside * nside);
    std::int64_t first = 0;
    for (std::int64_t i = 1; i < 4 * nside; ++i) {
        const std::int64_t k = std::min(i, 4 * nside - i);
        Ring ring{};
        if (k < nside) {
            const double t = static_cast<double>(k) * k / (3.0 * nside * nside);
            ring.n_pixels = 4 * k;
            ring.cos_theta = 1 - t;
            ring.sin_theta = std::sqrt(t * (2 - t));
            ring.phi_0 = std::numbers::pi / (4 * k);
        } else {
            ring.n_pixels = 4 * nside;
            ring.cos_theta = 4.0 / 3 - 2.0 * k / (3.0 * nside);
            ring.sin_theta = std::sqrt((1 - ring.cos_theta) * (1 + ring.cos_theta));
            ring.phi_0 = (k - nside) % 2 == 0 ? std::numbers::pi / (4 * nside) : 0;
        }
        if (i != k) ring.cos_theta = -ring.cos_theta;
        ring.theta = std::atan2(ring.sin_theta, ring.cos_theta);
        ring.weight = weight;
        ring.first_pixel = first;
        first += ring.n_pixels;
        rings.push_back(ring);
    }
    return Grid(std::move(rings), first, fmt::format("healpix nside={}", nside));
}

}  // namespace zonal
