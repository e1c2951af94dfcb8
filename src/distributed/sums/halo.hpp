#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "distributed/device_link.hpp"
#include "radial/bands/latitude_bands.hpp"
#include "sky/sky_part.hpp"
#include "zonal/distributed/plan.hpp"

/// The pixels that a rank's convolution needs from each other rank: pure functions, and the exchange.
namespace zonal::distributed {

/// The pixels of all of them.
std::int64_t pixels_of(const std::vector<PixelCopy>& copies);

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

/// A rank's halo, whose pixels travel between the memories of GPUs where the ranks have a link and their maps
/// are there, else through host memory.
class RankHalo final : public SkyHalo {
  public:
    /// Messages through host memory that a rank sends or receives at a time take at most this much, unless
    /// those of one row are more.
    static constexpr std::int64_t usual_message_bytes = std::int64_t{256} << 20;

    /// Collective. pixels, devices: as of halo_copies. own: the rank's rings, in its array. link: of all
    /// ranks' GPUs or, for all of them, null. message_bytes: the same on all ranks; a row's are sent at once
    /// if they are more.
    RankHalo(const Communicator& ranks, const Grid& grid, const std::vector<std::vector<PixelRange>>& pixels,
             const std::vector<Device>& devices, double support, const Grid& own,
             std::shared_ptr<DeviceLink> link, std::int64_t message_bytes = usual_message_bytes);

    const std::optional<RingSums>& inner() const override { return inner_; }
    const std::optional<RingSums>& outer() const override { return outer_; }
    std::unique_ptr<HaloExchange<float>> begin(View<const float, 3> maps, HaloMemory& memory) const override {
        return start(maps, memory);
    }
    std::unique_ptr<HaloExchange<double>> begin(View<const double, 3> maps,
                                                HaloMemory& memory) const override {
        return start(maps, memory);
    }

  private:
    template <class T>
    void check(View<const T, 3> maps) const;
    /// Whether all ranks' maps are on the GPUs that the link connects.
    bool goes_by_link(bool is_on_gpu) const;
    template <class T>
    std::unique_ptr<HaloExchange<T>> start(View<const T, 3> maps, HaloMemory& memory) const;

    Communicator ranks_;
    HaloCopies copies_;
    Device device_;
    std::int64_t n_pixels_;  ///< of this rank
    std::int64_t message_bytes_;
    std::int64_t row_pixels_ = 1;  ///< that any rank sends or receives of a row, whichever is the most
    std::optional<RingSums> inner_, outer_;
    std::shared_ptr<DeviceLink> link_;
};

}  // namespace zonal::distributed
