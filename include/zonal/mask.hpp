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

/// How far from it a value still means that, 1e-5 as in healpy: files hold it rounded to float or six digits.
inline constexpr double unseen_tolerance = -1e-5 * unseen_value;

/// Whether a value means that.
inline bool is_unseen_value(double value) {
    return std::abs(value - unseen_value) <= unseen_tolerance;
}

/// What happens to pixels that are UNSEEN or masked.
enum class MaskMode {
    zero,         ///< they count as 0
    renormalize,  ///< the result is divided by what the same operation makes of the mask
    error         ///< InvalidArgument
};

/// Pixels of a map that hold no number; first_*: index of the first one, -1 where there is none.
struct BadPixels {
    std::int64_t nan = 0;
    std::int64_t infinite = 0;
    std::int64_t unseen = 0;
    std::int64_t first_nan = -1;
    std::int64_t first_infinite = -1;
    std::int64_t first_unseen = -1;
};

/// map: [pixel].
template <class T>
BadPixels count_bad_pixels(View<const T, 1> map);
/// Of the pixels that lie in rings of the grid. map: [grid.n_pixels()]. threads: 0: available_cpus().
template <class T>
BadPixels count_bad_pixels(const Grid& grid, View<const T, 1> map, int threads = 1);

/// Throws InvalidArgument "map I: 3 pixels are NaN, the first is pixel 17" if there are NaN or infinite
/// pixels.
void require_finite(const BadPixels& bad, const std::string& name);

/// monopole + dipole . n
struct MonopoleDipole {
    double monopole = 0;
    std::array<double, 3> dipole{};  ///< x, y, z; zero when only a monopole was fitted
    double used_fraction = 0;        ///< of the grid's area
};

enum class FitTerms { monopole, monopole_and_dipole };

/// Least-squares fit over the pixels that are finite, not UNSEEN, and whose mask is not 0; the others' weight
/// is the area (ring weight) times the mask. map: [grid.n_pixels()]; mask: the same, or empty for none, not
/// negative. Throws InvalidArgument when the pixels left do not determine the terms.
template <class T>
MonopoleDipole fit_monopole_dipole(const Grid& grid, View<const T, 1> map, View<const T, 1> mask,
                                   FitTerms terms);

/// Subtracts it from all pixels of the grid that hold numbers, masked or not.
template <class T>
void subtract_monopole_dipole(const Grid& grid, const MonopoleDipole& fit, View<T, 1> map);

}  // namespace zonal
