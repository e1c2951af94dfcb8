#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// How pseudo-spectra of masked Gaussian skies scatter.
namespace zonal {

/// A map that a mask multiplies. It has one component of spin 0 (T), or two of spin 2 (E, B). Components are
/// numbered through all maps in their order.
struct MaskedMap {
    int spin = 0;
    int mask = 0;  ///< its number
};

/// The pseudo-spectrum of two components, C~_l = 1/(2l+1) sum_m a_lm conj(b_lm).
struct ComponentPair {
    int first = 0, second = 0;
};

/// Gaussian skies, and how they are observed: times masks, with white noise, analysed by plain sums over
/// pixels times areas.
struct MaskedSky {
    Grid grid;
    View<const double, 2> masks;  ///< [mask, pixel]
    std::vector<MaskedMap> maps;
    /// Spectra of the sky as the maps have it, beam included: [component, component, degree], symmetric.
    /// There is no sky above.
    View<const double, 3> c_l;
    /// The variance of each pixel's noise, the same for Q and U: [map, pixel], or empty for none.
    View<const double, 2> variances = {};
};

/// Where a covariance is exact.
struct CovarianceOptions {
    /// Where both degrees are up to it, the covariance is exact; -1: nowhere. From 2 on if a map has spin 2.
    std::int64_t exact_lmax = 32;
    /// The sky that the exact part has, from exact_lmax on. -1: the lowest without which pseudo-spectra up to
    /// exact_lmax would lose no more than 1e-3 of their mean, but not above max(128, 4 exact_lmax).
    std::int64_t exact_sky_lmax = -1;
    int threads = 0;  ///< 0: available_cpus(); results do not depend on it
};

/// Where it was, and what it left out.
struct CovarianceReport {
    std::int64_t exact_lmax = -1;      ///< not above the lmax of the pseudo-spectra
    std::int64_t exact_sky_lmax = -1;  ///< that was used
    double lost_share = 0;  ///< of a pseudo-spectrum's mean up to exact_lmax, by the sky above; the largest

    /// What to say where lost_share is above a hundredth, with the remedy, which names arguments as the user
    /// knows them; empty where it is not.
    std::string note_of_loss(const std::string& remedy) const;
};

/// means = <C~_l> with noise: [component, component, lmax + 1]. Exact for a sky that ends where c_l does and
/// is sampled at the pixels' centres. Throws InvalidArgument for what does not fit, and for values that are
/// not finite.
void mean_pseudo_spectra(const MaskedSky& sky, View<double, 3> means, int threads = 0);

/// covariance = Cov(C~_l^i, C~_l'^j): [spectrum i, lmax + 1, spectrum j, lmax + 1].
///
/// Above exact_lmax in the improved narrow-kernel approximation (Efstathiou 2004; Garcia-Garcia, Alonso &
/// Bellini 2019; Nicola et al. 2021) with the kernels of spin 0 for all components:
///   Cov(C~^ab_l, C~^cd_l') = S(ac, bd) Xi(u_a u_c, u_b u_d) + S(ad, bc) Xi(u_a u_d, u_b u_c),
/// S(p, q) = (C^p_l C^q_l' + C^p_l' C^q_l) / 2, C^ac = <C~^ac> / mean(u_a u_c), (2l'+1) Xi = M^00 of the
/// product masks. It leaves out how masks mix E with B beyond what is in <C~>: Cov(EE, BB) is 0 there but for
/// what EB does.
///
/// Up to exact_lmax it is exact (MaskedSky::c_l up to exact_sky_lmax):
///   1 / ((2l+1) (2l'+1)) sum_mm' (Sigma^ac Sigma^bd + Sigma^ad Sigma^bc),
/// Sigma the covariance of pseudo-alm. It takes 2 (exact_lmax + 1)^2 transforms for each component on a grid
/// that exact_lmax + exact_sky_lmax needs, whatever the size of the maps, and 8 bytes (exact_lmax + 1)^4 for
/// each pair of components. What is spliced from both need not be positive definite.
///
/// Throws InvalidArgument, and OutOfMemory for an exact part that there is no room for.
CovarianceReport pseudo_covariance(const MaskedSky& sky, const std::vector<ComponentPair>& spectra,
                                   View<double, 4> covariance, const CovarianceOptions& options = {});

/// The same of values that are linear in the pseudo-spectra, such as band powers: covariance = W Cov W^T.
/// values: W, [value, spectrum, lmax + 1]. covariance: [value, value]. Never holds the whole of Cov.
CovarianceReport value_covariance(const MaskedSky& sky, const std::vector<ComponentPair>& spectra,
                                  View<const double, 3> values, View<double, 2> covariance,
                                  const CovarianceOptions& options = {});

}  // namespace zonal
