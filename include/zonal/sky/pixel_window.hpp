#pragma once

#include <cstdint>

#include "zonal/window.hpp"

namespace zonal {

/// Returns the pixel windows of HEALPix: how much less of a_lm than a beam leaves the mean over each pixel
/// does, as the root mean square over all pixels,
///   b_l^2 = mean over pixels of int int P_l(n . n') dn dn' / area^2
/// for temperature. For E and B (equal) P_l becomes d^l_22, and Q and U are carried along great circles to
/// the pixel's centre before the mean is taken; they are 0 below l = 2. HEALPix's files of pixel windows hold
/// these numbers, which this computes for any nside to 2e-10; the files have approximations from nside 256
/// on, which are off by 1e-5.
///
/// lmax: from 0 to 4 nside. threads: 0 means available_cpus(). Throws InvalidArgument for an nside or lmax
/// out of range.
Beam healpix_pixel_window(std::int64_t nside, std::int64_t lmax, int threads = 0);

}  // namespace zonal
