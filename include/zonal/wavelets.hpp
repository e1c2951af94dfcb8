#pragma once

#include <cstdint>
#include <vector>

#include "zonal/kernel.hpp"

namespace zonal {

/// Windows of a set of wavelets whose squares sum to 1 at every l from 0 to lmax: a map convolved with all of
/// them, and each result with the same window again, sums to the map.
struct WaveletWindows {
    std::vector<double> scaling;  ///< [lmax + 1], what lies below the first wavelet
    std::vector<std::vector<double>>
        wavelets;  ///< [scale, lmax + 1], from the largest angles to the smallest
};

/// Standard needlets (Marinucci et al. 2008): b(l / base^j) for j = 0, 1, .., the last that begins below
/// lmax; each lives in base^(j-1) < l < base^(j+1). The scaling function holds l = 0 alone. base: above 1, at
/// most 64; lmax: from 0 to 2^24; else InvalidArgument.
WaveletWindows needlet_windows(double base, std::int64_t lmax);

/// Scale-discretised wavelets (Wiaux et al. 2008; Leistedt et al. 2013): kappa(l / dilation^j) for j = j_min
/// up to the smallest with dilation^j >= lmax, and the scaling function below, eta(l / dilation^j_min).
/// dilation: above 1, at most 64; j_min: from 0 to that largest j; lmax: from 1 to 2^24; else
/// InvalidArgument.
WaveletWindows scale_discretised_windows(double dilation, int j_min, std::int64_t lmax);

/// The Mexican hat on the sphere, stereographic as Cayon et al. (2001) have it, with y = 2 tan(theta/2):
///   K = [2 - (y/R)^2] (1 + (y/2)^2)^2 exp(-y^2 / 2R^2) / (sqrt(2 pi) N),  N = R sqrt(1 + R^2/2 + R^4/4),
/// whose square integrates to 1 and whose own integral is 0. radius R: rad, above 0 and at most 1, else
/// InvalidArgument.
RadialKernel mexican_hat(double radius);

}  // namespace zonal
