#pragma once

#include <string>
#include <vector>

#include "io/fits/fits_reader.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {

// The two kinds of map HDU. Both may throw InvalidArgument, which read_map turns into an IoError.
MapFile read_healpix_table(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options);
MapFile read_car_image(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options);

/// Turns the file's bad values into exactly `unseen_value`.
void mark_unseen(const Hdu& hdu, MapColumn& column);

}  // namespace zonal::io
