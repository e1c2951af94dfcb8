#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "zonal/io/map.hpp"
#include "zonal/mask.hpp"
#include "zonal/view.hpp"

namespace zonal::io {

/// Ends the message on pixels that are NaN.
inline constexpr const char* nan_as_unseen =
    "; NaN can be read as UNSEEN, pixels without data (nan_is_unseen, --nan unseen)";

/// The values of a column from `first` on, as they stand in the file: U negated where the file's convention
/// is IAU. Writers ask for pieces, so that a map need not be in memory twice.
using ColumnPieces =
    std::function<std::vector<double>(std::size_t column, std::int64_t first, std::int64_t count)>;

void write_healpix_table(FitsWriter& writer, const MapFile& map, const HealpixPixels& healpix,
                         const ColumnPieces& pieces);
void write_multi_order_table(FitsWriter& writer, const MapFile& map);
/// Writes the header of the table of a full sky, as if it had one row.
void begin_full_sky_table(FitsWriter& writer, const MapFile& map, const HealpixPixels& healpix);
/// How many pixels a row of a full sky has.
std::int64_t full_sky_row(std::int64_t n_pixels);
void write_car_image(FitsWriter& writer, const MapFile& map, const CarPixels& car,
                     const ColumnPieces& pieces);

/// Throws InvalidArgument for pixels, columns or cards that no file can have.
void check_header(const MapFile& map);

/// A column's name, or its number where it has none.
std::string column_label(const MapFile& map, std::size_t column);

/// The columns' own names, but HEALPix' name where a reader could not tell that a column is I, Q or U.
std::vector<std::string> column_names(const MapFile& map);

/// These pixels of a column as they stand in the file.
std::vector<double> file_values(const MapFile& map, const MapColumn& column, View<const double, 1> pixels);

/// The rows of a map in the order of its columns.
std::vector<View<const double, 1>> pixels_of_columns(const SkyMap& map);

/// Writes POLAR, POLCCONV, BAD_DATA and, where known, COORDSYS.
void write_sky_cards(FitsWriter& writer, const MapFile& map);

/// Some pixels of a map.
struct MapPart {
    /// Ranges of places of these pixels in the file of a full sky.
    std::function<std::vector<PixelRange>(const Pixelization& file)> places;
    /// What is read is a partial sky. It has more pixels where a file can only be read in larger pieces, or
    /// as a whole, which else is an error.
    bool may_be_more = false;
};

/// Rows of a full sky in ring order that take the values of a table's columns as they are read, in place of
/// MapColumn::values: they need not be in memory twice.
struct SkyRows {
    /// Makes the rows, [column][pixel], once all is known but the values; none: the columns shall have these.
    std::function<std::vector<View<double, 1>>(const MapFile& header)> make{};
    bool nan_is_unseen = false;
    std::vector<View<double, 1>> rows{};
    /// What was found in each column, by pixel numbers of the file; NaN that was turned into unseen_value,
    /// too.
    std::vector<BadPixels> bad{};
};

/// part: the pixels to read, or null for all. rows: where the values of a full sky in one table go if it
/// makes some; may be null.
MapFile read_map(const std::string& path, const ReadMapOptions& options, const MapPart* part,
                 SkyRows* rows = nullptr);

// The two kinds of map HDU. Both may throw InvalidArgument, which read_map turns into an IoError.
MapFile read_healpix_table(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options,
                           const MapPart* part, SkyRows* rows);
MapFile read_car_image(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options,
                       const MapPart* part = nullptr);

/// What read_sky_map makes of a file's content.
SkyMap sky_of(MapFile file, const ReadMapOptions& options);

/// Throws IoError for a mask of other pixels or coordinates than the map's.
void require_same_sky(const MapFile& mask, const MapFile& map);
/// The value of a mask: 0 for UNSEEN. Throws IoError outside 0 to 1. pixel: its number in ring order.
double mask_value(double value, const std::string& source, std::int64_t pixel);
/// Throws IoError where the largest value of a mask in the pixels of the map is 0.
void require_unmasked(double largest, const MapFile& mask);

/// Which values of a column are bad, beside those that mean UNSEEN anyway.
struct BadValue {
    double stored = unseen_value;  ///< what a file's BAD_DATA is in the column
    bool nan = false;
};
BadValue bad_value(const Hdu& hdu, const MapColumn& column);
/// Turns bad values, [n], into exactly unseen_value.
void mark_unseen(const BadValue& bad, double* values, std::int64_t n);
/// The same for a column.
void mark_unseen(const Hdu& hdu, MapColumn& column);

/// Reads columns of a table into those of the map, all of which have `count` elements, or into rows.
/// elements: which to read, in the file's order; of rows all. threads: 0 for all CPUs.
void read_pixels(FitsReader& reader, const Hdu& hdu, const std::vector<int>& columns,
                 const std::vector<PixelRange>& elements, MapFile& map, SkyRows* rows, int threads);

}  // namespace zonal::io
