#pragma once

#include "shell/program.hpp"

namespace zonal::cli {

/// The subcommands of zonal-bench.
void add_bench_sht(CLI::App& root, Session& session, Action& action);
void add_bench_distributed(CLI::App& root, Session& session, Action& action);
void add_bench_radial(CLI::App& root, Session& session, Action& action);
void add_bench_chebyshev(CLI::App& root, Session& session, Action& action);
void add_bench_plan(CLI::App& root, Session& session, Action& action);
void add_bench_split(CLI::App& root, Session& session, Action& action);

}  // namespace zonal::cli
