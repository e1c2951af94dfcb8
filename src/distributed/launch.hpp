#pragma once

#include <memory>

#include "distributed/transport.hpp"

namespace zonal::distributed {

/// All ranks of the job if this process was started by mpirun or the like, as the environment shows; null if
/// it was started alone. Loads the library zonal_mpi, so that programs need not be linked with MPI. MPI ends
/// with the last copy of the result (zonal::mpi::Environment says how, after an exception). Throws
/// CommunicationError if the library is not there, or belongs to another MPI than mpirun does.
std::shared_ptr<Transport> launched_job();

/// Whether the launcher says that this process is the only rank.
bool is_launched_alone();

/// Ends all ranks of launched_job() at once, with mpirun's exit status.
void abort_launched_job(int status);

}  // namespace zonal::distributed
