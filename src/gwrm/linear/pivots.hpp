#pragma once

#include <limits>

namespace zonal::gwrm {

/// Below so many roundings of the largest pivot a pivot is taken for 0.
inline constexpr double smallest_pivot = 1e-3 * std::numeric_limits<double>::epsilon();

/// Of the magnitudes of a matrix's pivots. NaN counts.
inline bool has_small_pivot(double smallest, double largest) {
    return !(smallest > smallest_pivot * largest);
}

}  // namespace zonal::gwrm
