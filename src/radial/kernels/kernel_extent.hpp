#pragma once

#include "zonal/kernel.hpp"

namespace zonal::radial {

struct KernelExtent {
    double theta;  ///< rad, from where on nothing of the profile counts; at most the support
    double peak;   ///< the largest |K| that was seen, 1/sr
};

/// threshold: of the peak, what counts as nothing.
KernelExtent find_extent(const RadialKernel& kernel, double threshold);

}  // namespace zonal::radial
