#pragma once

#include <string>
#include <vector>

#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {

void write_healpix_table(FitsWriter& writer, const MapFile& map, const HealpixPixels& healpix);
void write_car_image(FitsWriter& writer, const MapFile& map, const CarPixels& car);

/// Values of a column as they stand in the file: U negated where the file's convention is IAU.
std::vector<double> file_values(const MapFile& map, const MapColumn& column, std::int64_t first,
                                std::int64_t count);

/// Writes POLAR, POLCCONV, BAD_DATA and, where known, COORDSYS.
void write_sky_cards(FitsWriter& writer, const MapFile& map);

// The two kinds of map HDU. Both may throw InvalidArgument, which read_map turns into an IoError.
/// part: the pixels to read, or null for all.
MapFile read_healpix_table(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options,
                           const std::vector<PixelRange>* part = nullptr);
MapFile read_car_image(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options);

/// Turns the file's bad values into exactly `unseen_value`.
void mark_unseen(const Hdu& hdu, MapColumn& column);

}  // namespace zonal::io
