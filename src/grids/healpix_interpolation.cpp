#include <algorithm>
#include <cmath>
#include <numbers>

#include "grids/healpix_pixel.hpp"
#include "zonal/healpix.hpp"

namespace zonal::healpix {
namespace {

struct RingInterpolation {
    std::array<std::int64_t, 2> pixels;
    std::array<double, 2> weights;
};

/// The two pixels of a ring west and east of phi (0 to 2 pi).
RingInterpolation between_pixels(const Ring& ring, double phi) {
    const double steps = (phi - ring.phi_0) * (static_cast<double>(ring.n_pixels) / (2 * std::numbers::pi));
    const double west = std::floor(steps);
    const auto k = static_cast<std::int64_t>(west) + ring.n_pixels;
    return {{ring.first_pixel + k % ring.n_pixels, ring.first_pixel + (k + 1) % ring.n_pixels},
            {1 - (steps - west), steps - west}};
}

/// Between the outermost ring of a cap and its pole; fraction 0 at the pole, 1 on the ring.
Interpolation between_ring_and_pole(const Ring& ring, double phi, double fraction) {
    const auto on_ring = between_pixels(ring, phi);
    Interpolation result{};
    for (std::size_t k = 0; k < 4; ++k) {
        result.pixels[k] = ring.first_pixel + static_cast<std::int64_t>(k);
        result.weights[k] = (1 - fraction) / 4;
    }
    for (std::size_t side = 0; side < 2; ++side)
        result.weights[static_cast<std::size_t>(on_ring.pixels[side] - ring.first_pixel)] +=
            fraction * on_ring.weights[side];
    return result;
}

/// fraction: 0 on the upper ring, 1 on the lower.
Interpolation between_rings(const Ring& upper, const Ring& lower, double phi, double fraction) {
    const auto north = between_pixels(upper, phi), south = between_pixels(lower, phi);
    return {{north.pixels[0], north.pixels[1], south.pixels[0], south.pixels[1]},
            {(1 - fraction) * north.weights[0], (1 - fraction) * north.weights[1],
             fraction * south.weights[0], fraction * south.weights[1]}};
}

}  // namespace

Interpolation interpolation_weights(std::int64_t nside, Order order, const Angles& angles) {
    check_nside(nside, order);
    const Direction direction = to_direction(angles);
    const std::int64_t above = ring_above(nside, direction), last = n_rings(nside) - 1;
    Interpolation result;
    if (above < 0) {
        const Ring first_ring = ring(nside, 0);
        result =
            between_ring_and_pole(first_ring, direction.phi, std::min(1.0, angles.theta / first_ring.theta));
    } else if (above == last) {
        const Ring last_ring = ring(nside, last);
        const double from_pole = (std::numbers::pi - angles.theta) / (std::numbers::pi - last_ring.theta);
        result = between_ring_and_pole(last_ring, direction.phi, std::min(1.0, from_pole));
    } else {
        const Ring upper = ring(nside, above), lower = ring(nside, above + 1);
        // Rounding may put a direction on a ring just outside the pair.
        const double fraction =
            std::clamp((angles.theta - upper.theta) / (lower.theta - upper.theta), 0.0, 1.0);
        result = between_rings(upper, lower, direction.phi, fraction);
    }
    if (order == Order::nest)
        for (auto& pixel : result.pixels) pixel = ring2nest(nside, pixel);
    return result;
}

}  // namespace zonal::healpix
