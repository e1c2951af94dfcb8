#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {

/// One way of zonal plan and zonal smooth --explain.
Json report_of(const ConvolutionChoice& choice);

/// All of them ("choices") and what they were found by ("costs").
void report_choices(const std::vector<ConvolutionChoice>& choices, const std::string& costs,
                    Session& session);

/// What an iteration of the analysis of a HEALPix map leaves of its error.
double iteration_gain(std::int64_t lmax, std::int64_t nside);

}  // namespace zonal::cli
