#pragma once

#include <complex>
#include <cstdint>

#include "zonal/alm.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// Harmonics and spectra of maps times masks, by plain sums over pixels: a_lm = sum_p w_p u(p) f(p)
/// conj(Y_lm(p)) with the grid's weights w. Where the mask's spectrum is such a sum, too, up to lmax +
/// lmax_sky, M C is the exact mean of the maps' spectra for any mask on any grid, of a sky that ends at
/// lmax_sky and is sampled at pixel centres; the grid's own errors are in M. Iterations would spoil that.
namespace zonal {

/// maps: [1, pixel], or Q, U as [2, pixel]. mask: [pixel]; empty if the maps are masked already. alm: as many
/// as maps, [component, layout.size()] of layout(lmax). Where the mask is 0 a map may hold anything. All
/// are in host memory; device: for the transforms. Throws InvalidArgument for shapes, and for pixels that are
/// not finite or UNSEEN elsewhere.
void masked_harmonics(const Grid& grid, View<const double, 2> maps, View<const double, 1> mask,
                      std::int64_t lmax, View<std::complex<double>, 2> alm, int threads = 0,
                      Device device = Device::cpu());

/// The spectra of n fields with each other, [n, n, lmax + 1], XY_l = 1/(2l+1) sum_m X_lm conj(Y_lm), which is
/// symmetric, by one product of matrices for each degree. alm: [n, layout.size()].
Array<double, 3> cross_spectra(const AlmLayout& layout, View<const std::complex<double>, 2> alm,
                               int threads = 0);

/// What white noise adds to the pseudo-spectra TT, or EE and BB from l = 2 on, where U has Q's variance:
/// N~ = 1/4pi sum_p w_p^2 u(p)^2 variance(p), the same for all degrees. mask, variance: [pixel]. Throws
/// InvalidArgument for shapes and for variances that are negative or not finite where the mask is not 0.
double white_noise_spectrum(const Grid& grid, View<const double, 1> mask, View<const double, 1> variance);

}  // namespace zonal
