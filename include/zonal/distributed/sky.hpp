#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zonal/distributed/plan.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/view.hpp"

namespace zonal {

namespace distributed {
class RankSky;
}

/// The parts of a sky that the ranks of a job have, and its transforms of spin 0 and 2. All of the same grid,
/// lmax, mmax and speeds have the same parts. Copies are the same sky.
class DistributedSky {
  public:
    /// Collective. threads: of this rank; 0 for available_cpus(). speeds: as DistributedOptions::speeds.
    /// device: that this rank works on, as DistributedOptions has it. Throws InvalidArgument on all ranks as
    /// DistributedPlan does.
    DistributedSky(const Communicator& ranks, const Grid& grid, std::int64_t lmax, std::int64_t mmax,
                   int threads = 0, std::vector<double> speeds = {}, Device device = Device::cpu());
    /// The sky that a map is a part of; nothing where a process has all of it.
    static std::optional<DistributedSky> of(const SkyMap& map);

    /// What makes a SkyMap, or a plan, one of this rank's part: SkyMap's constructor and options take it.
    std::shared_ptr<const SkyPart> part() const;

    /// Collective. Throws OutOfMemory on all ranks where the ranks lack memory for their parts of a map and
    /// its alm, and for transforming one component. components: of the map and the alm, 1 or 3.
    void require_memory(int components) const;

    const Communicator& ranks() const;
    const Grid& whole_grid() const;
    /// This rank's rings, in an array of their own.
    const Grid& grid() const;
    /// The pixels of that array, in ring order of the whole map, one range after the other.
    std::span<const PixelRange> pixels() const;
    /// This rank's orders m.
    AlmLayout layout() const;
    /// Every rank's share of a transform of spin 0 or 2.
    std::vector<RankShare> shares(int spin) const;
    /// Threads that this rank's calls use.
    int threads() const;
    /// What every rank works on.
    const std::vector<Device>& devices() const;
    /// How the ranks exchange coefficients.
    const ExchangeReport& exchange() const;

  private:
    explicit DistributedSky(std::shared_ptr<const distributed::RankSky> sky);
    std::shared_ptr<const distributed::RankSky> sky_;
};

/// Collective. The spectra of all pairs of maps whose alm the ranks have in parts, with one sum over ranks:
/// [pair, lmax + 1], pairs (i, j), i <= j, in the order 00 01 02 ... 11 12 ... alm: [map, layout.size()].
/// Throws InvalidArgument on all ranks if their arrays differ in the number of maps.
template <class T>
Array<double, 2> cross_spectra(const Communicator& ranks, const AlmLayout& layout,
                               View<const std::complex<T>, 2> alm);

/// This rank's share of orders m where there is no grid: about as many coefficients for each rank.
AlmLayout share_of_orders(const Communicator& ranks, std::int64_t lmax, std::int64_t mmax);

/// Some pixels of a map of nside: ranges in this order, one after the other.
struct PixelPlaces {
    healpix::Order order = healpix::Order::ring;
    std::vector<PixelRange> ranges = {};

    std::int64_t size() const;
    /// The number, in their order, of a pixel.
    std::int64_t operator[](std::int64_t pixel) const;
};

/// This rank's run of an even division of n_pixels pixels. unit: of pixels that stay together, and that
/// divides n_pixels.
PixelPlaces even_places(const Communicator& ranks, std::int64_t n_pixels, std::int64_t unit,
                        healpix::Order order);

/// Collective. Moves the pixels of maps between ranks: columns [column][pixel of `from`] become [column]
/// [pixel of `to`]. Every pixel of the sphere is among those of one rank, before and after. nside: a power of
/// 2 where the orders differ.
void move_pixels(const Communicator& ranks, std::int64_t nside, const PixelPlaces& from,
                 const PixelPlaces& to, const std::vector<std::vector<double>*>& columns);

}  // namespace zonal
