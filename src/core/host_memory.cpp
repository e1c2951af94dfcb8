#include "core/host_memory.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include "zonal/error.hpp"

namespace zonal {

void require_host_memory(double bytes, const std::string& what) {
    const double there =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (bytes > there)
        throw OutOfMemory(
            fmt::format("{} needs {:.3g} GB of memory, {:.3g} GB are there", what, bytes / 1e9, there / 1e9));
}

}  // namespace zonal
