#pragma once

#include <vector>

#include "radial/pixel_sum/schedule.hpp"

namespace zonal::radial {

/// Where weights between square rings come from: the kernel itself, as those of few pixels that are spread,
/// or tables, as those of sums over all pixels.
enum class WeightSource { kernel, tables };

/// What the sum over pixels of a map of 1 is, with the rings' weights left out, in 1/sr: for some output
/// pixels, whose sums do not depend on which others are wanted; 0 for the others. Pixels of a ring share
/// their sums over equal rings, and their images those over square ones. wanted: [pixel].
std::vector<double> weight_sums(const PixelSumSchedule& schedule, const std::vector<bool>& wanted,
                                WeightSource source, int threads);

}  // namespace zonal::radial
