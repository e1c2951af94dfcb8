#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "options/split_options.hpp"
#include "plot/graph.hpp"
#include "shell/session.hpp"
#include "zonal/split.hpp"

namespace zonal::cli {

/// Examines a split, adds what it finds to the report, and returns graphs of it.
using SplitCheck = std::function<std::vector<plot::Graph>(
    const std::vector<double>& kernel, const KernelSplitter& splitter, std::int64_t l_cut)>;

/// What zonal split does. check_split: is called with the split that was found, where it is given; --plot
/// draws its graphs below the split's own.
void run_split(const SplitOptions& options, Session& session, const SplitCheck& check_split = {});

}  // namespace zonal::cli
