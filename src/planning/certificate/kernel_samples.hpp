#pragma once

#include <functional>
#include <vector>

#include "zonal/kernel.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::planning {

/// |K| of a kernel, or |K+| + |K-| for Q and U, at angles so dense that it is nearly linear in between.
struct KernelSamples {
    std::vector<double> theta, value;  ///< rad, ascending from 0; 1/sr
    /// int |K| dOmega beyond the last angle, where all is below 1e-15 of the peak.
    double remainder = 0;
    double peak = 0;
    bool is_signed = false;  ///< whether some values are negative
    double integral = 0;     ///< int K dOmega, with the signs
};

KernelSamples sample(const RadialKernel& kernel);
KernelSamples sample(const PolarizationKernel& kernel);

}  // namespace zonal::planning
