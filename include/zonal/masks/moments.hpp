#pragma once

#include <array>

#include "zonal/grid.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Means over the sky of the powers 1 to 4 of a mask, or of the product of two, weighted by the area of the
/// pixels (the rings' weights). The share of the sky that counts for the error bars of a spectrum is about
/// (the second)^2 / the fourth; the noise of pseudo-spectra goes with the second.
///
/// mask: [grid.n_pixels()]; other: the same, or empty for none. UNSEEN counts as 0. threads: 0 for
/// available_cpus(); the sums do not depend on it. Throws InvalidArgument for sizes that do not fit and
/// values that are not finite.
std::array<double, 4> mask_moments(const Grid& grid, View<const double, 1> mask,
                                   View<const double, 1> other = {}, int threads = 0);

}  // namespace zonal
