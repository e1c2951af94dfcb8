#pragma once

#include <complex>
#include <cstdint>

#include "zonal/view.hpp"

/// Pseudo-spectra of what is known at points, such as galaxies, without pixels.
namespace zonal {

/// Points of a catalogue; each angle and weight [point]. weight: finite, or empty for ones.
struct CataloguePoints {
    View<const double, 1> theta, phi;  ///< rad
    View<const double, 1> weight = {};
};

/// How sums over points are made.
struct CatalogueOptions {
    std::int64_t lmax = -1;       ///< must be given
    std::int64_t mask_lmax = -1;  ///< -1: 2 lmax, as coupling_matrices uses it
    double error = 1e-10;         ///< of the transforms, as PointOptions has it
    int threads = 0;              ///< 0: available_cpus()
};

/// The pseudo-alm of a catalogue and of its mask. With C~ and W the spectra of alm and mask,
///   <C~ - noise> = M(W - mask_noise) C
/// at fixed points, for values that are the sky's with noise of their own: pairs of a point with itself are
/// what noise and mask_noise take away. Cross spectra of catalogues without common points have none.
struct CatalogueAlm {
    Array<std::complex<double>, 2> alm;   ///< [1 or 2 (E, B), up to lmax]
    Array<std::complex<double>, 1> mask;  ///< [up to mask_lmax]
    double noise = 0;                     ///< of C~_l from the spin on, of TT, or EE and BB
    double mask_noise = 0;                ///< of W_L
};

/// a_lm = sum_i w_i f_i conj(sY_lm(i)), mask_lm = sum_i w_i conj(Y_lm(i)); noise = 1/4pi sum (w_i f_i)^2, for
/// Q and U the mean of both, mask_noise = 1/4pi sum w_i^2 (Baleato Lizancos & White 2024; Wolz, Alonso &
/// Nicola 2025). values: f, [1, point] for spin 0, [2, point] (Q, U) for spin 2. Throws InvalidArgument for
/// what does not fit.
CatalogueAlm catalogue_field(const CataloguePoints& points, View<const double, 2> values,
                             const CatalogueOptions& options);

/// Overdensities of points over those of a random catalogue, which is where points might have been: a_lm =
/// sum_i w_i conj(Y_lm(i)) - alpha sum_r w_r conj(Y_lm(r)), alpha = sum w_i / sum w_r, of which alpha w_r is
/// the mask; noise = 1/4pi (sum w_i^2 + alpha^2 sum w_r^2). Throws InvalidArgument for what does not fit, and
/// where weights have no positive sum.
CatalogueAlm catalogue_counts(const CataloguePoints& points, const CataloguePoints& random,
                              const CatalogueOptions& options);

}  // namespace zonal
