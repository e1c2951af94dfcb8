#include "core/threads/control_groups.hpp"

#include <algorithm>
#include <fstream>

namespace zonal::core {
namespace {

namespace fs = std::filesystem;

/// The share of CPU time that one group allows: two numbers of microseconds, in one file "150000 100000" or
/// in two.
std::optional<double> quota_of(const fs::path& folder, ControlGroupVersion version) {
    double quota = -1, period = 0;
    if (version == ControlGroupVersion::two) {
        std::ifstream file(folder / "cpu.max");
        file >> quota >> period;
        if (!file) return std::nullopt;  // "max 100000"
    } else {
        quota = number_in(folder / "cpu.cfs_quota_us").value_or(-1);
        period = number_in(folder / "cpu.cfs_period_us").value_or(0);
    }
    if (!(quota > 0 && period > 0)) return std::nullopt;
    return quota / period;
}

}  // namespace

std::optional<double> number_in(const fs::path& path) {
    std::ifstream file(path);
    double number = 0;
    if (file >> number) return number;
    return std::nullopt;
}

// proc/self/cgroup names the groups in lines "0::/path" and "9:cpu,memory:/path"; a path that a container
// does not show leads to the groups above it, which it does.
void for_each_control_group(const fs::path& root, const std::string& controller,
                            const std::function<void(const fs::path&, ControlGroupVersion)>& visit) {
    std::ifstream file(root / "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const bool is_version_1 = controllers.find("," + controller + ",") != std::string::npos;
        if (!is_version_1 && controllers != ",,") continue;
        const auto all = root / "sys/fs/cgroup", top = is_version_1 ? all / controller : all;
        auto folder = (top / fs::path(line.substr(second + 1)).relative_path()).lexically_normal();
        for (;; folder = folder.parent_path()) {
            visit(folder, is_version_1 ? ControlGroupVersion::one : ControlGroupVersion::two);
            if (folder == top || !folder.has_relative_path()) break;
        }
    }
}

std::optional<double> cpu_quota(const fs::path& root) {
    std::optional<double> least;
    for_each_control_group(root, "cpu", [&least](const fs::path& folder, ControlGroupVersion version) {
        if (const auto quota = quota_of(folder, version)) least = std::min(least.value_or(*quota), *quota);
    });
    return least;
}

}  // namespace zonal::core
