#include "radial/pixel_sum/filled_pixels.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace zonal::radial {
namespace {

/// A ring is divided into blocks of this many pixels, and its filled pixels are compared with the size of the
/// blocks that have any. So pixels that lie together are not few: filters pass over empty stretches anyway,
/// and a full part of a map is summed with the weights of the whole map, from tables where it has them.
constexpr std::int64_t block = 256;

}  // namespace

template <class Map>
FilledPixels::RingPixels FilledPixels::pixels_of(const Map* pixels, std::int64_t n, FewPixels few) {
    RingPixels ring;
    std::int64_t filled = 0, of_blocks = 0;
    for (std::int64_t first = 0; first < n; first += block) {
        const std::int64_t size = std::min(block, n - first);
        std::int64_t here = 0;
        for (std::int64_t k = first; k < first + size; ++k) here += pixels[k] != 0 ? 1 : 0;
        filled += here;
        if (here > 0) of_blocks += size;
        if (filled * few.for_weights > n) return ring;  // soon, in a map that is full
    }
    ring.few_for_filters = filled * few.for_filters <= of_blocks;
    ring.few_for_weights = filled * few.for_weights <= of_blocks;
    if (!ring.few_for_weights) return ring;
    ring.pixels.reserve(static_cast<std::size_t>(filled));
    for (std::int64_t k = 0; k < n; ++k)
        if (pixels[k] != 0) ring.pixels.push_back(k);
    return ring;
}

template <class Map>
FilledPixels::FilledPixels(const SumRings& rings, View<const Map, 2> maps, FewPixels few, int threads)
    : n_rings_(rings.size()), rings_(static_cast<std::size_t>(maps.extent(0) * rings.size())) {
    constexpr std::int64_t rings_at_once = 64;
    const std::int64_t n = maps.extent(0) * n_rings_;
    core::parallel_for((n + rings_at_once - 1) / rings_at_once, threads, [&](std::int64_t task, int) {
        for (std::int64_t i = task * rings_at_once; i < std::min(n, (task + 1) * rings_at_once); ++i) {
            const SumRing& ring = rings[i % n_rings_];
            rings_[static_cast<std::size_t>(i)] =
                pixels_of(&maps(i / n_rings_, ring.first_pixel), ring.n_pixels, few);
        }
    });
    any_ = std::any_of(rings_.begin(), rings_.end(),
                       [](const RingPixels& ring) { return !ring.pixels.empty(); });
}

template FilledPixels::FilledPixels(const SumRings&, View<const float, 2>, FewPixels, int);
template FilledPixels::FilledPixels(const SumRings&, View<const double, 2>, FewPixels, int);

}  // namespace zonal::radial
