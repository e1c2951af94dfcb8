#pragma once

#include <cmath>
#include <vector>

#include "zonal/kernel.hpp"

namespace zonal::test {

/// Falling, rising, of both signs, and one that ends with a step.
inline std::vector<RadialKernel> kernels_of_all_kinds() {
    std::vector<double> window(25);
    for (std::size_t l = 0; l < window.size(); ++l)
        window[l] = std::exp(-std::pow((static_cast<double>(l) - 12) / 5, 2));
    return {RadialKernel::gaussian(0.35),
            RadialKernel::gaussian(0.9),
            RadialKernel::top_hat(0.5),
            RadialKernel::gaussian(0.9).truncated(0.6),
            RadialKernel::from_window(window),
            RadialKernel::from_profile({0, 0.3, 0.6, 1, 1.4}, {0.2, 0.4, 1, 0.3, 0}),
            RadialKernel::from_profile({0, 0.29, 0.31, 0.6, 0.7, 2}, {1, 1, -0.33, -0.33, 0, 0})};
}

}  // namespace zonal::test
