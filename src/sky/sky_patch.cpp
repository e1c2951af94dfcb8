#include "sky/sky_patch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "zonal/error.hpp"

namespace zonal {
namespace {

/// The ranges in ascending order, those that touch or overlap made one.
std::vector<PixelRange> joined(const Grid& whole, std::vector<PixelRange> ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const PixelRange& a, const PixelRange& b) { return a.first < b.first; });
    std::vector<PixelRange> joined;
    for (const auto& range : ranges) {
        if (range.first < 0 || range.end > whole.n_pixels())
            throw InvalidArgument("pixels", range.first < 0 ? range.first : range.end - 1,
                                  fmt::format("must be from 0 to {}", whole.n_pixels() - 1));
        if (!joined.empty() && range.first <= joined.back().end)
            joined.back().end = std::max(joined.back().end, range.end);
        else
            joined.push_back(range);
    }
    if (joined.empty()) throw InvalidArgument("pixels", "there are none: must be one or more");
    return joined;
}

std::vector<std::int64_t> places_of(const std::vector<PixelRange>& ranges) {
    std::vector<std::int64_t> places;
    places.reserve(ranges.size());
    std::int64_t place = 0;
    for (const auto& range : ranges) {
        places.push_back(place);
        place += range.end - range.first;
    }
    return places;
}

/// How many of the ranges' pixels each ring has.
std::vector<std::int64_t> pixels_of_rings(const Grid& whole, const std::vector<PixelRange>& ranges) {
    std::vector<std::int64_t> counts;
    counts.reserve(whole.rings().size());
    auto range = ranges.begin();
    for (const Ring& ring : whole.rings()) {
        const auto end = ring.first_pixel + ring.n_pixels;
        while (range != ranges.end() && range->end <= ring.first_pixel) ++range;
        std::int64_t count = 0;
        for (auto one = range; one != ranges.end() && one->first < end; ++one)
            count += std::min(one->end, end) - std::max(one->first, ring.first_pixel);
        counts.push_back(count);
    }
    return counts;
}

std::vector<std::int64_t> rings_with(const Grid& whole, const std::vector<PixelRange>& ranges) {
    const auto counts = pixels_of_rings(whole, ranges);
    std::vector<std::int64_t> indices;
    for (std::size_t ring = 0; ring < counts.size(); ++ring)
        if (counts[ring] > 0) indices.push_back(static_cast<std::int64_t>(ring));
    return indices;
}

/// These rings, with the ranges' pixels only.
Grid only_with(const Grid& whole, const std::vector<std::int64_t>& indices,
               const std::vector<PixelRange>& ranges) {
    const auto counts = pixels_of_rings(whole, ranges);
    std::vector<Ring> rings;
    rings.reserve(indices.size());
    std::int64_t place = 0;
    for (const auto index : indices) {
        auto& ring = rings.emplace_back(whole.rings()[static_cast<std::size_t>(index)]);
        ring.n_pixels = counts[static_cast<std::size_t>(index)];
        ring.first_pixel = place;
        place += ring.n_pixels;
    }
    return Grid(std::move(rings), place, whole.name() + ", a patch");
}

[[noreturn]] void throw_patch(const SkyPatch& patch) {
    throw InvalidArgument(
        fmt::format("the map has only {} pixels of {}: must have memory for the whole sky (SkyMap::expand)",
                    patch.grid().n_pixels(), patch.whole_grid().name()));
}

}  // namespace

SkyPatch::SkyPatch(const Grid& whole, std::vector<PixelRange> ranges)
    : WholeSky(whole),
      ranges_(joined(whole, std::move(ranges))),
      places_(places_of(ranges_)),
      rings_(rings_with(whole, ranges_)),
      grid_(only_with(whole, rings_, ranges_)) {}

std::shared_ptr<const ShtPlan> SkyPatch::transform(const ShtOptions&) const {
    throw_patch(*this);
}

std::shared_ptr<const SkyHalo> SkyPatch::halo(double) const {
    throw_patch(*this);
}

std::int64_t SkyPatch::place(std::int64_t pixel) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), pixel,
                         [](std::int64_t value, const PixelRange& range) { return value < range.first; });
    if (after == ranges_.begin() || pixel >= (after - 1)->end) return -1;
    return places_[static_cast<std::size_t>(after - 1 - ranges_.begin())] + pixel - (after - 1)->first;
}

std::vector<std::int64_t> numbers_in(std::span<const PixelRange> ranges) {
    std::int64_t count = 0;
    for (const auto& range : ranges) count += range.end - range.first;
    std::vector<std::int64_t> pixels;
    pixels.reserve(static_cast<std::size_t>(count));
    for (const auto& range : ranges)
        for (auto pixel = range.first; pixel < range.end; ++pixel) pixels.push_back(pixel);
    return pixels;
}

std::shared_ptr<const SkyPatch> united(const SkyPatch& a, const SkyPatch& b) {
    std::vector<PixelRange> ranges(a.pixels().begin(), a.pixels().end());
    ranges.insert(ranges.end(), b.pixels().begin(), b.pixels().end());
    return std::make_shared<const SkyPatch>(a.whole_grid(), std::move(ranges));
}

}  // namespace zonal
