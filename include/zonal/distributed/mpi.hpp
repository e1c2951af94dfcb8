#pragma once

#include <memory>

namespace zonal::distributed {
class Transport;
}

/// Ranks of an MPI job: the library zonal_mpi, which is built with ZONAL_WITH_MPI.
///
/// If a rank dies or aborts, MPI and its mpirun end all others. Under Slurm this takes
/// `srun --kill-on-bad-exit=1`.
namespace zonal::mpi {

/// Starts MPI unless the program has done so, and ends it if it was started here. Lives in main(), longer
/// than everything that communicates.
///
/// When an exception destroys it, the other ranks may be waiting for this one, and so would MPI_Finalize
/// here. In that case MPI is not finalized, and the job is aborted with status 1 as soon as the program
/// exits: its own message comes first.
class Environment {
  public:
    /// Asks for MPI_THREAD_MULTIPLE. Throws CommunicationError if MPI has been finalized.
    Environment();
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    /// Whether MPI provides MPI_THREAD_MULTIPLE. Without it, messages travel only while a rank waits for
    /// them, not while it computes; the results are the same.
    bool has_threads() const;

  private:
    bool is_mine_;
    int n_exceptions_;
};

/// All ranks of the job. Collective, as it duplicates the communicator. Throws CommunicationError if MPI has
/// not been initialized, or fails.
std::shared_ptr<distributed::Transport> world();

/// The ranks of a communicator, given by its Fortran handle: MPI_Comm_c2f(comm) in C, comm.py2f() in mpi4py.
/// Collective over it. The caller keeps the communicator, which is duplicated, and may free it at any time.
/// Throws InvalidArgument for a handle of no communicator or of an intercommunicator.
std::shared_ptr<distributed::Transport> from_fortran(int communicator);

/// Ends all ranks of the job at once, for programs that catch an exception and have said what it is. mpirun
/// exits with `status`.
[[noreturn]] void abort(int status);

}  // namespace zonal::mpi
