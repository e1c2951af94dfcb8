#pragma once

#include <cstdint>

#include "session.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {

/// One way of zonal plan and zonal smooth --explain.
Json report_of(const ConvolutionChoice& choice);

/// What an iteration of the analysis of a HEALPix map leaves of its error.
double iteration_gain(std::int64_t lmax, std::int64_t nside);

}  // namespace zonal::cli
