#pragma once

#include <vector>

#include "zonal/grid.hpp"

namespace zonal::planning {

/// Returns, [l], window_norm of the windows from degree l on; the last value, past their end, is 0.
std::vector<double> window_norms_from(const Grid& grid, const std::vector<std::vector<double>>& windows);

}  // namespace zonal::planning
