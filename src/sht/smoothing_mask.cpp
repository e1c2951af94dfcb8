#include "sht/smoothing_mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"

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

template <class Visit>
void for_each_pixel(const Grid& grid, const Visit& visit) {
    for (const Ring& ring : grid.rings())
        for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel) visit(pixel);
}

}  // namespace

NearestPixel::NearestPixel(const Grid& from, const Grid& to)
    : from_(from), to_(to), same_(same_pixels(from, to)) {
    if (!same_) nearest_ring_ = nearest_rings(from, to);
}

std::int64_t NearestPixel::operator()(std::int64_t ring, std::int64_t k) const {
    const Ring& there = to_.rings()[ring];
    if (same_) return there.first_pixel + k;
    const Ring& here = from_.rings()[nearest_ring_[ring]];
    const double turn = 2 * std::numbers::pi;
    const double phi = there.phi_0 + turn * static_cast<double>(k) / static_cast<double>(there.n_pixels);
    const auto n = here.n_pixels;
    const auto nearest =
        static_cast<std::int64_t>(std::llround((phi - here.phi_0) / turn * static_cast<double>(n))) % n;
    return here.first_pixel + (nearest + n) % n;
}

template <class T>
Array<T, 1> kept_share(const Grid& grid, View<const T, 2> fields, View<const T, 1> mask) {
    Array<T, 1> kept({grid.n_pixels()});
    for_each_pixel(grid, [&](std::int64_t pixel) {
        T share = mask.size() > 0 ? mask[pixel] : static_cast<T>(1);
        if (is_unseen_value(share)) share = 0;
        if (!(share >= 0 && share <= 1))
            throw InvalidArgument(
                fmt::format("mask: value {} at pixel {}: must be from 0 to 1", share, pixel));
        for (std::int64_t c = 0; c < fields.extent(0); ++c)
            if (is_unseen_value(fields(c, pixel))) share = 0;
        kept(pixel) = share;
    });
    return kept;
}

template <class T>
void multiply_by_share(const Grid& grid, View<const T, 2> fields, View<const T, 1> kept, View<T, 2> product) {
    for_each_pixel(grid, [&](std::int64_t pixel) {
        for (std::int64_t c = 0; c < fields.extent(0); ++c)
            product(c, pixel) = kept[pixel] == 0 ? static_cast<T>(0) : fields(c, pixel) * kept[pixel];
    });
}

template <class T>
void divide_by_share(const Grid& grid, View<const T, 1> divisor, double threshold, View<T, 2> fields) {
    for_each_pixel(grid, [&](std::int64_t pixel) {
        const bool known = divisor[pixel] >= threshold;
        for (std::int64_t c = 0; c < fields.extent(0); ++c)
            fields(c, pixel) = known ? fields(c, pixel) / divisor[pixel] : static_cast<T>(unseen_value);
    });
}

template <class T>
void restore_unseen(const Grid& to, const NearestPixel& nearest, View<const T, 1> kept, View<T, 2> fields) {
    for (std::int64_t ring = 0; ring < to.n_rings(); ++ring)
        for (std::int64_t k = 0; k < to.rings()[ring].n_pixels; ++k)
            if (kept[nearest(ring, k)] == 0)
                for (std::int64_t c = 0; c < fields.extent(0); ++c)
                    fields(c, to.rings()[ring].first_pixel + k) = static_cast<T>(unseen_value);
}

#define ZONAL_INSTANTIATE(T)                                                                      \
    template Array<T, 1> kept_share(const Grid&, View<const T, 2>, View<const T, 1>);             \
    template void multiply_by_share(const Grid&, View<const T, 2>, View<const T, 1>, View<T, 2>); \
    template void divide_by_share(const Grid&, View<const T, 1>, double, View<T, 2>);             \
    template void restore_unseen(const Grid&, const NearestPixel&, View<const T, 1>, View<T, 2>);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::sht
