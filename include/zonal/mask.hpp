#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "zonal/grid.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// HEALPix' value for pixels without data.
inline constexpr double unseen_value = -1.6375e30;

/// Values this close to it mean UNSEEN, as in healpy (1e-5): files hold it rounded to float or six digits.
inline constexpr double unseen_tolerance = -1e-5 * unseen_value;

/// Says whether a value means UNSEEN.
inline bool is_unseen_value(double value) {
    return std::abs(value - unseen_value) <= unseen_tolerance;
}

/// What happens to pixels that are UNSEEN or masked.
enum class MaskMode {
    zero,         ///< they count as 0
    renormalize,  ///< the result is divided by what the same operation makes of the mask
    error         ///< InvalidArgument
};

/// Pixels of which a smaller share of the kernel's weight is known than this are UNSEEN in a renormalised
/// map.
inline constexpr double default_mask_threshold = 0.1;

/// What a convolution makes of pixels that are UNSEEN or masked, whatever its method.
struct MaskRule {
    MaskMode mode = MaskMode::zero;
    /// renormalize: the result is UNSEEN where K(mask) is below this times K(1); above 0, at most 1.
    double threshold = default_mask_threshold;
    /// false: pixels that were UNSEEN or masked are UNSEEN in the result; true: they keep the computed value.
    bool fill_masked = false;
};

/// Finds what is known of each row of maps: the mask, and 0 where the row is UNSEEN.
///
/// maps, known: [row, pixel]. mask: [pixel] from 0 (masked) to 1, or empty for 1 everywhere. pairs: rows are
/// Q and U by turns; a pixel that one of them lacks is masked in both. threads: 0 for available_cpus().
/// Throws InvalidArgument for masks outside 0 to 1.
template <class T>
void find_known(ConstView<T, 2> maps, ConstView<T, 1> mask, bool pairs, View<T, 2> known, int threads = 0);

/// Multiplies maps by what is known of them, and puts 0 where nothing is, whatever they hold there. All are
/// [row, pixel]. threads: 0 for available_cpus().
template <class T>
void multiply_by_known(ConstView<T, 2> known, View<T, 2> maps, int threads = 0);

/// Throws InvalidArgument where a mask and the UNSEEN pixels of a map leave nothing of it: n_known of its
/// pixels, or their share of the sky, is 0.
void require_known(double n_known);

/// Counts of a map's pixels without a number; first_* is the index of the first one, or -1.
struct BadPixels {
    std::int64_t nan = 0;
    std::int64_t infinite = 0;
    std::int64_t unseen = 0;
    std::int64_t first_nan = -1;
    std::int64_t first_infinite = -1;
    std::int64_t first_unseen = -1;
};

/// Counts the pixels of a map, [pixel], that hold no number.
template <class T>
BadPixels count_bad_pixels(View<const T, 1> map);
/// Counts those that lie in rings of the grid. map: [grid.n_pixels()]. threads: 0 for available_cpus().
template <class T>
BadPixels count_bad_pixels(const Grid& grid, View<const T, 1> map, int threads = 0);

/// Throws InvalidArgument if there are NaN or infinite pixels, such as "map I: 3 pixels are NaN, the first is
/// pixel 17".
void require_finite(const BadPixels& bad, const std::string& name);

/// The function monopole + dipole . n of the direction n, fitted to a map.
struct MonopoleDipole {
    double monopole = 0;
    std::array<double, 3> dipole{};  ///< x, y, z; zero when only a monopole was fitted
    double used_fraction = 0;        ///< of the grid's area
};

enum class FitTerms { monopole, monopole_and_dipole };

/// Fits by least squares to the pixels that are finite, not UNSEEN, and whose mask is not 0, weighted by the
/// area (ring weight) times the mask. map: [grid.n_pixels()]; mask: the same, not negative, or empty for
/// none. Throws InvalidArgument if these pixels do not determine the terms.
template <class T>
MonopoleDipole fit_monopole_dipole(const Grid& grid, View<const T, 1> map, View<const T, 1> mask,
                                   FitTerms terms);

/// Subtracts the fit from all pixels of the grid that hold numbers, masked or not.
template <class T>
void subtract_monopole_dipole(const Grid& grid, const MonopoleDipole& fit, View<T, 1> map);

}  // namespace zonal
