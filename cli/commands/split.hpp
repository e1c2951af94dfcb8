#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/picture.hpp"
#include "options/split_options.hpp"
#include "shell/session.hpp"
#include "zonal/split.hpp"

namespace zonal::cli {

/// Goes on with a split that was found, and returns graphs of it.
using SplitFollowUp = std::function<std::vector<Graph>(const std::vector<double>& kernel,
                                                       const KernelSplitter& splitter, std::int64_t l_cut)>;

/// What zonal split does. follow_up: is called where it is given; --plot draws its graphs below the split's
/// own.
void run_split(const SplitOptions& options, Session& session, const SplitFollowUp& follow_up = {});

}  // namespace zonal::cli
