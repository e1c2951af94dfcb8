#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>

#include "options/common_options.hpp"
#include "shell/session.hpp"
#include "zonal/grid.hpp"

namespace zonal::cli {

/// Options that say on which maps something is measured, and how often.
struct MapRunOptions {
    std::optional<std::int64_t> nside, n_lat, lmax;
    std::int64_t spin = 0, maps = 1, iterations = 0, repeat = 3;
    RunOptions run;
};
void declare_options(CLI::App& app, MapRunOptions& options);

struct MapRun {
    Grid grid;
    std::int64_t nside;  ///< 0: not HEALPix
    std::int64_t spin, lmax, maps, iterations, repeat;
    RunOptions run;
};

/// Reports grid, device and threads. Throws UsageError for options that contradict each other.
MapRun make_run(const MapRunOptions& options, Session& session);

}  // namespace zonal::cli
