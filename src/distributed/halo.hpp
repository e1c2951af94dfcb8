#pragma once

#include <cstdint>
#include <vector>

#include "radial/bands/latitude_bands.hpp"
#include "sky/sky_part.hpp"
#include "zonal/distributed/plan.hpp"

/// The pixels that a rank's convolution needs from each other rank: pure functions, and the exchange.
namespace zonal::distributed {

/// What ranks give each other so that one has its rings and those within a kernel's support of them.
struct HaloCopies {
    radial::PackedRings rings;  ///< that it has then
    /// [rank]: from this rank's array into the message for that one, and from that one's message into the
    /// array of `rings`. The rank itself: from the one array into the other.
    std::vector<std::vector<PixelCopy>> sent, received;

    /// The traffic of one row in double precision.
    Traffic traffic(std::size_t rank) const;
};

/// pixels: [rank], the ranges that each rank has of the grid's pixels, of whole rings.
HaloCopies halo_copies(const Grid& grid, const std::vector<std::vector<PixelRange>>& pixels, std::size_t rank,
                       double support);

/// A rank's rings and those within a kernel's support of them.
class RankHalo final : public SkyHalo {
  public:
    /// pixels: as of halo_copies. threads: that copy them.
    RankHalo(const Communicator& ranks, const Grid& grid, const std::vector<std::vector<PixelRange>>& pixels,
             double support, int threads);

    const Grid& grid() const override { return copies_.rings.grid; }
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
    std::int64_t n_pixels_ = 0;  ///< of this rank
    int threads_;
};

}  // namespace zonal::distributed
