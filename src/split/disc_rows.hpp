#pragma once

#include <cmath>
#include <cstdint>

#include "zonal/convolution.hpp"

namespace zonal::split {

/// Rows of pixels that the discs of a sum over pixels have together, up to a factor: the root of each disc's
/// number of pixels.
inline double disc_rows(const PixelConvolutionWork& work, std::int64_t n_pixels) {
    return std::sqrt(work.pixel_products * static_cast<double>(n_pixels));
}

/// Kernel values of one ring, up to a factor: rings are as many as the root of the pixels.
inline double ring_values(const PixelConvolutionWork& work, std::int64_t n_pixels) {
    return work.kernel_values / std::sqrt(static_cast<double>(n_pixels));
}

}  // namespace zonal::split
