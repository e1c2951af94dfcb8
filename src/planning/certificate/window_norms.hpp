#pragma once

#include <vector>

#include "zonal/grid.hpp"

namespace zonal::planning {

/// Returns window_norm of the windows from each degree on, [l], and 0 behind their end.
std::vector<double> window_norms_from(const Grid& grid, const std::vector<std::vector<double>>& windows);

}  // namespace zonal::planning
