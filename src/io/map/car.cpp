// Reading equidistant cylindrical images.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>

#include "io/fits/fits_scan.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/map/columns.hpp"
#include "io/map/read.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {

/// Where an image's pixels lie on the full equidistant cylindrical grid that it was cut from.
struct CarLayout {
    CarPixels pixels;
    std::int64_t n_rows = 0;        ///< of the image, pixels.n_rings or fewer
    std::int64_t n_columns = 0;     ///< pixels.n_phi or fewer
    std::int64_t stride = 0;        ///< n_columns, or one more where the last column is the first one again
    std::int64_t first_ring = 0;    ///< ring of the image's first row
    int ring_step = -1;             ///< +1: rows run from north to south
    std::int64_t first_column = 0;  ///< place on its ring of the first pixel of a row
    int column_step = -1;           ///< +1: longitude grows with the column

    bool is_full_sky() const { return n_rows == pixels.n_rings && n_columns == pixels.n_phi; }
    std::int64_t row(std::int64_t ring) const { return ring_step * (ring - first_ring); }
    std::int64_t north() const { return std::min(first_ring, first_ring + ring_step * (n_rows - 1)); }
    std::int64_t place(std::int64_t column) const {
        const std::int64_t shifted = first_column + column_step * column;
        return ((shifted % pixels.n_phi) + pixels.n_phi) % pixels.n_phi;
    }
};

/// From the header's WCS keys. Throws InvalidArgument unless the pixels are some of such a grid.
CarLayout read_car_layout(const Hdu& hdu);

/// From CTYPE1: GLON, RA, ELON. Throws InvalidArgument for an equinox other than 2000.
CoordinateSystem car_coordinates(const Hdu& hdu);

namespace {

// Headers give steps with few digits; a hundredth of a pixel over the whole image tells every grid apart.
constexpr double tolerance = 0.01;
// Reference pixels and angles beyond this are nonsense, and would overflow integers.
constexpr double largest = 1e9;

double number(const Hdu& hdu, const std::string& key, double fallback) {
    const double value = hdu.header.number(key).value_or(fallback);
    if (std::abs(value) > largest) throw InvalidArgument(key, value, "out of range");
    return value;
}

void require(const Hdu& hdu, const std::string& key, double wanted) {
    const double value = number(hdu, key, wanted);
    if (std::abs(value - wanted) > 1e-9) {
        throw InvalidArgument(
            key, value,
            fmt::format("must be {} in an equidistant cylindrical map; reproject the image to "
                        "such a grid",
                        wanted));
    }
}

/// Pixel step of an axis in degrees, from CDELTn, CDELTn PCn_n or CDn_n.
double step(const Hdu& hdu, int axis) {
    for (const char* matrix : {"CD", "PC"}) {
        require(hdu, fmt::format("{}{}_{}", matrix, axis, 3 - axis), 0);
    }
    require(hdu, fmt::format("CROTA{}", axis), 0);
    if (const std::string unit = to_upper(hdu.header.text(fmt::format("CUNIT{}", axis)).value_or("DEG"));
        unit != "DEG") {
        throw InvalidArgument(fmt::format("CUNIT{}", axis), fmt::format("'{}'", unit), "must be deg");
    }
    const double diagonal = number(hdu, fmt::format("PC{0}_{0}", axis), 1);
    const double value =
        number(hdu, fmt::format("CD{0}_{0}", axis), number(hdu, fmt::format("CDELT{}", axis), 1) * diagonal);
    if (!(std::abs(value) >= 360 / largest))
        throw InvalidArgument(fmt::format("CDELT{}", axis), value,
                              fmt::format("must not be 0, nor closer to it than {} degrees", 360 / largest));
    return value;
}

/// An axis of an image: pixel k, from 0, lies at origin + (k + 1 - reference) step, where the origin is
/// CRVAL.
struct Axis {
    std::int64_t in_circle = 0;  ///< pixels that the whole grid has along this axis, in 180 or 360 degrees
    double exact = 0;            ///< step with which exactly in_circle pixels fit; it has the sign of CDELT
    double reference = 0;        ///< CRPIX

