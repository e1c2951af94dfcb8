#pragma once

#include <vector>

namespace zonal {

// These functions return windows of linear filters, [lmax + 1] for windows and spectra of that length;
// RadialKernel::from_window makes kernels of them. They throw InvalidArgument, with the argument's name and
// l, for lengths that differ, values that are not finite, and negative spectra.

/// Returns sqrt(C_l) B_l, which makes white noise of unit spectrum (variance n_pixels / 4 pi on equal pixels)
/// into a sky of spectrum C_l seen with the beam. c_l >= 0.
std::vector<double> sky_window(const std::vector<double>& c_l, const std::vector<double>& b_l);

/// Returns target_l / b_l, which brings a map from the beam b_l to the target's. Values of b_l smaller in
/// size than floor (>= 0) count as floor with their sign, so noise is amplified by target_l / floor at most.
/// Throws InvalidArgument for a quotient that is not finite.
std::vector<double> deconvolution_window(const std::vector<double>& target, const std::vector<double>& b_l,
                                         double floor);

/// Returns F_l = a b_l / (C_l b_l^2 + N_l), the filter of least variance for point sources seen with the beam
/// b_l in a sky of spectrum C_l and noise N_l (Haehnelt & Tegmark 1996). With
///   1 / a = sum_l (2l+1)/(4 pi) b_l^2 / (C_l b_l^2 + N_l)
/// its response is 1: a source A K(theta), K the profile of b_l, has the value A at its centre in the
/// filtered map, and the rest has the variance a. c_l, n_l >= 0; F_l is 0 where b_l = 0.
std::vector<double> matched_filter_window(const std::vector<double>& b_l, const std::vector<double>& c_l,
                                          const std::vector<double>& n_l);

/// Returns C_l / (C_l + N_l), and 0 where C_l = 0. c_l, n_l >= 0.
std::vector<double> wiener_window(const std::vector<double>& c_l, const std::vector<double>& n_l);

}  // namespace zonal
