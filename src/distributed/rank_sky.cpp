#include "distributed/rank_sky.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "distributed/device_link.hpp"
#include "distributed/message_costs.hpp"
#include "distributed/partition.hpp"
#include "distributed/pixel_ranges.hpp"
#include "distributed/sums/halo.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

/// [rank]
std::vector<Device> gather_devices(const Communicator& ranks, Device mine) {
    std::vector<Device> devices;
    const bool on_gpu = mine.kind() == Device::Kind::cuda;
    for (const auto& index : ranks.gather(on_gpu ? std::to_string(mine.index()) : ""))
        devices.push_back(index.empty() ? Device::cpu() : Device::cuda(std::stoi(index)));
    return devices;
}

}  // namespace

RankSky::RankSky(const Communicator& ranks, const Grid& grid, std::int64_t lmax, std::int64_t mmax,
                 int threads, std::vector<double> speeds, Device device)
    : ranks_(ranks),
      grid_(grid),
      lmax_(lmax),
      mmax_(mmax),
      threads_(threads),
      speeds_(std::move(speeds)),
      device_(ranks.resolve_device(device)),
      devices_(gather_devices(ranks, device_)),
      plan_(std::make_shared<const DistributedPlan>(ranks_, grid_, options_of(lmax, mmax, 0))),
      all_pixels_(gather_ranges(ranks, plan_->pixels())) {}

DistributedOptions RankSky::options_of(std::int64_t lmax, std::int64_t mmax, int spin) const {
    DistributedOptions options{{}, speeds_};
    options.sht.lmax = lmax;
    options.sht.mmax = mmax;
    options.sht.spin = spin;
    options.sht.threads = threads_;
    options.sht.device = device_;
    return options;
}

std::shared_ptr<const DistributedPlan> RankSky::plan(std::int64_t lmax, std::int64_t mmax, int spin) const {
    const bool is_own = lmax == lmax_;
    if (mmax != (is_own ? mmax_ : lmax))
        throw InvalidArgument("mmax", mmax,
                              fmt::format("must be {} for the ranks' parts of a sky up to lmax = {}",
                                          is_own ? mmax_ : lmax, lmax));
    if (is_own && spin == 0) return plan_;
    auto& kept = other_plans_[{is_own, spin}];
    if (kept == nullptr || kept->local().layout().lmax() != lmax) {
        auto plan = std::make_shared<const DistributedPlan>(ranks_, grid_, options_of(lmax, mmax, spin));
        ranks_.together("a plan of a sky", [&] {
            if (!std::equal(pixels().begin(), pixels().end(), plan->pixels().begin(), plan->pixels().end()))
                throw Error(
                    fmt::format("lmax = {}: a rank has other rings than with lmax = {}", lmax, lmax_));
        });
        kept = std::move(plan);
    }
    return kept;
}

AlmLayout RankSky::layout(std::int64_t lmax, std::int64_t mmax) const {
    if ((lmax >= 0 && lmax != lmax_) || (mmax >= 0 && mmax != mmax_))
        throw InvalidArgument(fmt::format("lmax = {}, mmax = {}: must be those of the sky's parts, {} and {}",
                                          lmax, mmax, lmax_, mmax_));
    return plan_->local().layout();
}

std::shared_ptr<const ShtPlan> RankSky::transform(const ShtOptions& options) const {
    const auto lmax = options.lmax, own = lmax == lmax_ ? mmax_ : lmax;
    const auto found = plan(lmax, options.mmax < 0 ? own : options.mmax, options.spin);
    return {found, &found->local()};
}

std::shared_ptr<const SkyHalo> RankSky::halo(double support) const {
    const bool have_gpus = std::all_of(devices_.begin(), devices_.end(), [](const Device& device) {
        return device.kind() == Device::Kind::cuda;
    });
    auto link =
        have_gpus ? choose_exchange(*ranks_.transport(), device_, ExchangeWay::automatic).link : nullptr;
    return std::make_shared<const RankHalo>(ranks_, grid_, all_pixels_, devices_, support, grid(),
                                            std::move(link));
}

HaloShare RankSky::halo_share(double support) const {
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const auto copies = halo_copies(grid_, all_pixels_, devices_, rank, support);
    auto mine = copies.inner;
    mine.insert(mine.end(), copies.outer.begin(), copies.outer.end());
    const auto reached = radial::rings_within(grid_, support, grid_, mine);
    return {radial::pack_rings(grid_, reached).grid, grid(), copies.traffic(rank)};
}

TransformShare RankSky::transform_share(std::int64_t lmax, int spin) const {
    ShtOptions options;
    options.lmax = lmax;
    options.mmax = lmax == lmax_ ? mmax_ : lmax;
    options.spin = spin;
    const sht::RingPairs pairs(grid_, options.lmax, options.mmax, spin);
    const Partition partition(grid_, pairs, options, plan_->speeds(), exchange().way == ExchangeWay::nccl);
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const auto [sent, received] = synthesis_bytes(pairs, partition, spin == 0 ? 1 : 2, rank);
    const auto n_chunks = std::ssize(partition.chunks[rank]);
    const auto& flops = partition.legendre_flops;
    const bool is_by_messages = exchange().way != ExchangeWay::nccl;
    return {flops[rank] / std::accumulate(flops.begin(), flops.end(), 0.0), n_chunks,
            is_by_messages ? Traffic{n_chunks * (ranks_.size() - 1), std::max(sent, received)} : Traffic{}};
}

MessageCosts RankSky::message_costs() const {
    return distributed::message_costs(*ranks_.transport());
}

void RankSky::agree(const std::string& call, std::exception_ptr error) const {
    ranks_.agree(call, std::move(error));
}

std::vector<double> RankSky::sum_rings(View<const double, 2> partial) const {
    return plan_->local().transform().sum_rings(partial);
}

std::vector<double> RankSky::gather(double number) const {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    std::vector<double> numbers;
    for (const auto& one : ranks_.gather(bytes)) {
        std::memcpy(&number, one.data(), sizeof number);
        numbers.push_back(number);
    }
    return numbers;
}

}  // namespace zonal::distributed
