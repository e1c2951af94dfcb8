#pragma once

#include "zonal/grid.hpp"
#include "zonal/kernel.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/view.hpp"

/// Convolution in its plainest serial form: what every method is compared with. O(n_pixels^2) and slow.
namespace zonal::reference {

/// convolved[p] = sum_p' w(p') K(theta(p, p')) map[p'], distances and sums in long double, K the kernel's own
/// profile. map: [grid.n_pixels()], convolved: [grid_out.n_pixels()]; pixels in no ring are left as they are.
void convolve(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, View<const double, 1> map,
              View<double, 1> convolved);

/// The same of Q and U, by the directions of the great circle at its ends. map: [2, grid.n_pixels()],
/// convolved: [2, grid_out.n_pixels()].
void convolve(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
              View<const double, 2> map, View<double, 2> convolved);

}  // namespace zonal::reference
