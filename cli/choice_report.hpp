#pragma once

#include "session.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {

/// One way of zonal plan and zonal smooth --explain.
Json report_of(const ConvolutionChoice& choice);

}  // namespace zonal::cli
