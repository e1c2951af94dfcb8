#pragma once

#include <algorithm>

#include "zonal/convolution.hpp"

/// What the arithmetic of a convolution adds to its error: docs/decisions/errors.md.
namespace zonal::planning {

/// What transforms round, relative to the convolved map.
inline constexpr double transform_rounding = 1e-14;

/// What sums over pixels round, relative to the convolved map: measured, of single precision against double
/// and of double against other orders of summation, and a little more. In single precision it grows with the
/// kernel's radius in pixels: where sums over pixels end with the profile (is_cut), more of them are added
/// up, and less where ring FFTs do it all.
inline double rounding_of_sums(Precision precision, double radius_in_pixels, bool is_cut) {
    constexpr double in_double = 1e-11, in_single = 1e-6;
    constexpr double per_pixel_of_sums = 1.2e-7, per_pixel_of_rings = 1.5e-8;
    if (precision == Precision::float64) return in_double;
    return in_single + (is_cut ? per_pixel_of_sums : per_pixel_of_rings) * radius_in_pixels;
}

/// How well tables and series must stand for a kernel's profile (PixelConvolutionOptions::accuracy): a
/// hundredth of the error, which is where splines of splits stop converging, and more would show.
inline double accuracy_of_sums(Precision precision, double error) {
    constexpr double share = 0.01, single = 3e-8, least = 1e-12, most = 1e-5;
    return std::clamp(share * error, precision == Precision::float32 ? single : least, most);
}

/// What an accuracy adds to the error: 10 times itself at most, as `zonal-bench radial` measures.
inline double error_of_accuracy(double accuracy) {
    return 10 * accuracy;
}

}  // namespace zonal::planning
