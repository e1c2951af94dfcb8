#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "zonal/distributed/plan.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sky/sky_part.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// The parts of a sky that the ranks of a job have, and its transforms of spin 0 and 2. All of the same grid,
/// lmax, mmax and speeds have the same parts.
class DistributedSky final : public SkyPart {
  public:
    /// Collective. threads: of this rank; 0 for available_cpus(). speeds: as DistributedOptions::speeds.
    /// device: that this rank's transforms run on; Communicator::own_device finds one. Throws
    /// InvalidArgument on all ranks as DistributedPlan does.
    DistributedSky(const Communicator& ranks, const Grid& grid, std::int64_t lmax, std::int64_t mmax,
                   int threads = 0, std::vector<double> speeds = {}, Device device = Device::cpu());

    /// Collective. Throws OutOfMemory on all ranks where the ranks lack memory for their parts of a map and
    /// its alm, and for transforming one component. components: of the map and the alm, 1 or 3.
    void require_memory(int components) const;

    const Communicator& ranks() const { return ranks_; }
    const Grid& whole_grid() const override { return grid_; }
    const Grid& grid() const override { return plan_->local().grid(); }
    std::span<const PixelRange> pixels() const override { return plan_->pixels(); }
    const AlmLayout& layout() const override { return plan_->local().layout(); }
    std::shared_ptr<const ShtPlan> plan(int spin) const override;
    std::shared_ptr<const SkyPart> up_to(std::int64_t lmax) const override;
    /// Throws InvalidArgument on all ranks if one computes on a GPU: what halos are for runs on CPUs alone.
    std::shared_ptr<const SkyHalo> halo(double support) const override;
    void agree(const std::string& call, std::exception_ptr error) const override;
    std::vector<double> sum_rings(View<const double, 2> partial) const override;
    std::vector<double> sum(const std::vector<double>& values) const override { return ranks_.sum(values); }
    std::vector<double> gather(double number) const override;
    Device device() const override { return device_; }
    TransformShare transform_share(std::int64_t lmax, int spin) const override;
    HaloShare halo_share(double support) const override;
    /// Where a rank computes on a GPU.
    std::string why_no_halo() const override;
    /// Zero where coefficients travel by NCCL.
    MessageCosts message_costs() const override;
    /// Every rank's share of a transform of spin 0 or 2.
    std::vector<RankShare> shares(int spin) const;
    /// What every rank's transforms run on.
    const std::vector<Device>& devices() const { return devices_; }
    /// How the ranks exchange coefficients.
    const ExchangeReport& exchange() const { return plan_->exchange(); }

  private:
    std::shared_ptr<const DistributedPlan> distributed(int spin) const;
    DistributedOptions options_of(int spin) const;

    Communicator ranks_;
    Grid grid_;
    std::int64_t lmax_, mmax_;
    int threads_;
    std::vector<double> speeds_;
    Device device_;
    std::vector<Device> devices_;
    std::shared_ptr<const DistributedPlan> plan_;               ///< of spin 0
    std::vector<std::vector<PixelRange>> all_pixels_;           ///< [rank]
    mutable std::shared_ptr<const DistributedPlan> spin_plan_;  ///< of spin 2; made when it is needed
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
