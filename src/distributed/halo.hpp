#pragma once

#include <cstdint>
#include <vector>

#include "radial/bands/latitude_bands.hpp"
#include "sky/sky_part.hpp"
#include "zonal/distributed/plan.hpp"

/// The pixels that a rank's convolution needs from each other rank: pure functions, and the exchange.
namespace zonal::distributed {

/// What ranks give each other for sums over rings from which a kernel reaches other ranks'.
struct HaloCopies {
    std::vector<std::int64_t> inner;  ///< this rank's rings that reach no other rank's
    std::vector<std::int64_t> outer;  ///< its other rings
    radial::PackedRings rings;        ///< that the outer ones reach
    /// [rank]: from this rank's array into the message for that one, and from that one's message into the
    /// array of `rings`. The rank itself: from the one array into the other.
    std::vector<std::vector<PixelCopy>> sent, received;

    /// The traffic of one row in double precision.
    Traffic traffic(std::size_t rank) const;
};

/// pixels: [rank], the ranges that each rank has of the grid's pixels, of whole rings.
/// devices: [rank]; only ranks on GPUs have rings of both kinds.
HaloCopies halo_copies(const Grid& grid, const std::vector<std::vector<PixelRange>>& pixels,
                       const std::vector<Device>& devices, std::size_t rank, double support);

class RankHalo final : public SkyHalo {
  public:
    /// pixels, devices: as of halo_copies. own: the rank's rings, in its array.
    RankHalo(const Communicator& ranks, const Grid& grid, const std::vector<std::vector<PixelRange>>& pixels,
             const std::vector<Device>& devices, double support, const Grid& own);

    const std::optional<RingSums>& inner() const override { return inner_; }
    const std::optional<RingSums>& outer() const override { return outer_; }
    View<const float, 3> reach(View<const float, 3> maps, Array<float, 3>& memory) const override {
        return fill(maps, memory);
    }
    View<const double, 3> reach(View<const double, 3> maps, Array<double, 3>& memory) const override {
        return fill(maps, memory);
    }

  private:
    template <class T>
    View<const T, 3> fill(View<const T, 3> maps, Array<T, 3>& memory) const;

    Communicator ranks_;
    HaloCopies copies_;
    std::int64_t n_pixels_;  ///< of this rank
    std::optional<RingSums> inner_, outer_;
};

}  // namespace zonal::distributed
