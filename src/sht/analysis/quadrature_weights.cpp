#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/weights.hpp"

namespace zonal::healpix {
namespace {

/// A northern or equatorial ring: its pixels are four equal quadrants, and each quadrant is symmetric about
/// its middle and about its start.
struct RingClasses {
    std::int64_t n_quadrant;  ///< pixels of a quadrant
    bool starts_at_zero;      ///< the first pixel is centred on phi = 0, else half a pixel beyond

    std::int64_t count() const { return starts_at_zero ? n_quadrant / 2 + 1 : (n_quadrant + 1) / 2; }
    /// Class of pixel k of the ring.
    std::int64_t of(std::int64_t k) const {
        const auto j = k % n_quadrant;
        return starts_at_zero ? std::min(j, n_quadrant - j) : std::min(j, n_quadrant - 1 - j);
    }
};

/// i = 1 .. 2 nside, from the north.
RingClasses ring_classes(std::int64_t nside, std::int64_t i) {
    if (i < nside) return {i, false};
    return {nside, (i - nside) % 2 == 1};
}

/// Calls visit(class, pixel) for each pixel in ring order.
template <class Visit>
void for_each_pixel(std::int64_t nside, const Visit& visit) {
    const auto n_rings = 4 * nside - 1;
    std::int64_t first_class = 0, north = 0, south = n_pixels(nside);
    for (std::int64_t i = 1; i <= 2 * nside; ++i) {
        const auto classes = ring_classes(nside, i);
        const auto n = 4 * classes.n_quadrant;
        south -= n;
        for (std::int64_t k = 0; k < n; ++k) {
            visit(first_class + classes.of(k), north + k);
            if (2 * i != n_rings + 1) visit(first_class + classes.of(k), south + k);
        }
        north += n;
        first_class += classes.count();
    }
}

void check_count(const char* name, std::size_t count, std::int64_t expected, std::int64_t nside) {
    if (static_cast<std::int64_t>(count) != expected)
        throw InvalidArgument(
            fmt::format("{}: has {} values: must be {} for nside = {}", name, count, expected, nside));
}

}  // namespace

std::int64_t n_ring_weights(std::int64_t nside) {
    check_nside(nside);
    return 2 * nside;
}

std::int64_t n_pixel_weights(std::int64_t nside) {
    check_nside(nside);
    return (3 * nside + 1) * (nside + 1) / 4;
}

std::vector<double> expand_ring_weights(std::int64_t nside, const std::vector<double>& deviations) {
    check_count("ring weights", deviations.size(), n_ring_weights(nside), nside);
    std::vector<double> weights(4 * nside - 1);
    for (std::int64_t i = 0; i < 2 * nside; ++i)
        weights[i] = weights[weights.size() - 1 - static_cast<std::size_t>(i)] = 1 + deviations[i];
    return weights;
}

std::vector<double> expand_pixel_weights(std::int64_t nside, const std::vector<double>& deviations) {
    check_count("pixel weights", deviations.size(), n_pixel_weights(nside), nside);
    std::vector<double> weights(n_pixels(nside));
    for_each_pixel(nside, [&](std::int64_t c, std::int64_t pixel) { weights[pixel] = 1 + deviations[c]; });
    return weights;
}

std::vector<double> compress_pixel_weights(std::int64_t nside, const std::vector<double>& weights) {
    check_count("weights", weights.size(), n_pixels(nside), nside);
    std::vector<double> deviations(n_pixel_weights(nside)), members(deviations.size());
    for_each_pixel(nside, [&](std::int64_t c, std::int64_t pixel) {
        deviations[c] += weights[pixel] - 1;
        members[c] += 1;
    });
    for (std::size_t c = 0; c < deviations.size(); ++c) deviations[c] /= members[c];
    return deviations;
}

}  // namespace zonal::healpix
