#pragma once

#include <cstdint>
#include <vector>

namespace zonal::planning {

/// g >= 0 between two angles, rad: values at equal steps, linear in between.
struct AnnulusProfile {
    double first = 0, last = 0;
    std::vector<double> value;  ///< 2 or more
};

/// Returns the largest sum of g(theta(p, p')) over the pixels p' with first < theta <= last, of all pixels p
/// of a HEALPix grid.
double largest_row_sum(std::int64_t nside, const AnnulusProfile& g);

}  // namespace zonal::planning
