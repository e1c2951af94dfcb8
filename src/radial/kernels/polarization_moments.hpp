#pragma once

#include "zonal/polarization_convolution.hpp"

/// What parts of a kernel of Q and U have of windows of E and B.
namespace zonal::radial {

/// W_l = 2 pi int (K+ d^l_{2,2} +- K- d^l_{2,-2}) sin theta d theta, l = 0 .. lmax, of the kernel from
/// `first` to `last` (rad), between which it has no steps.
SpinWindows windows_between(const PolarizationKernel& kernel, double first, double last, std::int64_t lmax);

/// sum_l (2l+1)/(4 pi) (W^E_l^2 + W^B_l^2) over all degrees, of the same part.
double power_between(const PolarizationKernel& kernel, double first, double last);

}  // namespace zonal::radial