    /// Degrees from CRVAL to pixel k.
    double offset(std::int64_t k) const { return (static_cast<double>(k + 1) - reference) * exact; }
};

Axis read_axis(const Hdu& hdu, int axis_number, double degrees) {
    const double delta = step(hdu, axis_number);
    const double intervals = std::max(1.0, std::round(degrees / std::abs(delta)));
    const Axis axis{static_cast<std::int64_t>(intervals), std::copysign(degrees / intervals, delta),
                    number(hdu, fmt::format("CRPIX{}", axis_number), 0)};
    const std::int64_t last = hdu.axes[static_cast<std::size_t>(axis_number) - 1] - 1;
    // How far a step that is not exact carries the image's ends, in pixels.
    const double drift = std::max(std::abs(axis.offset(0)), std::abs(axis.offset(last))) *
                         std::abs(delta / axis.exact - 1) / std::abs(axis.exact);
    if (!(drift <= tolerance))
        throw InvalidArgument(
            fmt::format("CDELT{}", axis_number), delta,
            fmt::format("must divide {} degrees, so that pixels lie on a grid of the full sphere; reproject "
                        "the image to such a grid",
                        degrees));
    return axis;
}

void find_rows(const Hdu& hdu, CarLayout& layout) {
    require(hdu, "CRVAL2", 0);
    const Axis axis = read_axis(hdu, 2, 180);
    layout.n_rows = hdu.axes[1];
    const double first = axis.offset(0), last = axis.offset(layout.n_rows - 1);
    const double beyond = 90 + tolerance * std::abs(axis.exact);
    if (std::max(std::abs(first), std::abs(last)) > beyond)
        throw InvalidArgument(fmt::format(
            "rows reach beyond the poles, from latitude {} to {} degrees (CRPIX2, CDELT2, NAXIS2 = {}): cut "
            "them off",
            first, last, layout.n_rows));
    // distance of the first row's centre from the north pole, in rows
    const double from_pole = (90 - first) / std::abs(axis.exact);
    const double half = std::round(2 * from_pole) / 2;
    if (std::abs(from_pole - half) > tolerance)
        throw InvalidArgument(fmt::format(
            "rows do not lie at theta = (i + 1/2) or i times {} degrees: CRPIX2 = {}, NAXIS2 = {}; reproject "
            "the image to a grid of the full sphere",
            std::abs(axis.exact), axis.reference, layout.n_rows));
    layout.pixels.poles = half == std::floor(half);
    layout.pixels.n_rings = axis.in_circle + (layout.pixels.poles ? 1 : 0);
    layout.first_ring = static_cast<std::int64_t>(half);
    layout.ring_step = axis.exact > 0 ? -1 : 1;
}

void find_columns(const Hdu& hdu, CarLayout& layout) {
    const Axis axis = read_axis(hdu, 1, 360);
    layout.pixels.n_phi = axis.in_circle;
    layout.stride = hdu.axes[0];
    layout.n_columns = std::min(layout.stride, layout.pixels.n_phi);
    if (layout.stride > layout.n_columns + 1)
        throw InvalidArgument(
            "NAXIS1", layout.stride,
            fmt::format("must be {} or fewer, which are 360 degrees of CDELT1 = {} and the first column "
                        "again: cut off columns that are there twice",
                        layout.n_columns + 1, axis.exact));
    // longitude of the first column's centre, in pixels
    double longitude = (number(hdu, "CRVAL1", 0) + axis.offset(0)) / std::abs(axis.exact);
    // Grids whose first pixel is at 0 or half a pixel from it are so exactly, whatever the header rounds.
    constexpr double rounding = 1e-6;
    if (const double half = std::round(2 * longitude) / 2; std::abs(longitude - half) < rounding)
        longitude = half;
    const double whole = std::floor(longitude);
    layout.first_column = static_cast<std::int64_t>(whole) % layout.pixels.n_phi;
    layout.column_step = axis.exact > 0 ? 1 : -1;
    // 2 pi times 0.5 / n_phi is to be pi / n_phi to the last bit.
    layout.pixels.phi_0 =
        2 * (longitude - whole) * std::numbers::pi / static_cast<double>(layout.pixels.n_phi);
}

}  // namespace

