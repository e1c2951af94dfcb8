#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/analysis.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// E and B of masked skies that do not mix (Smith 2006; Smith & Zaldarriaga 2007). A mask w mixes them where
/// it changes; with the derivatives of w, from its alm, what a pure E sky puts into B is taken out again:
///   B_pure = B2[w P] - 2/sqrt((l+2)(l-1)) B1[conj(w_1) P] + 1/N_l B0[conj(w_2) P],  P = Q + iU,
/// Bs the B of an analysis of spin s (of spin 0: the imaginary part's), w_s the field of spin s of the E
/// coefficients sqrt((l+s)!/(l-s)!) w_lm, and N_l = sqrt((l+2)!/(l-2)!). E_pure is made likewise.
namespace zonal {

/// Which parts are pure.
struct PurificationOptions {
    std::int64_t lmax = -1;       ///< of the result: >= 2
    std::int64_t mask_lmax = -1;  ///< of the mask's derivatives; -1: default_mask_lmax
    bool pure_e = false;
    bool pure_b = true;
    AnalysisOptions analysis = {};  ///< of the products with the map
    int mask_iterations = 3;        ///< of the mask's analysis, where it is not exact
    int threads = 0;                ///< 0: available_cpus()
    Device device = Device::automatic();
    /// Masks with jumps are refused, as pure spectra of these have errors larger than what they are to take
    /// away; true: not.
    bool any_mask = false;
};

/// How smooth a mask is, as far as purification goes.
struct MaskSmoothness {
    /// Power of the second derivatives, sum of (2l+1) N_l^2 W_l, from mask_lmax / 2 to mask_lmax over that in
    /// the octave below. A jump gives 8, a kink 2, a jump of the second derivative 1/2, before the pixels'
    /// noise.
    double growth = 0;
    /// Largest difference of the mask and the sum of its alm up to mask_lmax.
    double remainder = 0;

    /// Power that grows and is not that of a mask without higher degrees.
    bool has_jumps() const { return growth > 4 && remainder > 0.05; }
    bool has_kinks() const { return growth > 1.5 && remainder > 1e-3; }
};

/// 2 nside on HEALPix, exact_lmax where there is one, else invertible_lmax.
std::int64_t default_mask_lmax(const Grid& grid);

/// The alm of E and B of masked maps, of which those that options name are pure.
///
/// maps: [batch, 2 (Q, U), grid.n_pixels()]; pixels where the mask is 0 count as 0, whatever they hold. mask:
/// [grid.n_pixels()], the factor that maps are multiplied by. alm: [batch, 2 (E, B), AlmLayout(lmax).size()].
/// All in host memory. Throws InvalidArgument for sizes that do not fit, for values that are not finite or
/// UNSEEN where the mask is not 0, and for masks with jumps.
MaskSmoothness pure_alm(const Grid& grid, View<const double, 3> maps, View<const double, 1> mask,
                        View<std::complex<double>, 3> alm, const PurificationOptions& options);

/// Which spectra of pure E or B a matrix is for.
enum class PureCouplingKind {
    scalar_pure,  ///< T with pure E or B
    plain_pure,   ///< plain E or B with pure E or B
    pure_pure     ///< pure E or B twice
};

/// The matrices by which masks mix the degrees of spectra with pure E or B: those of spin00 and spin02
/// (coupling.hpp) times N_l' / N_l for each that is pure. There is no matrix from EE to BB, as it is 0.
///
/// mask_spectra, matrices, threads, device: as for coupling_matrices, but matrices are in host memory; rows
/// and columns below 2 are 0.
void pure_coupling_matrices(View<const double, 2> mask_spectra, const std::vector<PureCouplingKind>& kinds,
                            View<double, 4> matrices, int threads = 0, Device device = Device::cpu());

}  // namespace zonal
