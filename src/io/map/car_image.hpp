#pragma once

#include <cstdint>

#include "io/fits/fits_scan.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {

/// Where an image's pixels lie on a full equidistant cylindrical grid.
struct CarLayout {
    CarPixels pixels;
    std::int64_t n_rows = 0;        ///< rows of the image; fewer than pixels.n_rings for a band of the sky
    std::int64_t first_ring = 0;    ///< ring of the image's first row
    int ring_step = -1;             ///< +1: rows run from north to south
    std::int64_t first_column = 0;  ///< place on its ring of the first pixel of a row
    int column_step = -1;           ///< +1: longitude grows with the column

    std::int64_t ring(std::int64_t row) const { return first_ring + ring_step * row; }
    std::int64_t place(std::int64_t column) const {
        const std::int64_t shifted = first_column + column_step * column;
        return ((shifted % pixels.n_phi) + pixels.n_phi) % pixels.n_phi;
    }
};

/// From the header's WCS keys. Throws InvalidArgument unless the image has full rings on such a grid.
CarLayout read_car_layout(const Hdu& hdu);

/// From CTYPE1: GLON, RA, ELON. Throws InvalidArgument for an equinox other than 2000.
CoordinateSystem car_coordinates(const Hdu& hdu);

}  // namespace zonal::io
