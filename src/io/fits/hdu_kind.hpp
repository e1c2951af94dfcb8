#pragma once

#include <cstdint>
#include <string>

#include "io/fits/fits_scan.hpp"
#include "zonal/io/inspect.hpp"

namespace zonal::io {

/// What an HDU holds, from its keys and the names of its columns.
FileKind kind_of(const Hdu& hdu);

/// An image whose axes are longitude and latitude in the CAR projection.
bool is_car_image(const Hdu& hdu);

/// Why an image of the sky in another projection, or a region, is no map, and what to do; else empty.
std::string why_no_map(const Hdu& hdu);

/// nside of a full HEALPix map of this many pixels; 0: there is none.
std::int64_t nside_of_size(std::int64_t n_pixels);

}  // namespace zonal::io
