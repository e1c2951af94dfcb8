#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "distributed/transport.hpp"

namespace zonal::python {

/// Carries messages by the methods of an mpi4py communicator, so that the package is linked with no MPI and
/// uses the one that mpi4py found. Its calls are made without the GIL and take it where they need it.
///
/// mpi: the module mpi4py.MPI. communicator: of this transport's own messages. longest_message: longer ones
/// go in pieces; below 2^31. with_thread: a thread lets MPI carry on while the rank computes, which needs
/// MPI_THREAD_MULTIPLE; without it, messages move while the rank waits for them.
std::shared_ptr<distributed::Transport> connect_mpi4py(nanobind::object mpi, nanobind::object communicator,
                                                       std::int64_t longest_message, bool with_thread);

}  // namespace zonal::python
