#include "shell/version.hpp"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <CLI/Version.hpp>
#include <fstream>

#include "zonal/device.hpp"

namespace zonal::cli {
namespace {

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

}  // namespace

std::string version() {
    return ZONAL_VERSION;
}

Json version_report() {
    utsname system = {};
    uname(&system);
    // The others by what the build found: their own version functions live in the layers that use them.
    const auto fmt_version =
        fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
    const Json libraries = {{"Highway", ZONAL_BUILT_WITH_HIGHWAY},
                            {"CFITSIO", ZONAL_BUILT_WITH_CFITSIO},
                            {"fmt", fmt_version},
                            {"CLI11", CLI11_VERSION}};
    return {{"zonal", version()},
            {"libraries", libraries},
            {"compiler", __VERSION__},
            {"simd", simd_target()},
            {"cpus", available_cpus()},
            {"cpu", cpu_model()},
            {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}};
}

}  // namespace zonal::cli
