#pragma once

#include <cstdint>

namespace zonal::cli {

/// What an iteration of the analysis of a HEALPix map leaves of its error.
double iteration_gain(std::int64_t lmax, std::int64_t nside);

}  // namespace zonal::cli
