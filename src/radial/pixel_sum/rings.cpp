#include "radial/pixel_sum/rings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zonal::radial {
namespace {

SumRing sum_ring(const Ring& ring) {
    SumRing out{};
    out.theta = ring.theta;
    out.cos_theta = ring.cos_theta;
    out.sin_theta = ring.sin_theta;
    out.phi_0 = ring.phi_0;
    out.weight = ring.weight;
    out.cos_half = std::cos(ring.theta / 2);
    out.sin_half = std::sin(ring.theta / 2);
    out.n_pixels = ring.n_pixels;
    out.first_pixel = ring.first_pixel;
    out.mirror = -1;
    const HalfPixels from_zero = half_pixels_between(0, ring.phi_0, ring.n_pixels);
    if (ring.n_pixels % 4 != 0 || !from_zero.is_whole) return out;
    out.is_square = true;
    out.half = static_cast<int>(((from_zero.shift % 2) + 2) % 2);
    const std::int64_t turn = (out.half - from_zero.shift) / 2 % ring.n_pixels;
    out.rotation = turn < 0 ? turn + ring.n_pixels : turn;
    return out;
}

bool mirror_each_other(const SumRing& a, const SumRing& b) {
    return a.cos_theta == -b.cos_theta && a.sin_theta == b.sin_theta && a.n_pixels == b.n_pixels &&
           a.is_square && b.is_square && a.half == b.half;
}

}  // namespace

HalfPixels half_pixels_between(double phi_a, double phi_b, std::int64_t n_pixels) {
    const double shift = (phi_b - phi_a) * static_cast<double>(n_pixels) / std::numbers::pi;
    const double whole = std::round(shift);
    return {std::abs(shift - whole) <= 4e-12, static_cast<std::int64_t>(whole)};
}

SumRings::SumRings(const Grid& grid) : n_map_pixels_(grid.n_pixels()) {
    for (const Ring& ring : grid.rings()) rings_.push_back(sum_ring(ring));
    std::stable_sort(rings_.begin(), rings_.end(),
                     [](const SumRing& a, const SumRing& b) { return a.theta < b.theta; });
    find_mirrors();
}

// Mirrored rings stand at mirrored places: rings of one colatitude would not, and are taken for unmirrored.
void SumRings::find_mirrors() {
    for (std::int64_t index = 0; index < size(); ++index) {
        SumRing& ring = rings_[static_cast<std::size_t>(index)];
        const std::int64_t other = size() - 1 - index;
        if (mirror_each_other(ring, (*this)[other]))
            ring.mirror = other;
        else
            is_mirrored_ = false;
    }
}

std::pair<std::int64_t, std::int64_t> SumRings::near(double theta, double distance) const {
    const double margin = distance * (1 + 1e-9) + 1e-14;
    const auto below = [](const SumRing& ring, double value) { return ring.theta < value; };
    const auto first = std::lower_bound(rings_.begin(), rings_.end(), theta - margin, below);
    const auto end = std::lower_bound(first, rings_.end(), std::nextafter(theta + margin, 4.0), below);
    return {first - rings_.begin(), end - rings_.begin()};
}

}  // namespace zonal::radial
