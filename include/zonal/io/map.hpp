#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/io/header.hpp"
#include "zonal/mask.hpp"

namespace zonal::io {

enum class Ordering { ring, nest };

/// POLCCONV. Maps are in the COSMO convention in memory: where a file says IAU, U is negated on reading and
/// again on writing.
enum class PolarisationConvention { absent, cosmo, iau };

/// What a column holds. Decided by its name, the file's POLAR key or the caller, never by its position alone.
enum class Stokes { none, I, Q, U };

/// HEALPix resolution and order of a map.
struct HealpixPixels {
    std::int64_t nside = 0;
    Ordering ordering = Ordering::ring;
    bool operator==(const HealpixPixels&) const = default;
};

/// Equidistant cylindrical (FITS projection CAR) image of the full sphere: n_rings rings from north to south
/// of n_phi pixels each, the first one at longitude phi_0, longitudes growing. In a file, rows run from south
/// to north and longitude grows leftwards; reading and writing reorder.
struct CarPixels {
    std::int64_t n_rings = 0;
    std::int64_t n_phi = 0;
    double phi_0 = 0;    ///< longitude of a ring's first pixel, rad, in [0, 2 pi / n_phi)
    bool poles = false;  ///< false: theta_i = (i + 1/2) pi / n_rings; true: i pi / (n_rings - 1)
    bool operator==(const CarPixels&) const = default;
};

using Pixelisation = std::variant<HealpixPixels, CarPixels>;

/// Number of pixels of the full sphere.
std::int64_t full_sky_size(const Pixelisation& pixelisation);

/// The grid that a full-sky map is transformed on: HEALPix (ring order: nest maps must be reordered before),
/// Fejer or Clenshaw-Curtis rings for CAR.
Grid make_grid(const Pixelisation& pixelisation);

/// One column of a map: its name, unit and pixels.
struct MapColumn {
    std::string name{};
    std::string unit{};
    Precision precision = Precision::float32;
    Stokes stokes = Stokes::none;
    /// Hits, errors, covariance: known by its name, read only when named.
    bool auxiliary = false;
    /// [n_pixels]; for a partial sky one per element of MapFile::pixels. Reading turns whatever a file marks
    /// as bad (BAD_DATA, TNULL, unseen_value rounded to float) into exactly unseen_value. NaN stays NaN.
    std::vector<double> values{};
};

/// The content of a map file.
struct MapFile {
    Pixelisation pixelisation{};
    CoordinateSystem coordinates = CoordinateSystem::unknown;
    PolarisationConvention polarisation_convention = PolarisationConvention::absent;
    /// Pixel numbers of a partial sky, in the file's order, none twice; empty: full sky.
    std::vector<std::int64_t> pixels{};
    std::vector<MapColumn> columns{};
    /// Reading: the HDU's value cards other than those that describe the table and its pixels.
    /// Writing: cards to add, such as FWHM, SEED, HISTORY.
    std::vector<HeaderCard> cards{};

    /// Where it was read from, for messages: "map.fits, HDU 1 'SKYMAP'".
    std::string source{};
    /// What was assumed while reading, a line each, for the user to see: "no POLCCONV: taken as COSMO".
    std::vector<std::string> notes{};

    bool partial() const { return !pixels.empty(); }
    /// Index of the column that holds this Stokes parameter; -1: none.
    int find(Stokes stokes) const;
    /// Q and U are both there, so they make a spin-2 pair.
    bool polarised() const { return find(Stokes::Q) >= 0 && find(Stokes::U) >= 0; }
};

/// Which part of a file to read, and how.
struct ReadMapOptions {
    /// Name (EXTNAME) or number (0 is the primary HDU); empty: the first HDU that holds a map.
    std::string hdu{};
    /// Names (any case), I, Q, U for the columns that are these (where each is one), or 0-based numbers, the
    /// PIXEL column not counted; empty: all but the auxiliary ones. Columns come in the order asked for.
    std::vector<std::string> fields{};
    /// true: the first three of the chosen columns are I, Q, U (of two: Q, U); false: none is.
    std::optional<bool> polarised{};
    /// For HEALPix files without an ORDERING key; absent here too: ring, with a note.
    std::optional<Ordering> ordering_if_absent{};
};

/// Throws IoError, which names file and HDU.
MapFile read_map(const std::string& path, const ReadMapOptions& options = {});

/// Turns a partial sky into a full one, unseen_value where there was nothing. Full skies are left alone.
/// Throws InvalidArgument when the full map does not fit in this machine's memory.
void expand_to_full_sky(MapFile& map);

/// HEALPix maps as a binary table, full or partial sky as `map` is; CAR maps as an image with one plane a
/// column, always the full sphere. A name that ends in .gz gives a gzip file. Stokes columns get HEALPix'
/// names and POLAR when theirs are empty. Throws InvalidArgument when the map contradicts itself, IoError
/// when writing fails.
void write_map(const std::string& path, const MapFile& map, const WriteOptions& options = {});

}  // namespace zonal::io
