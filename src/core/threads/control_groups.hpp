#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

/// The control groups that the process is in: containers and batch systems set limits by them.
namespace zonal::core {

enum class ControlGroupVersion { one, two };

/// Calls visit(folder, version) for each group whose limits on what `controller` controls ("memory", "cpu")
/// hold for the process, from its own up to the outermost that can be seen. root: the folder that holds proc
/// and sys.
void for_each_control_group(
    const std::filesystem::path& root, const std::string& controller,
    const std::function<void(const std::filesystem::path&, ControlGroupVersion)>& visit);

/// Returns the number that a file begins with; nothing where there is no such file, or it holds "max".
std::optional<double> number_in(const std::filesystem::path& path);

/// Returns how many CPUs' time the control groups give the process, such as 1.5; nothing where they set no
/// limit.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

}  // namespace zonal::core
