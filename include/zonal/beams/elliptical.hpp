#pragma once

#include <complex>
#include <cstdint>

#include "zonal/alm.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// An elliptical Gaussian beam, and what of a co-polar detector's response it is.
struct EllipticalBeamOptions {
    std::int64_t lmax = -1;   ///< must be given: >= 0
    double fwhm = 0;          ///< geometric mean of those of the axes, rad: must be given, > 0
    double ellipticity = 1;   ///< fwhm of the long axis over that of the short one: from 1 to 10
    double orientation = 0;   ///< of the long axis from the beam's x axis towards its y axis, rad
    bool polarized = false;   ///< whether to make T, E and B, or T alone
    double polarization = 0;  ///< what the polariser passes: its angle from x towards y, rad
    double efficiency = 1;    ///< of the polariser: from 0 (none) to 1
    /// Bound of |b - b of the orders kept|_2 / |b|_2, over T, E and B together: rms(error) / rms(d) of a
    /// white sky. From 1e-14 to 0.5.
    double error = 1e-6;
    int threads = 0;  ///< 0: available_cpus()
};

/// Coefficients of a beam.
struct BeamAlm {
    AlmLayout layout;                    ///< mmax: kmax, the least order that keeps the error
    Array<std::complex<double>, 2> alm;  ///< [1 or 3, layout.size()]
    double left_out = 0;                 ///< what the error comes to
};

/// The beam b_I = b = exp(-theta^2 / 2 (cos^2 x / sigma_1^2 + sin^2 x / sigma_2^2)) / norm, x the angle from
/// the long axis, sigma = fwhm / sqrt(8 ln 2) of either axis, whose integral is 1. b_Q + i b_U = efficiency b
/// exp(2 i polarization) in the Cartesian (Ludwig's third) frame, so that a narrow beam measures I +
/// efficiency (Q cos 2 (psi + polarization) + U sin 2 (psi + polarization)). A round beam's window is that of
/// this profile, which gaussian_window is in the limit of small sigma. Throws InvalidArgument for options
/// outside their range.
BeamAlm elliptical_beam(const EllipticalBeamOptions& options);

}  // namespace zonal
