#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/io/header.hpp"
#include "zonal/memory.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal::io {

// Names that the library gives, for those who read files.
using zonal::CarPixels;
using zonal::HealpixPixels;
using zonal::MapColumn;
using zonal::MapFile;
using zonal::Pixelization;
using zonal::Stokes;

/// Which part of a file to read, and how.
struct ReadMapOptions {
    /// Name (EXTNAME) or number (0 is the primary HDU); empty: the first HDU that holds a map.
    std::string hdu{};
    /// Names (any case), I, Q, U for the columns that are these (where each is one), or 0-based numbers, the
    /// PIXEL column not counted; empty: all but the auxiliary ones. Columns come in the order asked for.
    std::vector<std::string> fields{};
    /// Where no fields are named: hits, errors and covariances too.
    bool auxiliary = false;
    /// true: the first three of the chosen columns are I, Q, U (of two: Q, U); false: none is.
    std::optional<bool> polarized{};
    /// For HEALPix files without an ORDERING key; absent here too: ring, with a note.
    std::optional<healpix::Order> ordering_if_absent{};
    /// The nside on which a multi-order map (NUNIQ) is read. Absent: that of the finest cell.
    std::optional<std::int64_t> multi_order_nside{};
    /// Leaves the columns without values. Pixel numbers of a partial sky are read all the same.
    bool header_only = false;
    /// read_sky_map keeps infinite pixels; without this they are an error.
    bool infinite_is_kept = false;
    /// read_sky_map takes NaN as unseen_value and says so in a note; without this NaN is an error.
    bool nan_is_unseen = false;
    /// read_sky_map: of partial skies. Other functions return what a file has.
    Extent extent = Extent::whole_sky;
    /// What is told of the memory that reading takes.
    MemoryCheck check_memory = require_memory;
};

/// Throws IoError, which names file and HDU.
MapFile read_map(const std::string& path, const ReadMapOptions& options = {});

/// Reads the first `count` fields of a map HDU for those who look at one after the other, and hands visit one
/// or, of small ones, several at a time: all of them may be larger than the memory. options.fields is not
/// looked at. Throws IoError as read_map does.
void visit_columns(const std::string& path, ReadMapOptions options, std::int64_t count,
                   const std::function<void(const MapFile&)>& visit);

/// How a file was read, in a line: "I, Q, U (IAU), nside 8, nest, galactic, K_CMB".
std::string describe_reading(const MapFile& map);

/// Reads the values of some pixels only, for processes that have a part of a map each. pixels: ranges of
/// places in the file's order, ring or nest; the columns' values are theirs, one range after the other.
/// Throws IoError as read_map does, and for files that cannot be read in parts: gzipped ones, partial skies,
/// and images.
MapFile read_map_part(const std::string& path, const std::vector<PixelRange>& pixels,
                      const ReadMapOptions& options = {});

/// Turns a partial sky into a full one, unseen_value where there was nothing. Full skies are left alone.
/// Throws OutOfMemory when the full map does not fit.
void expand_to_full_sky(MapFile& map);

/// HEALPix maps as a binary table, full or partial sky or multi-order map as `map` says; CAR maps as an image
/// with one plane a column, NaN where nothing is known: the full sphere, or of a partial sky the smallest
/// rectangle that holds its pixels. A name that ends in .gz gives a gzip file. Stokes columns
/// get HEALPix' names and POLAR when theirs are empty. Throws InvalidArgument when the map contradicts
/// itself, IoError when writing fails.
void write_map(const std::string& path, const MapFile& map, const WriteOptions& options = {});

}  // namespace zonal::io
