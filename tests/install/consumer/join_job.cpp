// Uses the component mpi: joins a job, of this program alone unless mpirun starts it.
#include <zonal/distributed/mpi.hpp>

#include <cstdio>

int main() {
    const zonal::mpi::Environment environment;
    const bool joined = zonal::mpi::world() != nullptr;
    std::puts(joined ? "joined the job" : "there is no job");
    return joined ? 0 : 1;
}
