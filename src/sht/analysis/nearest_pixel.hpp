#pragma once

#include <cstdint>
#include <vector>

#include "zonal/grid.hpp"

namespace zonal::sht {

/// Which pixel of one grid lies nearest to a pixel of another: on the ring nearest in theta, the pixel
/// nearest in longitude. The pixel itself where the grids are the same. Keeps references.
class NearestPixel {
  public:
    NearestPixel(const Grid& from, const Grid& to);
    /// Pixel of `from` nearest to pixel k of ring `ring` of `to`.
    std::int64_t operator()(std::int64_t ring, std::int64_t k) const;

    /// Whether the grids have the same pixels.
    bool same() const { return same_; }
    /// The ring of `from` nearest to this one of `to`; only where they differ.
    const Ring& nearest_ring(std::int64_t ring) const {
        return from_.rings()[static_cast<std::size_t>(nearest_ring_[static_cast<std::size_t>(ring)])];
    }

  private:
    const Grid& from_;
    const Grid& to_;
    bool same_;
    std::vector<std::int64_t> nearest_ring_;  ///< [to.n_rings()]
};

}  // namespace zonal::sht