CarLayout read_car_layout(const Hdu& hdu) {
    if (hdu.axes[0] < 1 || hdu.axes[1] < 1) throw InvalidArgument("image without pixels");
    if (hdu.axes[0] > 1'000'000'000 || hdu.axes[1] > 1'000'000'000) throw InvalidArgument("image too large");
    CarLayout layout;
    find_rows(hdu, layout);
    // Other values turn the native system against the celestial one, as CRVAL2 does, with which they come.
    for (const char* key : {"LONPOLE", "PV1_1", "PV1_2", "PV1_3"}) require(hdu, key, 0);
    for (const char* key : {"LATPOLE", "PV1_4"})
        if (number(hdu, key, 90) < 0) throw InvalidArgument(key, "must not be negative");
    find_columns(hdu, layout);
    return layout;
}

CoordinateSystem car_coordinates(const Hdu& hdu) {
    const std::string longitude = to_upper(hdu.header.text("CTYPE1").value_or(""));
    const std::string latitude = to_upper(hdu.header.text("CTYPE2").value_or(""));
    const std::string frame = to_upper(hdu.header.text("RADESYS").value_or(""));
    if (frame.starts_with("FK4") || std::abs(hdu.header.number("EQUINOX").value_or(2000) - 2000) > 1e-6) {
        throw InvalidArgument("RADESYS, EQUINOX", "only J2000 coordinates are known");
    }
    if (longitude == "GLON-CAR" && latitude == "GLAT-CAR") return CoordinateSystem::galactic;
    if (longitude == "ELON-CAR" && latitude == "ELAT-CAR") return CoordinateSystem::ecliptic;
    if (longitude == "RA---CAR" && latitude == "DEC--CAR") return CoordinateSystem::equatorial;
    if (longitude == "XLON-CAR" && latitude == "XLAT-CAR") return CoordinateSystem::unknown;
    if (const auto why = why_no_map(hdu); !why.empty()) throw InvalidArgument(why);
    throw InvalidArgument(
        fmt::format("CTYPE1 = '{}', CTYPE2 = '{}': must be GLON-CAR and GLAT-CAR, ELON and ELAT, RA "
                    "and DEC, or XLON and XLAT",
                    longitude, latitude));
}

