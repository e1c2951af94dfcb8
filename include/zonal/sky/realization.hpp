#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Power spectra of T, E and B, each from l = 0 on, in the square of the map's unit. Empty ones are 0.
struct SkySpectra {
    std::vector<double> tt = {}, ee = {}, bb = {}, te = {}, tb = {}, eb = {};
};

/// Version of the scheme of `realize`, written to files: the same seed, scheme and C_l give the same sky.
inline constexpr int realization_scheme = 1;

/// Throws what realize throws for these spectra up to lmax.
void check_spectra(const SkySpectra& spectra, std::int64_t lmax, bool polarized);

/// Draws Gaussian alm with these spectra: <|a_lm|^2> = C_l, E and B correlated with T as the spectra say.
///
/// alm: [1 or 3, layout.size()], overwritten: T, or T, E, B. E and B below l = 2 are 0. Spectra must reach
/// lmax (see fit_length).
///
/// Scheme 1: the numbers of (l, m, component) come from one block of Philox4x32-10 (Salmon et al. 2011) with
/// key (seed mod 2^32, seed / 2^32) and counter (l, m, component, 1), component 0 = T, 1 = E, 2 = B. Its
/// words w0..w3 give u = (floor((w0 + 2^32 w1) / 2^11) + 1) / 2^53 in (0, 1] and v = floor((w2 + 2^32 w3) /
/// 2^11) / 2^53 in [0, 1), and g = sqrt(-2 ln u) (cos 2 pi v + i sin 2 pi v); m = 0 takes sqrt(2) Re g. Then
/// a_lm = L g / sqrt(2), L the lower Cholesky factor of the 3 x 3 matrix of C_l. A coefficient thus depends
/// on nothing but seed, l, m and C_l: not on lmax, threads or machine, but for the last bit of the machine's
/// log, sin and cos; and T is the same with and without polarisation.
///
/// Throws InvalidArgument, which names l, where the matrix is not positive semi-definite by more than 1e-6
/// (the rounding of spectra stored in float) and for values that are not finite.
template <class T>
void realize(const SkySpectra& spectra, std::uint64_t seed, const AlmLayout& layout,
             View<std::complex<T>, 2> alm, int threads = 0);

/// Version of the scheme of `white_noise`, which has numbers of its own.
inline constexpr int white_noise_scheme = 2;

/// Fills values [n] with independent Gaussian numbers of mean 0 and variance 1: white noise on pixels.
///
/// Scheme 2: the numbers 2k and 2k + 1 are the real and the imaginary part of g, as in scheme 1, from the
/// block with counter (k mod 2^32, k / 2^32, 0, 2). A number thus depends on nothing but seed and place.
template <class T>
void white_noise(std::uint64_t seed, View<T, 1> values, int threads = 0);

}  // namespace zonal
