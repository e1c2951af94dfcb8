#pragma once

#include <vector>

#include "sky/sky_part.hpp"
#include "zonal/convolution.hpp"
#include "zonal/view.hpp"

/// What keeps the sum of counts that are convolved: see CountConvolutionPlan.
namespace zonal::radial {

/// The same rings, whose pixels all have weight 1.
Grid unweighted(const Grid& grid);

/// c of every pixel of `grid`, [grid.n_pixels()], in 1/sr; 0 for pixels in no ring. grid_out: has all pixels
/// that the kernel reaches. part: of which `grid` is; names pixels in the text of errors. Throws
/// InvalidArgument where some c is not positive.
std::vector<double> column_sums(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                PixelConvolutionOptions options, const SkyPart& part);

/// Counts divided by their c.
template <class T>
Array<T, 2> divide_by_columns(const Grid& grid, View<const T, 2> counts,
                              const std::vector<double>& column_sums);

}  // namespace zonal::radial
