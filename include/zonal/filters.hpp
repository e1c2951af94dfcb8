#pragma once

#include <vector>

namespace zonal {

// Windows of linear filters, each [lmax + 1] for windows and spectra of that length: from them
// RadialKernel::from_window makes kernels. Lengths that differ, values that are not finite and negative
// spectra are an InvalidArgument that names the argument and l.

/// sqrt(C_l) B_l: makes white noise of unit spectrum (variance n_pixels / 4 pi on equal pixels) into a sky of
/// spectrum C_l seen with the beam. c_l >= 0.
std::vector<double> sky_window(const std::vector<double>& c_l, const std::vector<double>& b_l);

/// target_l / b_l: from the beam b_l to the target's. A beam smaller in size than floor (>= 0) counts as
/// floor with its sign, so that noise is amplified by target_l / floor at most; a quotient that is not finite
/// is an InvalidArgument.
std::vector<double> deconvolution_window(const std::vector<double>& target, const std::vector<double>& b_l,
                                         double floor);

/// F_l = a b_l / (C_l b_l^2 + N_l), the filter that finds point sources seen with the beam b_l in a sky of
/// spectrum C_l and noise N_l with the least variance, and its response is 1: with
///   1 / a = sum_l (2l+1)/(4 pi) b_l^2 / (C_l b_l^2 + N_l)
/// a source A K(theta), K the profile of b_l, is A at its centre in the filtered map, whose other parts have
/// the variance a. Haehnelt & Tegmark (1996). c_l, n_l >= 0; degrees where b_l = 0 get 0.
std::vector<double> matched_filter_window(const std::vector<double>& b_l, const std::vector<double>& c_l,
                                          const std::vector<double>& n_l);

/// C_l / (C_l + N_l), 0 where C_l = 0. c_l, n_l >= 0.
std::vector<double> wiener_window(const std::vector<double>& c_l, const std::vector<double>& n_l);

}  // namespace zonal
