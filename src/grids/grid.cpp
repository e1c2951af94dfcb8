#include "zonal/grid.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "zonal/error.hpp"

namespace zonal {
namespace {

[[noreturn]] void reject(std::size_t index, const std::string& complaint) {
    throw InvalidArgument(fmt::format("ring {}: {}", index, complaint));
}

/// A larger disagreement of theta with its cosine and sine is a mistake, not rounding (theta read from single
/// precision does not pass: make_ring computes all three from it).
constexpr double angle_tolerance = 1e-12;

void check_angles(const Ring& ring, std::size_t index) {
    if (!(ring.theta >= 0 && ring.theta <= std::numbers::pi))
        reject(index, fmt::format("theta = {}: must be from 0 to pi", ring.theta));
    auto check = [&](const char* name, double value, double expected) {
        if (!(std::abs(value - expected) <= angle_tolerance))
            reject(index, fmt::format("{}_theta = {}: must be {} for theta = {} (use make_ring)", name, value,
                                      expected, ring.theta));
    };
    check("cos", ring.cos_theta, std::cos(ring.theta));
    check("sin", ring.sin_theta, std::sin(ring.theta));
    if (ring.sin_theta < 0)
        reject(index, fmt::format("sin_theta = {}: must not be negative", ring.sin_theta));
    if (!std::isfinite(ring.phi_0)) reject(index, fmt::format("phi_0 = {}: must be finite", ring.phi_0));
    if (!std::isfinite(ring.weight)) reject(index, fmt::format("weight = {}: must be finite", ring.weight));
}

void check_pixels(const Ring& ring, std::size_t index, std::int64_t n_map_pixels) {
    if (ring.n_pixels < 1) reject(index, fmt::format("n_pixels = {}: must be at least 1", ring.n_pixels));
    if (ring.first_pixel < 0)
        reject(index, fmt::format("first_pixel = {}: must be at least 0", ring.first_pixel));
    // Written so that nothing overflows.
    if (ring.first_pixel > n_map_pixels || ring.n_pixels > n_map_pixels - ring.first_pixel)
        reject(index,
               fmt::format("pixels from first_pixel = {}, n_pixels = {}: must lie inside the map's {} pixels",
                           ring.first_pixel, ring.n_pixels, n_map_pixels));
}

void check_no_overlap(const std::vector<Ring>& rings) {
    std::vector<std::size_t> order(rings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return rings[a].first_pixel < rings[b].first_pixel; });
    for (std::size_t k = 1; k < order.size(); ++k) {
        const Ring &before = rings[order[k - 1]], &after = rings[order[k]];
        if (after.first_pixel < before.first_pixel + before.n_pixels)
            throw InvalidArgument(fmt::format("rings {} and {}: both hold pixel {}; rings must not overlap",
                                              std::min(order[k - 1], order[k]),
                                              std::max(order[k - 1], order[k]), after.first_pixel));
    }
}

std::int64_t furthest_end(const std::vector<Ring>& rings) {
    constexpr std::int64_t max_end = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = 0;
    for (std::size_t index = 0; index < rings.size(); ++index) {
        check_pixels(rings[index], index, max_end);
        end = std::max(end, rings[index].first_pixel + rings[index].n_pixels);
    }
    return end;
}

}  // namespace

Ring make_ring(double theta, double phi_0, double weight, std::int64_t n_pixels, std::int64_t first_pixel) {
    return {theta, std::cos(theta), std::sin(theta), phi_0, weight, n_pixels, first_pixel};
}

void mirror_southern_rings(std::vector<Ring>& rings) {
    // pi - theta and the nearest double to the colatitude each are up to an ulp of pi off, 4.4e-16.
    constexpr double rounding = 1e-15;
    std::vector<std::size_t> north;
    for (std::size_t i = 0; i < rings.size(); ++i)
        if (rings[i].cos_theta > rounding) north.push_back(i);
    const auto theta_of = [&](std::size_t i) { return rings[i].theta; };
    std::ranges::stable_sort(north, {}, theta_of);
    for (Ring& ring : rings) {
        if (!(ring.cos_theta < -rounding)) continue;
        const double mirror = std::numbers::pi - ring.theta;
        const auto found = std::ranges::lower_bound(north, mirror - rounding, {}, theta_of);
        if (found == north.end() || !(rings[*found].theta <= mirror + rounding)) continue;
        ring.cos_theta = -rings[*found].cos_theta;
        ring.sin_theta = rings[*found].sin_theta;
    }
}

Grid::Grid(std::vector<Ring> rings, std::int64_t n_map_pixels, std::string name)
    : rings_(std::make_shared<const std::vector<Ring>>(std::move(rings))),
      n_pixels_(n_map_pixels),
      name_(std::move(name)) {
    const auto& all = *rings_;
    if (all.empty()) throw InvalidArgument("rings", "must hold at least one ring");
    if (n_map_pixels < -1)
        throw InvalidArgument("n_map_pixels", n_map_pixels,
                              "must be positive, or -1 for the end of the furthest ring");
    if (n_map_pixels == -1) n_pixels_ = furthest_end(all);
    for (std::size_t index = 0; index < all.size(); ++index) {
        check_angles(all[index], index);
        check_pixels(all[index], index, n_pixels_);
    }
    check_no_overlap(all);
}

bool Grid::has_other_pixels() const {
    // Rings do not overlap.
    std::int64_t in_rings = 0;
    for (const Ring& ring : *rings_) in_rings += ring.n_pixels;
    return in_rings < n_pixels_;
}

bool Grid::operator==(const Grid& other) const {
    return n_pixels_ == other.n_pixels_ && healpix_nside_ == other.healpix_nside_ &&
           healpix_nside_of_rings_ == other.healpix_nside_of_rings_ && exact_degree_ == other.exact_degree_ &&
           equidistant_ == other.equidistant_ && name_ == other.name_ &&
           (rings_ == other.rings_ || *rings_ == *other.rings_);
}

Grid Grid::exact_to(std::int64_t degree, Grid grid, std::optional<EquidistantRings> rings) {
    grid.exact_degree_ = degree;
    grid.equidistant_ = rings;
    return grid;
}

Grid Grid::subset(const std::vector<std::int64_t>& ring_indices) const {
    std::vector<Ring> chosen;
    chosen.reserve(ring_indices.size());
    for (const std::int64_t index : ring_indices) {
        if (index < 0 || index >= n_rings())
            throw InvalidArgument(
                "ring_indices", fmt::format("{}: must be from 0 to n_rings - 1 = {}", index, n_rings() - 1));
        chosen.push_back(rings()[static_cast<std::size_t>(index)]);
    }
    Grid part(std::move(chosen), n_pixels_,
              fmt::format("{}, {} of {} rings", name_, ring_indices.size(), n_rings()));
    part.healpix_nside_of_rings_ = healpix_nside_of_rings_;
    return part;
}

}  // namespace zonal
