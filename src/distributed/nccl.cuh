#pragma once

#include <functional>
#include <string>

#include "core/cuda.cuh"

/// NCCL, which sends between the memories of devices. It is opened when it is first needed, so that programs
/// run without it.
namespace zonal::distributed {

/// Why this process cannot use NCCL; "" if it can.
const std::string& missing_nccl();

/// One rank's end of a group of ranks, each with a device of its own. No function waits for another rank
/// without calling between_looks(), which may throw. Functions throw CommunicationError.
class NcclGroup {
  public:
    using Poll = std::function<void()>;

    /// Collective.
    NcclGroup(int device, int rank, int n_ranks, const std::string& id, const Poll& between_looks);
    /// Others may leave earlier or later, once nothing is under way.
    ~NcclGroup() { abort(); }
    NcclGroup(const NcclGroup&) = delete;
    NcclGroup& operator=(const NcclGroup&) = delete;

    /// What is sent and received between begin() and end() goes together, in the order of the stream.
    void begin();
    void send(const void* bytes, std::size_t count, int rank, cudaStream_t stream);
    void receive(void* bytes, std::size_t count, int rank, cudaStream_t stream);
    void end(const Poll& between_looks);
    /// Throws what went wrong with what is under way.
    void check() const;
    /// Ends what is under way, without the other ranks. Nothing can be sent afterwards.
    void abort() noexcept;

  private:
    void require() const;

    void* communicator_ = nullptr;  ///< an ncclComm_t
    bool is_begun_ = false;         ///< between begin() and end()
};

}  // namespace zonal::distributed
