#pragma once

#include <string>
#include <vector>

#include "shell/session.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {

/// One way of zonal plan and zonal smooth --explain.
Json report_of(const ConvolutionChoice& choice);

/// All of them ("choices") and what they were found by ("costs").
void report_choices(const std::vector<ConvolutionChoice>& choices, const std::string& costs,
                    Session& session);

}  // namespace zonal::cli