namespace {

constexpr std::int64_t max_planes = 100'000;

std::int64_t count_planes(const Hdu& hdu) {
    std::int64_t planes = 1;
    for (std::size_t axis = 2; axis < hdu.axes.size(); ++axis) {
        if (hdu.axes[axis] < 1 || hdu.axes[axis] > max_planes / planes) {
            throw InvalidArgument(fmt::format("NAXIS{}", axis + 1), hdu.axes[axis],
                                  fmt::format("at most {} planes are read", max_planes));
        }
        planes *= hdu.axes[axis];
    }
    return planes;
}

FilePrecision precision_of(const Hdu& hdu) {
    return hdu.bitpix == -64 || hdu.bitpix >= 32 ? FilePrecision::float64 : FilePrecision::float32;
}

/// Where CTYPE3 = 'STOKES', planes count 1, 2, 3 for I, Q, U (FITS standard, table 29).
std::string plane_name(const Hdu& hdu, std::int64_t plane, std::int64_t n_planes) {
    const std::int64_t stokes_axis = hdu.axes.size() > 2 ? hdu.axes[2] : 1;
    if (to_upper(hdu.header.text("CTYPE3").value_or("")) == "STOKES" && plane < stokes_axis) {
        const double stokes = hdu.header.number("CRVAL3").value_or(1) +
                              (static_cast<double>(plane) + 1 - hdu.header.number("CRPIX3").value_or(1)) *
                                  hdu.header.number("CDELT3").value_or(1);
        if (stokes == 1) return "I_STOKES";
        if (stokes == 2) return "Q_STOKES";
        if (stokes == 3) return "U_STOKES";
    }
    return n_planes == 1 ? hdu.name : fmt::format("PLANE{}", plane);
}

std::vector<MapField> list_fields(const Hdu& hdu, const ReadMapOptions& options,
                                  std::vector<std::string>& notes) {
    const auto n_planes = count_planes(hdu);
    std::vector<MapField> fields;
    for (std::int64_t plane = 0; plane < n_planes; ++plane) {
        fields.push_back({.name = plane_name(hdu, plane, n_planes),
                          .unit = hdu.header.text("BUNIT").value_or(""),
                          .precision = precision_of(hdu),
                          .source = static_cast<int>(plane)});
    }
    assign_stokes(fields, hdu.header.logical("POLAR"), options, notes);
    if (!settles_polarization(options) && n_planes == 3 && hdu.axes.size() == 3 &&
        fields[1].stokes == Stokes::none)
        notes.push_back(
            "three planes that the header does not name are taken as scalars; --pol (pol=True) takes them as "
            "I, Q, U");
    return fields;
}

/// The image's columns in the order of their places on a ring.
std::vector<std::int64_t> columns_by_place(const CarLayout& layout) {
    std::vector<std::int64_t> columns(static_cast<std::size_t>(layout.n_columns));
    std::iota(columns.begin(), columns.end(), std::int64_t{0});
    std::sort(columns.begin(), columns.end(),
              [&](std::int64_t a, std::int64_t b) { return layout.place(a) < layout.place(b); });
    return columns;
}

/// Calls use(ring, column) for the image's pixels in the order of their numbers.
template <class Use>
void for_pixels(const CarLayout& layout, const Use& use) {
    const auto columns = columns_by_place(layout);
    for (std::int64_t ring = layout.north(); ring < layout.north() + layout.n_rows; ++ring)
        for (const auto column : columns) use(ring, column);
}

/// Surveys may end with the column that they begin with.
void check_repeated_column(const CarLayout& layout, const std::vector<double>& image) {
    if (layout.stride == layout.n_columns) return;
    for (std::int64_t row = 0; row < layout.n_rows; ++row) {
        const double first = image[static_cast<std::size_t>(row * layout.stride)];
        const double last = image[static_cast<std::size_t>((row + 1) * layout.stride - 1)];
        if (first != last && !(std::isnan(first) && std::isnan(last)))
            throw InvalidArgument(
                fmt::format("the last of NAXIS1 = {} columns is at the longitude of the first, but differs "
                            "from it in row {}: {}, not {}; cut one of them off",
                            layout.stride, row + 1, last, first));
    }
}

std::vector<double> reorder(const CarLayout& layout, const std::vector<double>& image) {
    check_repeated_column(layout, image);
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(layout.n_rows * layout.n_columns));
    for_pixels(layout, [&](std::int64_t ring, std::int64_t column) {
        values.push_back(image[static_cast<std::size_t>(layout.row(ring) * layout.stride + column)]);
    });
    return values;
}

/// Numbers of the pixels on the full grid; none for the full sphere.
std::vector<std::int64_t> pixel_numbers(const CarLayout& layout) {
    std::vector<std::int64_t> pixels;
    if (layout.is_full_sky()) return pixels;
    pixels.reserve(static_cast<std::size_t>(layout.n_rows * layout.n_columns));
    for_pixels(layout, [&](std::int64_t ring, std::int64_t column) {
        pixels.push_back(ring * layout.pixels.n_phi + layout.place(column));
    });
    return pixels;
}

