#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "radial/pixel_sum/schedule.hpp"
#include "zonal/view.hpp"

namespace zonal::radial {

/// A ring's filled pixels are few if there is at most one in N pixels of its blocks. N is for_filters in
/// pairs of equal rings, which filters serve, and for_weights in others, where each pixel that is spread
/// takes kernel values of its own. Measured (docs/decisions/pixel-sum.md); T is the type that sums are done
/// in.
struct FewPixels {
    std::int64_t for_filters, for_weights;
};
template <class T>
inline constexpr FewPixels few_pixels = sizeof(T) == 4 ? FewPixels{256, 64} : FewPixels{64, 32};

/// Pixels that are not 0 (NaN is not) in rings where they are so few that it takes less time to spread each
/// of them over the output's rings (stages.hpp, add_spread_ring) than to sum over all of the ring's pixels:
/// photons, events, and rings outside a part of the sky. What is few depends on the ring's own pixels alone.
class FilledPixels {
  public:
    template <class Map>
    FilledPixels(const SumRings& rings, View<const Map, 2> maps, FewPixels few, int threads);

    /// Whether the pixels of an input ring of a map are spread in pairs of a kind.
    bool are_few(std::int64_t map, std::int64_t input, PairKind kind) const {
        const RingPixels& ring = at(map, input);
        return kind == PairKind::equal ? ring.few_for_filters : ring.few_for_weights;
    }
    /// Ascending; empty where they are never few.
    std::span<const std::int64_t> of(std::int64_t map, std::int64_t input) const {
        return at(map, input).pixels;
    }
    /// Whether there are any to spread.
    bool any() const { return any_; }

    /// Bytes of the lists at most, for one map.
    static std::int64_t bytes(const SumRings& rings, FewPixels few) {
        return rings.n_map_pixels() / few.for_weights * static_cast<std::int64_t>(sizeof(std::int64_t));
    }

  private:
    struct RingPixels {
        std::vector<std::int64_t> pixels;
        bool few_for_filters = false, few_for_weights = false;
    };
    const RingPixels& at(std::int64_t map, std::int64_t input) const {
        return rings_[static_cast<std::size_t>(map * n_rings_ + input)];
    }
    template <class Map>
    static RingPixels pixels_of(const Map* pixels, std::int64_t n, FewPixels few);

    std::int64_t n_rings_;
    std::vector<RingPixels> rings_;  ///< [map][ring]
    bool any_ = false;
};

}  // namespace zonal::radial
