#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sky/header.hpp"
#include "zonal/sky/smoothing.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Sign of U in a file (POLCCONV). Maps are in the COSMO convention in memory: where a file says IAU, U is
/// negated when it is read and again when it is written.
enum class PolarizationConvention { absent, cosmo, iau };

/// What a column holds. A name, the file's POLAR key or the caller decides it, never the position alone.
enum class Stokes { none, I, Q, U };

/// What a column is that holds no field of the sky. Its name tells.
enum class Auxiliary {
    none,  ///< it is a field
    hits,  ///< number of observations
    error  ///< standard deviations, variances or covariances
};

/// HEALPix resolution and order of a map.
struct HealpixPixels {
    std::int64_t nside = 0;
    healpix::Order ordering = healpix::Order::ring;
    bool operator==(const HealpixPixels&) const = default;
};

/// Equidistant cylindrical (FITS projection CAR) pixels of the full sphere: n_rings rings from north to south
/// of n_phi pixels each, the first one at longitude phi_0, longitudes growing. In a file, rows run from south
/// to north and longitude grows leftwards; reading and writing reorder. An image of a part of the sky is a
/// partial sky on the grid that it was cut from.
struct CarPixels {
    std::int64_t n_rings = 0;
    std::int64_t n_phi = 0;
    double phi_0 = 0;    ///< longitude of a ring's first pixel, rad, in [0, 2 pi / n_phi)
    bool poles = false;  ///< false: theta_i = (i + 1/2) pi / n_rings; true: i pi / (n_rings - 1)
    bool operator==(const CarPixels&) const = default;
};

using Pixelization = std::variant<HealpixPixels, CarPixels>;

/// "nside 32, ring", "CAR, 180 rings of 360 pixels", or "CAR, 181 rings of 360 pixels from longitude 0
/// degrees, poles included". Without a longitude the first one is half a pixel.
std::string to_string(const Pixelization& pixelization);

/// Numbers of pixels, and of rings, of the full sphere.
std::int64_t full_sky_size(const Pixelization& pixelization);
std::int64_t ring_count(const Pixelization& pixelization);

/// Whether the pixels are the same, in whichever order a map has them; CAR pixels may be a millionth of one
/// apart.
bool same_pixels(const Pixelization& a, const Pixelization& b);

/// The grid that a full-sky map is transformed on: HEALPix (ring order: nest maps must be reordered before),
/// Fejer or Clenshaw-Curtis rings for CAR. Throws OutOfMemory where the rings do not fit this machine.
Grid make_grid(const Pixelization& pixelization);

/// The pixel of a map on this grid that is nearest to a direction (rad): nearest ring, then longitude. The
/// rings must run from north to south.
std::int64_t nearest_pixel(const Grid& grid, double theta, double phi);

/// One column of a map: its name, unit and pixels.
struct MapColumn {
    std::string name{};
    std::string unit{};
    FilePrecision precision = FilePrecision::float32;
    Stokes stokes = Stokes::none;
    Auxiliary auxiliary = Auxiliary::none;
    /// [n_pixels]; for a partial sky one per element of MapFile::pixels. Pixels without data are exactly
    /// unseen_value. Empty in the header of a SkyMap, which holds the values itself.
    std::vector<double> values{};
};

/// A map as a file holds it: pixels in the file's order, and what the header says.
struct MapFile {
    Pixelization pixelization{};
    CoordinateSystem coordinates = CoordinateSystem::unknown;
    PolarizationConvention polarization_convention = PolarizationConvention::absent;
    /// Pixel numbers of a partial sky, in the file's order, none twice; empty: full sky.
    std::vector<std::int64_t> pixels{};
    std::vector<MapColumn> columns{};
    /// Reading: the HDU's value cards other than those that describe the table and its pixels.
    /// Writing: cards to add, such as FWHM, SEED, HISTORY.
    std::vector<HeaderCard> cards{};

    /// Writing: as a multi-order map (NUNIQ), whose cells are as large as neighbours agree in every column.
    bool multi_order = false;

    /// Some pixels are infinite, and only passed on; else they are an error.
    bool may_be_infinite = false;

    /// Where it was read from, for messages: "map.fits, HDU 1 'SKYMAP'".
    std::string source{};
    /// What was assumed while reading, a line each, for the user to see: "no POLCCONV: taken as COSMO".
    std::vector<std::string> notes{};

    bool partial() const { return !pixels.empty(); }
    /// Index of the column that holds this Stokes parameter; -1: none.
    int find(Stokes stokes) const;
    /// Whether Q and U are both there, so that they make a spin-2 pair.
    bool polarized() const { return find(Stokes::Q) >= 0 && find(Stokes::U) >= 0; }
};

/// Columns that are transformed together: I, Q, U; Q, U; or any number of spin-0 fields.
struct FieldGroup {
    Fields fields;
    std::int64_t first_row;
    std::int64_t n_rows;
};

/// The pixels that a map of a partial sky has memory for.
enum class Extent {
    whole_sky,  ///< all, unseen_value where the partial sky has none: what transforms need
    own_pixels  ///< its own: enough for sums over pixels, statistics and files
};