/// The image's rows that hold these pixels of the full grid, as an image of their own.
CarLayout rows_with(CarLayout layout, const std::vector<PixelRange>& pixels) {
    const auto n_phi = layout.pixels.n_phi;
    const auto north = std::max(layout.north(), pixels.front().first / n_phi),
               end = std::min(layout.north() + layout.n_rows, (pixels.back().end - 1) / n_phi + 1);
    if (end <= north) throw InvalidArgument("its rows have none of the map's pixels");
    layout.first_ring = layout.ring_step > 0 ? north : end - 1;
    layout.n_rows = end - north;
    return layout;
}

/// Reads planes one by one, but those that lie in tiles of several planes at once: a tile is unpacked as a
/// whole, of which a few bytes may stand for many planes.
class PlaneReader {
  public:
    /// size: of a plane.
    PlaneReader(FitsReader& reader, const Hdu& hdu, const std::vector<MapField>& fields, std::int64_t size)
        : reader_(reader), hdu_(hdu), size_(size) {
        const auto in_tile = [](std::int64_t length) { return length > 1; };
        if (!hdu.tiles || fields.size() < 2 ||
            std::none_of(hdu.tiles->tile_axes.begin() + 2, hdu.tiles->tile_axes.end(), in_tile))
            return;
        const auto [first, last] =
            std::minmax_element(fields.begin(), fields.end(),
                                [](const MapField& a, const MapField& b) { return a.source < b.source; });
        first_ = first->source;
        last_ = last->source;
    }

    /// `count` pixels of a plane, from `first` on.
    std::vector<double> read(std::int64_t plane, std::int64_t first, std::int64_t count) const {
        if (last_ < first_) return reader_.read_image(hdu_, plane * size_ + first, count, unseen_value);
        if (all_.empty())
            all_ = reader_.read_image(hdu_, first_ * size_, (last_ - first_ + 1) * size_, unseen_value);
        const auto begin = all_.begin() + static_cast<std::ptrdiff_t>((plane - first_) * size_ + first);
        return {begin, begin + static_cast<std::ptrdiff_t>(count)};
    }

  private:
    FitsReader& reader_;
    const Hdu& hdu_;
    std::int64_t size_, first_ = 0, last_ = -1;
    mutable std::vector<double> all_;  ///< from the first plane to the last, once one was asked for
};

}  // namespace

MapFile read_car_image(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options,
                       const MapPart* part) {
    if (hdu.axes.size() < 2) throw InvalidArgument("not an image: no map");
    MapFile map;
    map.coordinates = car_coordinates(hdu);
    const CarLayout whole = read_car_layout(hdu);
    const CarLayout layout = part == nullptr ? whole : rows_with(whole, part->places(whole.pixels));
    map.pixelization = layout.pixels;
    map.pixels = pixel_numbers(layout);
    if (layout.stride > layout.n_columns)
        map.notes.push_back("the last column, which is the first one again, left out");
    const std::int64_t first =
        std::min(whole.row(layout.north()), whole.row(layout.north() + layout.n_rows - 1));
    const auto all = list_fields(hdu, options, map.notes);
    const auto fields = choose_fields(all, options, map.notes);
    const PlaneReader planes(reader, hdu, fields, whole.n_rows * whole.stride);
    for (const auto& field : fields) {
        std::vector<double> image;
        if (!options.header_only)
            image = planes.read(field.source, first * layout.stride, layout.n_rows * layout.stride);
        map.columns.push_back({.name = field.name,
                               .unit = field.unit,
                               .precision = field.precision,
                               .stokes = field.stokes,
                               .auxiliary = field.auxiliary,
                               .values = image.empty() ? image : reorder(layout, image)});
        mark_unseen(hdu, map.columns.back());
    }
    return map;
}

}  // namespace zonal::io
