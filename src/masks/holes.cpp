#include "zonal/masks/holes.hpp"

#include <algorithm>
#include <cmath>

#include "core/interruption.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/masks/distance.hpp"

namespace zonal {
namespace masks {
namespace {

/// Holes of this many pixels or more are kept. An area that is as many pixels but for rounding is that many.
std::int64_t kept_from(std::int64_t nside, const HoleLimits& limits) {
    if (limits.min_pixels < 0) throw InvalidArgument("min_pixels", limits.min_pixels, "must be 0 or more");
    if (!(limits.min_area >= 0)) throw InvalidArgument("min_area", limits.min_area, "must be 0 or more, sr");
    const double of_area = limits.min_area / healpix::pixel_area(nside) * (1 - 1e-12);
    const auto all = static_cast<double>(healpix::n_pixels(nside));
    return std::max(limits.min_pixels, static_cast<std::int64_t>(std::ceil(std::min(of_area, all + 1))));
}

}  // namespace
}  // namespace masks

std::vector<std::vector<std::int64_t>> small_holes(View<const std::uint8_t, 1> masked,
                                                   const HoleLimits& limits) {
    const auto nside = healpix::nside_of(masked.size());
    const auto least = masks::kept_from(nside, limits);
    std::vector<std::uint8_t> is_left(static_cast<std::size_t>(masked.size()));
    for (std::int64_t p = 0; p < masked.size(); ++p) is_left[static_cast<std::size_t>(p)] = masked[p] != 0;
    std::vector<std::vector<std::int64_t>> found;
    std::vector<std::int64_t> hole, rest;
    core::RarePoll poll;
    for (std::int64_t first = 0; first < masked.size(); ++first) {
        poll();
        if (is_left[static_cast<std::size_t>(first)] == 0) continue;
        hole.clear();
        rest.assign(1, first);
        is_left[static_cast<std::size_t>(first)] = 0;
        std::int64_t size = 0;
        while (!rest.empty()) {
            poll();
            const auto pixel = rest.back();
            rest.pop_back();
            if (++size < least) hole.push_back(pixel);  // no memory for those that are kept
            for (const auto other : healpix::neighbours(nside, healpix::Order::ring, pixel)) {
                if (other < 0 || is_left[static_cast<std::size_t>(other)] == 0) continue;
                is_left[static_cast<std::size_t>(other)] = 0;
                rest.push_back(other);
            }
        }
        if (size < least) found.push_back(hole);
    }
    return found;
}

FilledHoles fill_holes(View<double, 1> mask, const HoleLimits& limits, int threads) {
    const auto masked = masked_pixels<double>(mask, threads);
    const auto nside = healpix::nside_of(mask.size());
    FilledHoles filled;
    for (const auto& hole : small_holes({masked.data(), {mask.size()}}, limits)) {
        double sum = 0, n = 0;
        for (const auto pixel : hole)
            for (const auto other : healpix::neighbours(nside, healpix::Order::ring, pixel)) {
                if (other < 0 || masked[static_cast<std::size_t>(other)] != 0) continue;
                sum += mask[other];
                n += 1;
            }
        if (n == 0) continue;
        for (const auto pixel : hole) mask[pixel] = sum / n;
        filled.holes += 1;
        filled.pixels += std::ssize(hole);
    }
    return filled;
}

}  // namespace zonal
