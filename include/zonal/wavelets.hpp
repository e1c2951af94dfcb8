#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/kernel.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// A set of wavelet windows whose squares sum to 1 at every l from 0 to lmax. So if a map is convolved with
/// each of them, and each result with the same window again, the sum is the map.
struct WaveletWindows {
    std::vector<double> scaling;  ///< [lmax + 1], what lies below the first wavelet
    std::vector<std::vector<double>>
        wavelets;  ///< [scale, lmax + 1], from the largest angles to the smallest
};

/// Returns standard needlets (Marinucci et al. 2008), b(l / base^j) for j = 0, 1, .. up to the last that
/// begins below lmax. Needlet j lives in base^(j-1) < l < base^(j+1), the scaling function holds l = 0 alone.
/// Throws InvalidArgument unless base is above 1 and at most 64, and lmax from 0 to 2^24.
WaveletWindows needlet_windows(double base, std::int64_t lmax);

/// Returns scale-discretised wavelets (Wiaux et al. 2008; Leistedt et al. 2013): kappa(l / dilation^j) for j
/// = j_min up to the smallest with dilation^j >= lmax, and the scaling function eta(l / dilation^j_min)
/// below. Throws InvalidArgument unless dilation is above 1 and at most 64, j_min from 0 to the largest j,
/// and lmax from 1 to 2^24.
WaveletWindows scale_discretised_windows(double dilation, int j_min, std::int64_t lmax);

/// Returns the stereographic Mexican hat on the sphere of Cayon et al. (2001). With y = 2 tan(theta/2) it is
///   K = [2 - (y/R)^2] (1 + (y/2)^2)^2 exp(-y^2 / 2R^2) / (sqrt(2 pi) N),  N = R sqrt(1 + R^2/2 + R^4/4),
/// whose square integrates to 1 and whose integral is 0. Throws InvalidArgument unless the radius R (rad) is
/// above 0 and at most 1.
RadialKernel mexican_hat(double radius);

/// Takes alm apart: scales[i] = alm times windows[i]. alm: [layout.size()], scales: [scale, layout.size()].
/// Throws InvalidArgument unless there is a scale for each window.
void wavelet_transform(const AlmLayout& layout, const std::vector<std::vector<double>>& windows,
                       View<const std::complex<double>, 1> alm, View<std::complex<double>, 2> scales);

/// Puts them together again: alm = the sum of scales[i] times windows[i], which are the alm of the transform
/// where the squares of the windows sum to 1. Shapes and errors as wavelet_transform's.
void inverse_wavelet_transform(const AlmLayout& layout, const std::vector<std::vector<double>>& windows,
                               View<const std::complex<double>, 2> scales, View<std::complex<double>, 1> alm);

}  // namespace zonal
