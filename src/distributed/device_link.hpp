#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distributed/transport.hpp"
#include "zonal/device.hpp"
#include "zonal/distributed/plan.hpp"

namespace zonal::distributed {

/// Carries messages between the memories of devices, and waits for a device's work, for a rank that keeps the
/// coefficients of bands there.
class DeviceLink {
  public:
    virtual ~DeviceLink() = default;
    virtual int device() const = 0;
    /// As Transport::exchange, of memory on this device; several messages may go from one rank to another, in
    /// the same order on both sides. It begins when the stream has done what it has been
    /// given so far, and wait() returns at once: what the stream is given afterwards waits for the messages.
    virtual std::unique_ptr<Exchange> exchange(const std::vector<Message<const std::byte>>& send,
                                               const std::vector<Message<std::byte>>& receive,
                                               void* stream) = 0;
    /// Waits for all that the stream has been given, and calls between_looks() meanwhile. Throws
    /// CommunicationError, and ends what is under way, if anything goes wrong with the device or a rank.
    virtual void wait(void* stream, const std::function<void()>& between_looks) = 0;
};

/// What a rank tells the others about itself.
struct RankLink {
    std::string device;   ///< which no other device of the job is called; "" for the CPU
    std::string no_nccl;  ///< why it has no NCCL; "" if it has
};

/// Why the ranks cannot use NCCL; "" if they can.
std::string why_no_nccl(const std::vector<RankLink>& ranks);

struct ChosenExchange {
    ExchangeReport report;
    std::shared_ptr<DeviceLink> link;  ///< null: bands lie in host memory
};

/// Collective. Throws InvalidArgument on all ranks where NCCL is asked for and cannot be used, or if ranks
/// ask for different ways. Ranks keep what NCCL needs for the next plans in `job`.
ChosenExchange choose_exchange(Transport& job, Device device, ExchangeWay wanted);

RankLink cuda_rank_link(int device);
/// What ranks connect by: one of them makes it, and all use the same. Throws CommunicationError.
std::string make_nccl_id();
/// Collective where the ranks have an id; "" for one rank alone, without NCCL.
std::shared_ptr<DeviceLink> make_cuda_link(Transport& job, int device, const std::string& id);

}  // namespace zonal::distributed
