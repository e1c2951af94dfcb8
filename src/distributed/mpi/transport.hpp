#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "distributed/transport.hpp"

namespace zonal::distributed {

/// What only tests change, to see rare cases.
struct MpiOptions {
    /// Messages of more bytes are sent in blocks, as MPI 3 counts in int.
    std::int64_t largest_count = std::numeric_limits<int>::max();
    /// false: as where MPI does not provide MPI_THREAD_MULTIPLE.
    bool with_thread = true;
};

/// Throws CommunicationError unless MPI has been initialized and not finalized.
void check_mpi_runs();

/// The ranks of an MPI communicator, given by its Fortran handle, which is duplicated. Collective.
///
/// A thread of the transport drives the messages while the rank computes, as MPI moves large ones only within
/// its calls. Where MPI does not provide MPI_THREAD_MULTIPLE there is none, and messages move in wait().
std::shared_ptr<Transport> connect_mpi(int communicator, const MpiOptions& options = {});

}  // namespace zonal::distributed
