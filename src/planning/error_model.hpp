#pragma once

#include <algorithm>

#include "zonal/convolution.hpp"

/// What the arithmetic of a convolution adds to its error: docs/decisions/errors.md.
namespace zonal::planning {

/// Integrals of kernels below this are rounding.
inline constexpr double least_integral = 1e-9;

/// What transforms round, relative to the convolved map.
inline constexpr double transform_rounding = 1e-14;

/// What sums over pixels round, relative to the convolved map: measured, of single precision against double
/// and of double against other orders of summation, and a little more. In single precision it grows with the
/// kernel's radius in pixels: faster for a cut kernel (is_cut), some or all of which is summed pixel by
/// pixel, and slower where ring FFTs do all of it.
inline double rounding_of_sums(Precision precision, double radius_in_pixels, bool is_cut) {
    constexpr double in_double = 1e-11, in_single = 1e-6;
    constexpr double per_pixel_of_sums = 1.2e-7, per_pixel_of_rings = 1.5e-8;
    if (precision == Precision::float64) return in_double;
    return in_single + (is_cut ? per_pixel_of_sums : per_pixel_of_rings) * radius_in_pixels;
}

/// How well tables and series must stand for a kernel's profile (PixelConvolutionOptions::accuracy): a
/// hundredth of the error. The splines of splits converge no further than that, and a larger share would show
/// in the result.
inline double accuracy_of_sums(Precision precision, double error) {
    constexpr double share = 0.01, most = 1e-5;
    return std::clamp(share * error, default_accuracy(precision), most);
}

/// What an accuracy adds to the error: 10 times itself at most, as `zonal-bench radial` measures.
inline double error_of_accuracy(double accuracy) {
    return 10 * accuracy;
}

}  // namespace zonal::planning
