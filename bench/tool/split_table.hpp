#pragma once

#include "options/split_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// Table 1 of Sutter, Wandelt & Elsner (2015) with our l_cut beside theirs, and what both cost by the paper's
/// model: into the report's "table".
void reproduce_table1(const SplitOptions& options, Session& session);

}  // namespace zonal::cli
