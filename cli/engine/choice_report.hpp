#pragma once

#include <string>
#include <vector>

#include "shell/session.hpp"
#include "zonal/planning/convolution_plan.hpp"

namespace zonal::cli {

/// One way of zonal plan and zonal smooth --explain.
Json report_of(const ConvolutionChoice& choice);

/// All of them ("choices") and what they were found by ("costs").
void report_choices(const std::vector<ConvolutionChoice>& choices, const std::string& costs,
                    Session& session);

/// Where a split is and what its parts took ("parts_seconds"; on two devices at the same time); nothing for
/// other methods.
void report_split(const ConvolutionChoice& choice, const SplitConvolutionSeconds& seconds, Session& session);

}  // namespace zonal::cli
