#include "distributed/launch.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

// What tells a process that it is a rank. Slurm's own variables do not, as its batch scripts have them too.
// mpirun of Open MPI, of MPICH and its kin, of MVAPICH: the number of ranks.
constexpr std::array variables_of_size = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
// srun, and others.
constexpr std::array variables_of_rank = {"PMI_RANK", "PMIX_RANK"};

struct Launch {
    const char* variable;
    std::optional<int> n_ranks;
};

std::optional<Launch> find_launch() {
    for (const char* name : variables_of_size)
        if (const char* value = std::getenv(name)) return Launch{name, std::atoi(value)};
    for (const char* name : variables_of_rank)
        if (std::getenv(name) != nullptr) return Launch{name, {}};
    return {};
}

/// The library beside the one, or the program, that holds this function; else where the system looks.
void* open_library() {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&find_launch), &info) != 0) {
        const auto beside = std::filesystem::path(info.dli_fname).replace_filename(ZONAL_MPI_LIBRARY);
        std::error_code ignored;
        if (std::filesystem::exists(beside, ignored)) return dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    return dlopen(ZONAL_MPI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/// A function of the library, which stays loaded.
template <class Function>
Function* find_function(const char* name, const char* variable) {
    void* library = open_library();
    void* function = library == nullptr ? nullptr : dlsym(library, name);
    if (function == nullptr)
        throw CommunicationError(fmt::format(
            "{} is set, so this process is a rank of an MPI job, but Zonal's library for MPI cannot "
            "be loaded ({}): build Zonal with -DZONAL_WITH_MPI=ON, which needs Open MPI or MPICH, "
            "or start it without mpirun",
            variable, dlerror()));
    return reinterpret_cast<Function*>(function);
}

}  // namespace

std::shared_ptr<Transport> launched_job() {
    const auto launch = find_launch();
    if (!launch) return nullptr;
    std::shared_ptr<Transport> world;
    find_function<void(std::shared_ptr<Transport>*)>("zonal_mpi_world", launch->variable)(&world);
    // Else each rank would take itself for the only one.
    if (launch->n_ranks && world->size() != *launch->n_ranks)
        throw CommunicationError(fmt::format(
            "{} = {}, but MPI knows of {} ranks: use the mpirun of the MPI with which Zonal was built",
            launch->variable, *launch->n_ranks, world->size()));
    return world;
}

bool is_launched_alone() {
    const auto launch = find_launch();
    return launch && launch->n_ranks == 1;
}

void abort_launched_job(int status) {
    if (const auto launch = find_launch())
        find_function<void(int)>("zonal_mpi_abort", launch->variable)(status);
}

}  // namespace zonal::distributed
