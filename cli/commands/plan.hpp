#pragma once

#include <functional>
#include <vector>

#include "shell/program.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::cli {

/// Goes on with the ways of a request, of which the first keeps its error.
using ChoicesFollowUp =
    std::function<void(const ConvolutionRequest&, const std::vector<ConvolutionChoice>&, Session&)>;

/// Declares the options of zonal plan, and what it does as the action. follow_up: is called for each sort of
/// fields, where it is given.
void declare_plan(CLI::App& app, Action& action, const ChoicesFollowUp& follow_up = {});

}  // namespace zonal::cli
