#pragma once

#include <cstdint>

#include "zonal/view.hpp"

/// Spectra by way of correlation functions (Szapudi et al. 2001; Chon et al. 2004, PolSpice). The correlation
/// function of a masked sky is xi~ = xi_C xi_W, with xi_W = sum_L (2L+1)/4pi W_L P_L(cos theta) the mask's.
/// What is left of xi~ / xi_W by a function f of theta, integrated back to a spectrum, has the mean K C. A
/// function times xi is what a mask does: its coupling matrices are those of the spectrum 2 pi int f P_L
/// dcos(theta), for all spins, and the estimate is the coupling matrix of f / xi_W times the pseudo-spectrum.
namespace zonal {

/// kernel_L = 2 pi sum_j w_j f_j P_L(x_j) and estimator_L, the same of f / xi_W, for coupling_matrices: x_j
/// and w_j the nodes and weights of Gauss-Legendre quadrature. The mean of the estimator's matrix times the
/// pseudo-spectrum is the kernel's times C_l to rounding, whatever the number of nodes, if the
/// pseudo-spectrum reaches the sum of the sky's lmax and the mask's.
///
/// mask_spectrum: W_L. apodisation: f at the colatitudes of Grid::gauss_legendre(n, 1), from north to south.
/// kernel, estimator: [degree]. Throws InvalidArgument for what does not fit, and where f is not 0 though
/// xi_W is below 1e-10 of its value at 0.
void correlation_spectra(View<const double, 1> mask_spectrum, View<const double, 1> apodisation,
                         View<double, 1> kernel, View<double, 1> estimator, int threads = 0);

}  // namespace zonal
