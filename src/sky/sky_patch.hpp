#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sky/sky_part.hpp"

namespace zonal {

/// The pixels of a partial sky, without the rest of their rings, in a process that is alone. The rings of
/// grid() have these pixels only: their colatitudes and weights hold, their longitudes do not.
class SkyPatch final : public WholeSky {
  public:
    /// whole: its rings follow each other in the map, as those of HEALPix and CAR do. ranges: of its pixels,
    /// in any order, and not one pixel twice. Throws InvalidArgument for none, and for pixels outside.
    SkyPatch(const Grid& whole, std::vector<PixelRange> ranges);

    const Grid& grid() const override { return grid_; }
    std::span<const PixelRange> pixels() const override { return ranges_; }
    const SkyPatch* patch() const override { return this; }
    /// Both throw InvalidArgument: transforms are of whole skies, and sums are done in bands (PixelSums).
    std::shared_ptr<const ShtPlan> transform(const ShtOptions& options) const override;
    std::shared_ptr<const SkyHalo> halo(double support) const override;
    HaloShare halo_share(double) const override { return {whole_grid(), whole_grid().subset(rings_)}; }

    /// The rings of the whole grid that its pixels lie on, ascending.
    const std::vector<std::int64_t>& rings() const { return rings_; }
    /// Where a pixel of the whole map is in an array of this part's; -1: nowhere.
    std::int64_t place(std::int64_t pixel) const;
    std::int64_t n_outside() const { return whole_grid().n_pixels() - grid_.n_pixels(); }

  private:
    std::vector<PixelRange> ranges_;    ///< ascending, apart
    std::vector<std::int64_t> places_;  ///< of the ranges' first pixels
    std::vector<std::int64_t> rings_;
    Grid grid_;
};

/// The numbers of all pixels in some ranges, one range after the other.
std::vector<std::int64_t> numbers_in(std::span<const PixelRange> ranges);

/// The patch of both patches' pixels.
std::shared_ptr<const SkyPatch> united(const SkyPatch& a, const SkyPatch& b);

}  // namespace zonal
