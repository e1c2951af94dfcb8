#pragma once

#include <cstdint>
#include <span>

#include "zonal/healpix.hpp"

namespace zonal::healpix {

/// A disc that has been checked; phi from 0 to 2 pi.
struct Disc {
    double theta;
    double phi;
    double radius;
};

/// Half of the longitude that a disc covers on rows first_row, first_row + 1, ...: negative for none, pi for
/// all of it. Rows count from 0, the north pole, to 4 nside, the south pole.
void half_widths(std::int64_t nside, const Disc& disc, std::int64_t first_row, std::span<double> widths);

}  // namespace zonal::healpix
