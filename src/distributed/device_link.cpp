#include "distributed/device_link.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "distributed/agreement.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

const char* name_of(ExchangeWay way) {
    return way == ExchangeWay::nccl ? "nccl" : way == ExchangeWay::host ? "host" : "automatic";
}

/// Every rank's, from all of them.
std::vector<RankLink> gather_links(Transport& job, Device device) {
    RankLink mine;
    agree(job, "devices", thrown_by([&] {
              if (device.kind() == Device::Kind::cuda) mine = cuda_rank_link(device.index());
          }));
    std::vector<RankLink> links;
    const auto devices = job.gather(mine.device), reasons = job.gather(mine.no_nccl);
    for (std::size_t i = 0; i < devices.size(); ++i) links.push_back({devices[i], reasons[i]});
    return links;
}

/// Whether all ranks have a link, from a plan before, of the device that they use now.
bool are_connected(Transport& job, Device device) {
    const bool has_link = job.device_link != nullptr && device.kind() == Device::Kind::cuda &&
                          job.device_link->device() == device.index();
    const auto all = job.gather(has_link ? "1" : "0");
    return std::all_of(all.begin(), all.end(), [](const auto& one) { return one == "1"; });
}

std::shared_ptr<DeviceLink> connect(Transport& job, int device, const std::string& way) {
    job.device_link = nullptr;
    std::string id;
    agree(job, way, thrown_by([&] {
              if (job.rank() == 0) id = make_nccl_id();
          }));
    job.device_link = make_cuda_link(job, device, job.gather(id)[0]);
    return job.device_link;
}

}  // namespace

std::string why_no_nccl(const std::vector<RankLink>& ranks) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i].device.empty()) return fmt::format("rank {} computes on the CPU", i);
        if (!ranks[i].no_nccl.empty()) return fmt::format("rank {}: {}", i, ranks[i].no_nccl);
        for (std::size_t j = 0; j < i; ++j)
            if (ranks[j].device == ranks[i].device)
                return fmt::format("ranks {} and {} have the same GPU, and each must have its own", j, i);
    }
    return "";
}

ChosenExchange choose_exchange(Transport& job, Device device, ExchangeWay wanted) {
    const auto way = fmt::format("a plan with exchange = {}", name_of(wanted));
    agree(job, way, nullptr);
    if (wanted == ExchangeWay::host) return {{ExchangeWay::host, "it was asked for"}, nullptr};
    if (!job.is_alone() && are_connected(job, device)) return {{ExchangeWay::nccl, ""}, job.device_link};
    const auto links = gather_links(job, device);
    const auto reason = why_no_nccl(links);
    if (!reason.empty() && wanted == ExchangeWay::nccl)
        throw InvalidArgument("exchange", "nccl",
                              fmt::format("{}: must be automatic or host for these ranks", reason));
    if (wanted == ExchangeWay::automatic && job.is_alone()) {
        const bool on_gpu = !links[0].device.empty();
        return {{ExchangeWay::host, "a rank that is alone sends nothing"},
                on_gpu ? make_cuda_link(job, device.index(), "") : nullptr};
    }
    if (!reason.empty()) return {{ExchangeWay::host, reason}, nullptr};
    return {{ExchangeWay::nccl, ""}, connect(job, device.index(), way)};
}

}  // namespace zonal::distributed
