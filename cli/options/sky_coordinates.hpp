#pragma once

#include <cstdint>

#include "options/map_input.hpp"
#include "zonal/rotation.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// For each pixel of the map `to`, whether the pixel of `from` that holds the same direction, turned back by
/// R, is UNSEEN in this row; those become UNSEEN. `from` and `to` may have different pixels.
void carry_unseen(const SkyMap& from, View<const double, 1> from_row, const RotationMatrix& rotation,
                  const SkyMap& to, View<double, 1> to_row);

/// The pixel of a grid's map nearest to a direction: nearest ring, then longitude.
std::int64_t nearest_pixel(const Grid& grid, double theta, double phi);

}  // namespace zonal::cli