/// A map as the transforms want it: the full sky, in ring order, unseen_value where a partial sky has no
/// pixels; and the header of the file that it came from or goes to. read_sky_map and write_sky_map in
/// io/sky_map.hpp read and write it.
class SkyMap {
  public:
    /// Takes a file's content into ring order. A map whose columns are all empty gets zeros. Throws
    /// InvalidArgument for columns of unequal or wrong length, pixels that are NaN or infinite, and Q without
    /// U; OutOfMemory where the full sky does not fit this machine.
    explicit SkyMap(MapFile content, Extent extent = Extent::whole_sky);
    /// The memory that this takes beside the content, which gives its values away column by column.
    static double bytes_beside(const MapFile& content, Extent extent);
    /// One rank's part of a full sky: the columns have the values of the part's pixels, in ring order
    /// whatever the header says. Throws InvalidArgument as above.
    SkyMap(MapFile content, std::shared_ptr<const SkyPart> part);
    /// A map on other pixels with the same columns and header, all 0. It is a full sky if the pixels differ;
    /// in another order, a partial sky keeps its pixels.
    SkyMap(const SkyMap& like, const Pixelization& pixelization);
    /// A copy of these rows, which are transformed together as `fields`. It has the header of the whole map,
    /// so it cannot be written.
    SkyMap(const SkyMap& map, Fields fields, const std::vector<std::int64_t>& rows);

    /// What the file says or will say; its columns have no values.
    const MapFile& header() const { return header_; }
    MapFile& header() { return header_; }
    /// The rings of the rows' pixels. Those of a patch have its pixels only: their longitudes mean nothing.
    const Grid& grid() const { return grid_; }
    /// The part of the sky that this is, be it all of it.
    std::shared_ptr<const SkyPart> part() const;
    /// Whether this process has all of the sky.
    bool is_whole() const { return part_ == nullptr; }
    /// Whether this is a partial sky that has memory for its own pixels only.
    bool is_patch() const;
    /// Where a pixel of the whole sky, in ring order, is in a row; -1: a patch does not have it.
    std::int64_t place(std::int64_t ring_pixel) const;
    /// The numbers, in ring order and ascending, of the pixels that the rows have.
    std::vector<std::int64_t> own_pixels() const;
    /// The grid of the whole sky.
    const Grid& whole_grid() const;
    /// 0 where the map is not HEALPix.
    std::int64_t nside() const;
    const std::vector<FieldGroup>& groups() const { return groups_; }
    /// Whether Q and U are among the rows, as a pair; their group is the first one.
    bool polarized() const { return groups_[0].fields != Fields::scalars; }
    /// Whether fields of spin 0 are among the rows, too.
    bool has_both_spins() const {
        return polarized() && (groups_[0].fields == Fields::iqu || groups_.size() > 1);
    }

    /// [row, pixel] in ring order; rows are in the order of the groups, not of the file's columns.
    View<double, 2> rows() { return values_.view(); }
    View<const double, 2> rows() const { return values_.view(); }
    /// The array itself, of a map that is not needed any more.
    Array<double, 2> take_rows() && { return std::move(values_); }
    View<double, 2> rows(const FieldGroup& group) { return rows().slice(group.first_row, group.n_rows); }
    View<const double, 2> rows(const FieldGroup& group) const {
        return rows().slice(group.first_row, group.n_rows);
    }
    /// Copies values, [row, pixel] in ring order, into the rows, and rows into an array of that shape. Values
    /// that mean UNSEEN become exactly unseen_value. T: float or double; threads: 0 for available_cpus().
    /// They throw InvalidArgument for other shapes.
    template <class T>
    void set_rows(ConstView<T, 2> values, int threads = 0);
    template <class T>
    void copy_rows(View<T, 2> values, int threads = 0) const;
    /// The column behind a row: its name, unit and so on.
    const MapColumn& column(std::int64_t row) const {
        return header_.columns[column_of_row_[static_cast<std::size_t>(row)]];
    }
    /// "I": name of the column behind a row.
    const std::string& row_name(std::int64_t row) const { return column(row).name; }
    /// Row of I, or of the only field; -1: there is none.
    std::int64_t intensity_row() const;

    /// Gives a patch memory for the whole sky, unseen_value elsewhere. It stays a partial sky. Throws
    /// OutOfMemory.
    void expand();
    /// Makes a partial sky a full one, expanded.
    void make_full_sky();
    /// Leaves only pixels in the map that are not unseen_value in every row, in the order of the header.
    /// Throws InvalidArgument where nothing is left.
    void make_partial_sky();
    /// The map as a file holds it, in the order and with the pixels that the header says; of a part of the
    /// sky its pixels in ring order.
    MapFile to_file() const;

  private:
    void make_groups();
    void allocate();
    void take_values();
    /// Where the pixels of a partial sky's file are in a row.
    std::vector<std::int64_t> places() const;

    MapFile header_;
    std::shared_ptr<const SkyPart> part_;  ///< null for the whole
    Grid grid_;
    std::vector<FieldGroup> groups_;
    std::vector<std::size_t> column_of_row_;
    Array<double, 2> values_;
};

/// Throws InvalidArgument for a map with Q and no U, or the reverse.
void require_pairs(const MapFile& header);

/// Takes a header to other pixels: that of a full sky if they differ; in another order, a partial sky keeps
/// its pixels.
void set_pixels(MapFile& header, const Pixelization& pixelization);

/// Throws InvalidArgument for a map of several spin-0 fields, or of fields beside I, Q, U: alm and spectra
/// are those of one sky.
void require_one_sky(const SkyMap& map);

/// I, Q, U (or I alone) of zeros. unit: of all columns. part: of a sky that ranks have in parts.
SkyMap new_sky_map(const Pixelization& pixelization, bool polarized, const std::string& unit = "",
                   FilePrecision precision = FilePrecision::float64,
                   CoordinateSystem coordinates = CoordinateSystem::unknown,
                   std::shared_ptr<const SkyPart> part = nullptr);

}  // namespace zonal
