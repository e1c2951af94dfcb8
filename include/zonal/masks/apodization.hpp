#pragma once

#include "zonal/view.hpp"

namespace zonal {

/// By what a mask is multiplied at the distance d from the nearest masked pixel, x being 0 there and 1 from
/// the scale on.
enum class Apodization {
    cosine,  ///< (1 - cos(pi x)) / 2: its first derivative has no jump ("C2" of NaMaster)
    sine,    ///< x - sin(2 pi x) / (2 pi): its first two derivatives have none ("C1" of NaMaster)
    /// All within 2.5 scales is masked, too; then the mean, weighted by a Gaussian of sigma = scale about
    /// each pixel, of what is left multiplies the mask. From 0 to 1, without the ringing of a smoothing by
    /// alm.
    smooth
};

/// What x is. The two agree for small angles.
enum class ApodizationDistance {
    chord,  ///< sin(d/2) / sin(scale/2), as in NaMaster (Alonso et al. 2019)
    angle   ///< d / scale, as in Grain et al. 2009, who have the names C1 and C2 the other way round
};

/// How edges are made smooth.
struct ApodizationOptions {
    Apodization kind = Apodization::cosine;
    ApodizationDistance distance = ApodizationDistance::chord;  ///< of cosine and sine
    double scale = 0;                                           ///< rad, above 0 and at most pi
    int threads = 0;                                            ///< 0: available_cpus()
};

/// Brings a mask on HEALPix smoothly to 0 where it borders on masked pixels. Distances are those between the
/// centres of pixels.
///
/// mask: [12 nside^2] in ring order, 0 or UNSEEN where masked. apodized: the same size, not overlapping.
/// Throws InvalidArgument for sizes that do not fit, values that are not finite and a scale out of range.
void apodize(View<const double, 1> mask, View<double, 1> apodized, const ApodizationOptions& options);

}  // namespace zonal
