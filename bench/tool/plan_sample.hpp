#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/pixel_reference.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::cli {

/// A map and its convolution as it should be.
struct Sample {
    std::string description;
    std::vector<double> map;  ///< [component, pixel]
    ReferenceMap reference;
};

/// A random white map, of spin 0 or Q and U, on a HEALPix grid: noise on the pixels where the reference is
/// discrete, and otherwise alm up to lmax. request: complete.
Sample make_sample(const ConvolutionRequest& request, std::uint64_t seed);

}  // namespace zonal::cli
