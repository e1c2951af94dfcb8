#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sky/sky_part.hpp"
#include "zonal/distributed/plan.hpp"

namespace zonal::distributed {

/// What a rank has of a DistributedSky.
class RankSky final : public SkyPart {
  public:
    RankSky(const Communicator& ranks, const Grid& grid, std::int64_t lmax, std::int64_t mmax, int threads,
            std::vector<double> speeds, Device device);

    const Communicator& ranks() const { return ranks_; }
    const Grid& whole_grid() const override { return grid_; }
    const Grid& grid() const override { return plan_->local().grid(); }
    std::span<const PixelRange> pixels() const override { return plan_->pixels(); }
    AlmLayout layout(std::int64_t lmax = -1, std::int64_t mmax = -1) const override;
    std::shared_ptr<const ShtPlan> transform(const ShtOptions& options) const override;
    std::shared_ptr<const SkyHalo> halo(double support) const override;
    void agree(const std::string& call, std::exception_ptr error) const override;
    std::vector<double> sum_rings(View<const double, 2> partial) const override;
    std::vector<double> gather(double number) const override;
    Device device(Device) const override { return device_; }
    /// Without traffic where coefficients travel by NCCL.
    TransformShare transform_share(std::int64_t lmax, int spin) const override;
    HaloShare halo_share(double support) const override;
    MessageCosts message_costs() const override;

    /// Collective where it is the first of these.
    std::shared_ptr<const DistributedPlan> plan(std::int64_t lmax, std::int64_t mmax, int spin) const;
    std::shared_ptr<const DistributedPlan> plan(int spin) const { return plan(lmax_, mmax_, spin); }
    const std::vector<Device>& devices() const { return devices_; }
    const ExchangeReport& exchange() const { return plan_->exchange(); }
    int threads() const { return plan_->local().options().threads; }

  private:
    DistributedOptions options_of(std::int64_t lmax, std::int64_t mmax, int spin) const;

    Communicator ranks_;
    Grid grid_;
    std::int64_t lmax_, mmax_;
    int threads_;
    std::vector<double> speeds_;
    Device device_;
    std::vector<Device> devices_;
    std::shared_ptr<const DistributedPlan> plan_;      ///< of spin 0
    std::vector<std::vector<PixelRange>> all_pixels_;  ///< [rank]
    /// Made when they are needed: for other spins, and for the last other lmax of each spin. [{own lmax,
    /// spin}]
    mutable std::map<std::pair<bool, int>, std::shared_ptr<const DistributedPlan>> other_plans_;
};

}  // namespace zonal::distributed
