#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "grids/healpix_pixel.hpp"
#include "grids/kept_grids.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/healpix.hpp"

namespace zonal {
namespace healpix {
namespace {

struct CosSin {
    double cos, sin;
};

// Gorski et al. (2005), eqs. 4 and 8: cos theta = 1 - i^2 / (3 nside^2) in the northern cap, 4/3 - 2 i / (3
// nside) in the belt. Both sines are the root of (1 - cos)(1 + cos). Numerators and denominators are integers
// below 2^62, so cosine and sine are right to rounding everywhere. For rows from the pole to the equator, i
// <= 2 nside.
CosSin northern_cos_sin(std::int64_t nside, std::int64_t i) {
    auto real = [](std::int64_t integer) { return static_cast<double>(integer); };
    if (i < nside) {
        const double denominator = real(3 * nside * nside);
        return {real(3 * nside * nside - i * i) / denominator,
                real(i) * std::sqrt(real(6 * nside * nside - i * i)) / denominator};
    }
    const double denominator = real(3 * nside);
    return {real(2 * (2 * nside - i)) / denominator,
            std::sqrt(real((2 * i - nside) * (7 * nside - 2 * i))) / denominator};
}

}  // namespace

Ring ring(std::int64_t nside, std::int64_t ring_index) {
    check_nside(nside);
    if (ring_index < 0 || ring_index > 4 * nside - 2)
        throw InvalidArgument(
            "ring_index", ring_index,
            fmt::format("must be from 0 to 4 nside - 2 = {} for nside = {}", 4 * nside - 2, nside));
    const std::int64_t i = ring_index + 1, length = row_length(nside, i);
    CosSin direction = northern_cos_sin(nside, std::min(i, 4 * nside - i));
    if (i > 2 * nside) direction.cos = -direction.cos;
    return {std::atan2(direction.sin, direction.cos),
            direction.cos,
            direction.sin,
            row_shift(nside, i) == 0 ? 0 : std::numbers::pi / static_cast<double>(length),
            pixel_area(nside),
            length,
            row_start(nside, i)};
}

std::int64_t ring_of_pixel(std::int64_t nside, std::int64_t pixel) {
    check_pixel(nside, Order::ring, pixel);
    return row_pixel_of_ring(nside, pixel).i - 1;
}

std::int64_t ring_above(std::int64_t nside, const Direction& direction) {
    check_direction(direction);
    check_nside(nside);
    double row;
    if (!in_cap(direction))
        row = std::floor(static_cast<double>(nside) * (2 - 1.5 * direction.cos_theta));
    else if (direction.cos_theta > 0)
        row = std::floor(cap_row(nside, direction));
    else
        row = static_cast<double>(4 * nside) - std::ceil(cap_row(nside, direction));
    return std::min(static_cast<std::int64_t>(row), 4 * nside - 1) - 1;
}

}  // namespace healpix

Grid Grid::healpix(std::int64_t nside) {
    return grids::kept_grid({grids::GridKey::Factory::healpix, {nside}}, [&] {
        const std::int64_t n_rings = healpix::n_rings(nside);
        std::vector<Ring> rings;
        rings.reserve(static_cast<std::size_t>(n_rings));
        for (std::int64_t index = 0; index < n_rings; ++index) rings.push_back(healpix::ring(nside, index));
        Grid grid(std::move(rings), healpix::n_pixels(nside), fmt::format("healpix nside={}", nside));
        grid.healpix_nside_ = grid.healpix_nside_of_rings_ = nside;
        return grid;
    });
}

}  // namespace zonal
