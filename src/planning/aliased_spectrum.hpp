#pragma once

#include <cstdint>
#include <vector>

namespace zonal::split {

/// C_l of the coefficients that a sum over the pixels of a map of c_l sees, up to l = 6 nside or the end of
/// c_l: c_l, which goes on with its last, and what the pixels alias, at most. That was measured on HEALPix
/// maps without weights (docs/planner.md); with weights and on other grids there is less. c_l: not empty.
/// nside: on other grids that of as many pixels.
std::vector<double> aliased_spectrum(const std::vector<double>& c_l, double nside);

}  // namespace zonal::split
