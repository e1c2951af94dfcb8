#pragma once

#include <algorithm>

#include "zonal/convolution.hpp"

namespace zonal::planning {

/// How well tables and series must stand for a kernel's profile (PixelConvolutionOptions::accuracy): a
/// hundredth of the error. The splines of splits converge no further than that, and a larger share would show
/// in the result.
inline double accuracy_of_sums(Precision precision, double error) {
    constexpr double share = 0.01, most = 1e-5;
    return std::clamp(share * error, default_accuracy(precision), most);
}

}  // namespace zonal::planning
