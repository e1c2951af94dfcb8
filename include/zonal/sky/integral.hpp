#pragma once

#include <cstdint>

#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// Integrals of a map over a region, such as the probability in it, and the smallest regions that hold a
/// share. map: [grid.n_pixels()], in host memory, per sr, such as a density of probability; of HEALPix in
/// either order, in which the numbers of its pixels count, too. Its UNSEEN pixels, and those in no ring,
/// count as 0. These functions throw InvalidArgument for maps and pixels of other sizes, and where values are
/// NaN.
namespace zonal {

/// The sum over the sky of value times area (the rings' weight, sr).
double integral(ConstView<double, 1> map, const Grid& grid);

/// The sum over these pixels, whose numbers come in any order, each once.
double integral(ConstView<double, 1> map, const Grid& grid, ConstView<std::int64_t, 1> pixels);

/// The share of the map's integral that lies in a pixel and all that are denser (or, as dense, have a lower
/// number): the pixels of levels up to 0.9 are the smallest region of 90 %, to a pixel, and a pixel's level
/// is that of the smallest region that holds it. 1 where the map is 0. levels: [grid.n_pixels()]. Throws
/// InvalidArgument where values are negative or infinite, or all are 0.
void credible_levels(ConstView<double, 1> map, const Grid& grid, View<double, 1> levels);

}  // namespace zonal
