#pragma once

#include <cstdint>
#include <vector>

#include "zonal/progress.hpp"
#include "zonal/spectra/covariance.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Draws skies and computes their pseudo-spectra, or values that are linear in these. Sky k has the seed
/// first_seed + k: numbers depend on the seed alone, so that ranks can share seeds out.
///
/// For one map of T, one of E and B, or both, the sky is what zonal::synfast makes with the seed (scheme 1).
/// Further maps of a spin have the seeds + n 0x9e3779b97f4a7c15, n the number of maps of that spin before,
/// and are correlated as c_l says. Noise is white_noise of the seed, for all pixels of all maps' components
/// in their order.
///
/// values: W, [value, spectrum, lmax + 1], or empty for all pseudo-spectra. result: [sky, value] or
/// [sky, spectrum (lmax + 1)]. Throws InvalidArgument for what does not fit and for c_l that no sky has.
void simulate_spectra(const MaskedSky& sky, const std::vector<ComponentPair>& spectra, std::int64_t lmax,
                      View<const double, 3> values, std::uint64_t first_seed, View<double, 2> result,
                      int threads = 0, const Progress& progress = {});

/// The skies that one process makes where several share them out.
struct SkyShare {
    std::int64_t first;  ///< their seeds are first_seed + first, ...
    std::int64_t n;      ///< 0 where there are fewer skies than processes
};
/// Shares differ by one sky at most. part: from 0 to parts - 1. Throws InvalidArgument for n below 1.
SkyShare share_of_skies(std::int64_t n, int part, int parts);

/// mean: [value]; covariance: [value, value], with n - 1. samples: [sample, value], 2 or more. The sums do
/// not depend on threads.
void sample_covariance(View<const double, 2> samples, View<double, 1> mean, View<double, 2> covariance,
                       int threads = 0);

/// By what the inverse of a covariance of n_samples is to be multiplied so that its mean is right, (n - k -
/// 2) / (n - 1) for k values (Hartlap, Simon & Schneider 2007). Throws InvalidArgument unless n > k + 2.
double hartlap_factor(std::int64_t n_samples, std::int64_t n_values);

/// chi^2, and what it says of a model.
struct ChiSquared {
    double value = 0;
    double p = 1;  ///< the share of Gaussian residuals with as large a value or a larger one
};

/// factor d^T C^-1 d. residual: d, [value]. covariance: C. factor: such as hartlap_factor. Throws
/// InvalidArgument for a covariance that is not positive definite.
ChiSquared chi_squared(View<const double, 1> residual, View<const double, 2> covariance, double factor = 1);

/// The regularised incomplete gamma function Q(a, x) = Gamma(a, x) / Gamma(a), a > 0, x >= 0: the share of
/// chi^2 above 2 x of 2 a degrees of freedom. Right to 1e-14 or, for large a, a^1/2 times that.
double upper_gamma_share(double a, double x);

}  // namespace zonal
