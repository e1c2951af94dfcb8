#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sky/sky_part.hpp"

/// What carries a distributed transform's data between its ranks: MPI, threads of one process, or nothing.
namespace zonal::distributed {

class DeviceLink;

/// Memory that goes to a rank, or that is filled by what comes from one. Lengths may exceed 2^31 bytes.
template <class Byte>
struct Message {
    int rank;
    std::span<Byte> bytes;
};

/// An exchange under way. Destroying it waits, too, and ignores errors.
class Exchange {
  public:
    virtual ~Exchange() = default;
    /// Returns when all of this rank's messages have been sent and received. Throws CommunicationError.
    virtual void wait() = 0;
};

/// One rank's end. All ranks make the same calls in the same order; each rank calls from one thread at a
/// time. Functions throw CommunicationError if a rank fails or is gone.
class Transport {
  public:
    virtual ~Transport() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Whether nothing is sent, for want of other ranks or because this one's share is only measured.
    virtual bool is_alone() const { return size() == 1; }

    /// Begins to send and receive, and goes on while the caller computes. Lengths agree on both sides; at
    /// most one message goes from one rank to another, and none to the rank itself. The memory must stay as
    /// it is until wait() has returned.
    virtual std::unique_ptr<Exchange> exchange(std::vector<Message<const std::byte>> send,
                                               std::vector<Message<std::byte>> receive) = 0;

    /// Returns every rank's bytes, by rank, on all ranks. Lengths may differ.
    virtual std::vector<std::string> gather(const std::string& bytes) = 0;

    /// Throws CommunicationError if a rank is known to be gone, for those who wait without this transport.
    virtual void check_ranks() {}

    /// How long to wait for another rank, above 0, before CommunicationError names the ranks that are silent.
    /// Without it, for ever. Collective: a gathering takes more messages then. After such an error messages
    /// are given up while MPI may still read and write their memory, so that the job must end: at_silence, if
    /// there is one, is called with the error's text before it is thrown, while that memory is there. Throws
    /// InvalidArgument where ranks are not connected by MPI.
    virtual void set_timeout(double seconds, const std::function<void(const std::string&)>& at_silence);

    /// Tells all other ranks that this one is about to say why the job fails, and to end it. Without MPI, or
    /// where only one thread may call MPI, they do not hear of it.
    virtual void announce_end() {}
    /// The lowest of the other ranks that have announced an end; -1 if none has.
    virtual int rank_that_ends() { return -1; }

    /// What plans of this job send by between devices (device_link.hpp), once one of them needs it.
    std::shared_ptr<DeviceLink> device_link;

    /// What messages cost, once that was measured (message_costs.hpp).
    std::optional<MessageCosts> message_costs;

    /// Whether the last agreement (agreement.hpp) was on an error, which all ranks are throwing.
    bool failed_together = false;
};

}  // namespace zonal::distributed
