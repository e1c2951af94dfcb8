#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "beams/centred_beam.hpp"
#include "zonal/alm.hpp"
#include "zonal/beams/displaced.hpp"
#include "zonal/view.hpp"

namespace zonal::beams {

/// Kernels along the long axis of a beam: b_lk = K_l sum_j c_j lambda_lk(u_j).
struct LineFit {
    std::vector<double> place;   ///< [kernel] u_j along x, rad, of both signs
    std::vector<double> weight;  ///< [kernel] c_j
    std::vector<double> window;  ///< [l] K_l
    AlmLayout layout;            ///< up to the highest order that the beam or the kernels have
    std::vector<std::complex<double>> residual;  ///< [layout.size()] b less the sum
};

/// The best fit of n_kernels that is found. weights: [l], of the squares of the residual.
LineFit fit_line(const CentredBeam& beam, const std::vector<double>& weights, int n_kernels, int threads);

/// At least the integral of |f| over the sphere, but for rounding. alm: [layout.size()] of f.
double integral_bound(const AlmLayout& layout, const std::vector<std::complex<double>>& alm, int threads);

/// fit_displaced_kernels of the orders up to kmax; nothing where no fit keeps the error. best: what the best
/// one has.
std::optional<DisplacedKernels> find_displaced_kernels(const AlmLayout& layout,
                                                       const View<const std::complex<double>, 1>& beam,
                                                       std::int64_t kmax, const DisplacedFitOptions& options,
                                                       double& best);

/// Of their sizes.
double sum_of_weights(const DisplacedKernels& kernels);

}  // namespace zonal::beams
