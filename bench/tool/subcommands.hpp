#pragma once

#include "shell/program.hpp"

namespace zonal::cli {

/// The subcommands of zonal-bench.
void add_bench_split(CLI::App& root, Session& session, Action& action);

}  // namespace zonal::cli
