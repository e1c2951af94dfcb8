#pragma once

#include <cstdint>
#include <vector>

#include "zonal/device.hpp"
#include "zonal/view.hpp"

/// What masks do to power spectra. A field X times a mask u, and Y times w, have the mean pseudo-spectrum
///   <C~_l> = sum_l' M_ll' C_l',  M_ll' = (2l'+1)/4pi sum_L (2L+1) W_L f(l, l', L),
/// with W_L = 1/(2L+1) sum_m u_Lm conj(w_Lm), and f a product of two 3j symbols (l l' L; s -s 0) (Hivon et
/// al. 2002; Kogut et al. 2003).
namespace zonal {

/// Which spectra a matrix M takes to which.
enum class CouplingKind {
    spin00,  ///< TT to TT: s = 0 twice
    spin02,  ///< TE to TE, TB to TB: s = 0 and 2
    plus,    ///< EE to EE, BB to BB, EB to EB: s = 2 twice, l + l' + L even
    minus    ///< EE to BB, BB to EE, and -BE to EB: s = 2 twice, l + l' + L odd
};

/// Computes M for masks' spectra, in closed form: a 3j symbol with s = 0 is a product of numbers c(n) = C(2n,
/// n)/4^n, and those with s = 2 are that times a rational function of the degrees. Elements are right to some
/// 1e-15 of what their terms' absolute values add up to, however small they are: all terms of spin00, plus
/// and minus have the sign of W_L. Takes O(lmax^3).
///
/// mask_spectra: [mask, degree], W_L of as many degrees as there are; those that are not count as 0, those
/// above 2 lmax are not used. matrices: [mask, kind, lmax + 1, lmax + 1], rows l, columns l'; rows and
/// columns below 2 are 0 but for spin00. threads: 0 for available_cpus(); results do not depend on it.
///
/// device: a GPU computes one mask after the other; the matrices then lie in its memory or, row-major, in the
/// host's, and all have been written on return. Throws InvalidArgument for shapes that do not fit and values
/// that are not finite, BackendUnavailable for a device that cannot be used, and OutOfDeviceMemory.
void coupling_matrices(View<const double, 2> mask_spectra, const std::vector<CouplingKind>& kinds,
                       View<double, 4> matrices, int threads = 0, Device device = Device::cpu());

}  // namespace zonal
