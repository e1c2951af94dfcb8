#include "zonal/memory.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/threads/control_groups.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

namespace fs = std::filesystem;

/// The number behind a key in a file of lines "key 12" or "key: 12 kB", in bytes.
std::optional<double> number_behind(const std::string& key, const fs::path& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name, unit;
        double number = 0;
        if (words >> name >> number && (name == key || name == key + ":"))
            return words >> unit && unit == "kB" ? 1024 * number : number;
    }
    return std::nullopt;
}

/// Names of the files of one version of control groups.
struct GroupFiles {
    const char* limit;
    const char* used;
    const char* cache;  ///< in memory.stat: files in memory that the system drops first
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

/// Returns what the limits of the process's control groups leave; nothing where no group has a limit.
std::optional<double> left_by_control_groups(const fs::path& root) {
    std::optional<double> least;
    core::for_each_control_group(
        root, "memory", [&least](const fs::path& folder, core::ControlGroupVersion version) {
            const auto& files = version == core::ControlGroupVersion::one ? version_1 : version_2;
            const auto limit = core::number_in(folder / files.limit),
                       used = core::number_in(folder / files.used);
            if (!limit || !used) return;
            const double left =
                *limit - *used + number_behind(files.cache, folder / "memory.stat").value_or(0);
            least = std::min(least.value_or(left), left);
        });
    return least;
}

std::optional<double> left_by_limit(const fs::path& root, decltype(RLIMIT_AS) resource, const char* used) {
    rlimit limit = {};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return static_cast<double>(limit.rlim_cur) - number_behind(used, root / "proc/self/status").value_or(0);
}

/// The system's own figure, and swap; without it all memory that the machine has.
double left_by_system(const fs::path& root) {
    const auto info = root / "proc/meminfo";
    if (const auto available = number_behind("MemAvailable", info))
        return *available + number_behind("SwapFree", info).value_or(0);
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

AvailableMemory available_memory(const std::string& root) {
    AvailableMemory least{left_by_system(root), "this machine"};
    const auto consider = [&least](std::optional<double> bytes, const char* limit, bool is_shared) {
        if (bytes && *bytes < least.bytes) least = {*bytes, limit, is_shared};
    };
    consider(left_by_control_groups(root), "the control group (container)", true);
    consider(left_by_limit(root, RLIMIT_AS, "VmSize"), "ulimit -v", false);
    consider(left_by_limit(root, RLIMIT_DATA, "VmData"), "ulimit -d", false);
    least.bytes = std::max(least.bytes, 0.0);
    return least;
}

void return_freed_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void require_memory(double bytes, const std::string& what) {
    auto available = available_memory();
    if (bytes > available.bytes) {
        return_freed_memory();
        available = available_memory();
    }
    if (bytes > available.bytes)
        throw OutOfMemory(fmt::format(
            "{} needs {:.3g} GB of memory; {} has {:.3g} GB left: {}, or ask for less", what, bytes / 1e9,
            available.limit, available.bytes / 1e9, available.is_shared ? "free some" : "raise it"));
}

ResidentMemory resident_memory(const std::string& root) {
    const auto status = fs::path(root) / "proc/self/status";
    return {number_behind("VmRSS", status).value_or(0), number_behind("VmHWM", status).value_or(0)};
}

}  // namespace zonal
