#pragma once

#include <cstdint>
#include <vector>

namespace zonal::planning {

/// A function g >= 0 between two angles, rad: values at equal steps, linear in between.
struct AnnulusProfile {
    double first = 0, last = 0;
    std::vector<double> value;  ///< 2 or more
};

/// Sums g(theta(p, p')) over the pixels p' with first < theta <= last, and returns the largest of these sums
/// over all pixels p of a HEALPix grid.
double largest_row_sum(std::int64_t nside, const AnnulusProfile& g);

}  // namespace zonal::planning
