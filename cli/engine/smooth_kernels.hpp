#pragma once

#include <vector>

#include "options/map_input.hpp"
#include "options/smooth_options.hpp"
#include "shell/session.hpp"
#include "zonal/kernel.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/window.hpp"

namespace zonal::cli {

/// A kernel as `zonal smooth` applies it.
struct SmoothingKernel {
    RadialKernel kernel;          ///< cut and normalised
    double scale = 1;             ///< what the profile was multiplied with
    double integral = 0;          ///< of the kernel as it was given
    double energy = 0;            ///< MeV; 0: none
    double truncation_error = 0;  ///< rms over the rms of the result, with that of the integral
    bool cut = false;             ///< its support is not the given kernel's
};

/// Of --fwhm, --beam or --profile: one for all rows of the map, or with --energy bands one for each. c_l: the
/// spectra of the rows, or one for all; empty ones are white. error: what cutting may cost where neither
/// --cut nor a plan says where; 0: not cut. Throws UsageError and IoError.
std::vector<SmoothingKernel> make_kernels(const SmoothOptions& options, const SkyMap& map,
                                          const std::vector<std::vector<double>>& c_l, double error,
                                          Session& session);

/// What convolves Q and U, not cut: of --fwhm or the E and B of --beam, times what makes the integral of
/// `scalar`, I's kernel as it was given, 1 where --normalize asks for that. Throws UsageError and IoError.
PolarizationKernel make_spin_kernel(const SmoothOptions& options, const SmoothingKernel& scalar,
                                    Session& session);

/// Method, reference, normalisation and the kernels.
void report_kernels(const SmoothOptions& options, const std::vector<SmoothingKernel>& kernels,
                    Session& session);

}  // namespace zonal::cli
