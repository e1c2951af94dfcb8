#include <mpi.h>

#include <cstdlib>
#include <exception>

#include "distributed/mpi/transport.hpp"
#include "zonal/distributed/mpi.hpp"
#include "zonal/error.hpp"

namespace zonal::mpi {
namespace {

bool is_initialized() {
    int yes = 0;
    MPI_Initialized(&yes);
    return yes != 0;
}

bool is_finalized() {
    int yes = 0;
    MPI_Finalized(&yes);
    return yes != 0;
}

}  // namespace

Environment::Environment() : is_mine_(!is_initialized()), n_exceptions_(std::uncaught_exceptions()) {
    if (is_finalized()) throw CommunicationError("MPI has been finalized and cannot be initialized again");
    int level = MPI_THREAD_SINGLE;
    if (is_mine_ && MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
        throw CommunicationError("MPI_Init_thread failed");
    if (is_mine_)  // MPICH asks theirs, not the communicator's own, what becomes of errors of several
                   // messages
        for (MPI_Comm communicator : {MPI_COMM_WORLD, MPI_COMM_SELF})
            MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
}

Environment::~Environment() {
    if (!is_mine_ || is_finalized()) return;
    if (std::uncaught_exceptions() == n_exceptions_)
        MPI_Finalize();
    else
        std::atexit([] {
            if (!is_finalized()) MPI_Abort(MPI_COMM_WORLD, 1);
        });
}

bool Environment::has_threads() const {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

std::shared_ptr<distributed::Transport> world() {
    distributed::check_mpi_runs();
    return from_fortran(MPI_Comm_c2f(MPI_COMM_WORLD));
}

std::shared_ptr<distributed::Transport> from_fortran(int communicator) {
    return distributed::connect_mpi(communicator);
}

void abort(int status) {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::abort();  // MPI_Abort does not return
}

}  // namespace zonal::mpi

// What launch.cpp looks up in this library.
extern "C" {

void zonal_mpi_world(std::shared_ptr<zonal::distributed::Transport>* world) {
    struct Job {
        zonal::mpi::Environment environment;
        std::shared_ptr<zonal::distributed::Transport> world;  // ends first
    };
    const auto job = std::make_shared<Job>();
    job->world = zonal::mpi::world();
    *world = {job, job->world.get()};
}

void zonal_mpi_abort(int status) {
    zonal::mpi::abort(status);
}

}  // extern "C"
