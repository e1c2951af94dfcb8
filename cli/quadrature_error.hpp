#pragma once

#include <cstdint>
#include <vector>

#include "zonal/kernel.hpp"

namespace zonal::cli {

/// How far a sum over HEALPix pixels is from the integral that it stands for, rms over the rms of the result:
/// measured on a random sky of this spectrum (empty: white up to 3 nside - 1). Beyond nside 128 on pixels of
/// nside 128 with kernel and spectrum as much wider, which has no smaller error, as the poles' share of the
/// sky is larger there.
/// Of kernels narrower than a pixel, whose error is not that of degrees, at least sum_defect.
double quadrature_error(const RadialKernel& kernel, std::int64_t nside, const std::vector<double>& c_l,
                        int threads);

/// By how much the sum of a kernel's core over HEALPix pixels is not its integral, over the largest value of
/// its window: what a constant map is wrong by, at worst, next to the poles. Small for kernels as wide as a
/// pixel; narrower ones stand on the centre of one pixel with their peak, many times their integral, or miss
/// all centres. Above most_sum_defect a sum over the pixels is no convolution.
double sum_defect(const RadialKernel& kernel, std::int64_t nside);
inline constexpr double most_sum_defect = 0.2;

}  // namespace zonal::cli
