#pragma once

#include "radial/pixel_sum/schedule.hpp"

namespace zonal::radial {

/// Values of the kernel that the CPU takes to make the weights of one pass in precision T; of square rings
/// estimated from some of them, as it depends on the kernel how many it takes to make polynomials right.
template <class T>
double count_weight_values(const PixelSumSchedule& schedule);

}  // namespace zonal::radial
