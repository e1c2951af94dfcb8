#include "sht/analysis/nearest_pixel.hpp"

#include <algorithm>
#include <numeric>

#include "sht/analysis/field_math.hpp"

namespace zonal::sht {
namespace {

bool same_pixels(const Ring& a, const Ring& b) {
    return a.theta == b.theta && a.phi_0 == b.phi_0 && a.n_pixels == b.n_pixels &&
           a.first_pixel == b.first_pixel;
}

bool same_pixels(const Grid& a, const Grid& b) {
    return a.n_pixels() == b.n_pixels() &&
           std::equal(a.rings().begin(), a.rings().end(), b.rings().begin(), b.rings().end(),
                      [](const Ring& x, const Ring& y) { return same_pixels(x, y); });
}

/// Index of the ring of `grid` nearest to each colatitude of `to`.
std::vector<std::int64_t> nearest_rings(const Grid& grid, const Grid& to) {
    std::vector<std::int64_t> by_theta(grid.n_rings());
    std::iota(by_theta.begin(), by_theta.end(), 0);
    auto theta = [&](std::int64_t ring) { return grid.rings()[ring].theta; };
    std::stable_sort(by_theta.begin(), by_theta.end(),
                     [&](std::int64_t a, std::int64_t b) { return theta(a) < theta(b); });
    std::vector<std::int64_t> nearest;
    for (const Ring& ring : to.rings()) {
        auto below = std::lower_bound(by_theta.begin(), by_theta.end(), ring.theta,
                                      [&](std::int64_t a, double value) { return theta(a) < value; });
        if (below == by_theta.end() ||
            (below != by_theta.begin() && ring.theta - theta(below[-1]) <= theta(*below) - ring.theta))
            --below;
        nearest.push_back(*below);
    }
    return nearest;
}

}  // namespace

NearestPixel::NearestPixel(const Grid& from, const Grid& to)
    : from_(from), to_(to), same_(same_pixels(from, to)) {
    if (!same_) nearest_ring_ = nearest_rings(from, to);
}

std::int64_t NearestPixel::operator()(std::int64_t ring, std::int64_t k) const {
    const Ring& there = to_.rings()[ring];
    if (same_) return there.first_pixel + k;
    const Ring& here = nearest_ring(ring);
    const double phi = longitude(there.phi_0, k, there.n_pixels);
    return here.first_pixel + nearest_on_ring(phi, here.phi_0, here.n_pixels);
}

}  // namespace zonal::sht
