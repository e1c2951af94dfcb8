#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "zonal/grid.hpp"

/// What windows, [component][l], do at most.
namespace zonal::planning {

using Windows = std::vector<std::vector<double>>;

/// Returns the largest absolute value at degrees from `first` to `last`.
double largest_of(const Windows& windows, std::int64_t first = 0,
                  std::int64_t last = std::numeric_limits<std::int64_t>::max());

/// Returns the degree above which all windows are below a tenth of the error times their largest value; at
/// least 2, but not above `most`.
std::int64_t last_degree(const Windows& windows, double error, std::int64_t most);

/// Returns, [l], window_norm of the windows from degree l on; the last value, past their end, is 0.
std::vector<double> window_norms_from(const Grid& grid, const Windows& windows);

}  // namespace zonal::planning
