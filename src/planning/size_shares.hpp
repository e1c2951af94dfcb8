#pragma once

#include <span>
#include <vector>

namespace zonal::split {

/// What each of the sizes of a SizeCost counts at n_pixels > 0. sizes: ascending, above 0.
std::vector<double> size_shares(std::span<const double> sizes, double n_pixels);

}  // namespace zonal::split
