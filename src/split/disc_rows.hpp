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

}  // namespace zonal::split
