#pragma once

#include <cstdint>
#include <memory>

#include "distributed/device_link.hpp"
#include "distributed/sums/halo.hpp"
#include "zonal/distributed/plan.hpp"

/// How a rank's maps of a halo come from the other ranks: by a link between GPUs, or through host memory.
namespace zonal::distributed {

/// What a rank's exchanges have in common. The ranks and the copies outlive them.
struct HaloCall {
    const Communicator& ranks;
    const HaloCopies& copies;
    Device device;          ///< what the rank computes on
    std::int64_t n_pixels;  ///< of all that is reached
};

/// Collective. Sends pixels from the maps to the memory of other ranks' GPUs. maps: on this rank's, as on all
/// other ranks.
template <class T>
std::unique_ptr<HaloExchange<T>> exchange_by_link(const HaloCall& call, std::shared_ptr<DeviceLink> link,
                                                  View<const T, 3> maps, HaloMemory& memory);

/// Collective. Sends pixels as messages between the memories of hosts. maps: in the host's memory or this
/// rank's GPU's. at_once: rows that travel at a time, the same on all ranks.
template <class T>
std::unique_ptr<HaloExchange<T>> exchange_by_messages(const HaloCall& call, View<const T, 3> maps,
                                                      std::int64_t at_once, HaloMemory& memory);

}  // namespace zonal::distributed
