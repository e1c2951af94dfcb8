// Reading equidistant cylindrical images.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "io/fits/fits_scan.hpp"
#include "io/map/columns.hpp"
#include "io/map/read.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"
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
        throw InvalidArgument(key, value,
                              fmt::format("must be {} in an equidistant cylindrical map", wanted));
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
    if (!(std::abs(value) > 1e-9))
        throw InvalidArgument(fmt::format("CDELT{}", axis), value, "must not be 0");
    return value;
}

void find_rows(const Hdu& hdu, CarLayout& layout) {
    require(hdu, "CRVAL2", 0);
    const double delta = step(hdu, 2);
    const double intervals = std::round(180 / std::abs(delta));
    if (std::abs(intervals * std::abs(delta) - 180) > tolerance * std::abs(delta)) {
        throw InvalidArgument("CDELT2", delta, "must divide 180 degrees");
    }
    const double exact = 180 / intervals;
    // distance of the first row's centre from the north pole, in rows
    const double latitude = (1 - number(hdu, "CRPIX2", 0)) * std::copysign(exact, delta);
    const double from_pole = (90 - latitude) / exact;
    const double half = std::round(2 * from_pole) / 2;
    layout.pixels.poles = half == std::floor(half);
    layout.pixels.n_rings = static_cast<std::int64_t>(intervals) + (layout.pixels.poles ? 1 : 0);
    layout.first_ring = static_cast<std::int64_t>(std::floor(half));
    layout.ring_step = delta > 0 ? -1 : 1;
    layout.n_rows = hdu.axes[1];
    const bool inside = layout.n_rows <= layout.pixels.n_rings && layout.ring(0) >= 0 &&
                        layout.ring(0) < layout.pixels.n_rings && layout.ring(layout.n_rows - 1) >= 0 &&
                        layout.ring(layout.n_rows - 1) < layout.pixels.n_rings;
    if (std::abs(from_pole - half) > tolerance || !inside) {
        throw InvalidArgument(fmt::format(
            "rows do not lie at theta = (i + 1/2) or i times {} degrees: CRPIX2 = {}, NAXIS2 = {}", exact,
            number(hdu, "CRPIX2", 0), hdu.axes[1]));
    }
}

void find_columns(const Hdu& hdu, CarLayout& layout) {
    const double delta = step(hdu, 1);
    layout.pixels.n_phi = hdu.axes[0];
    const double width = static_cast<double>(hdu.axes[0]) * std::abs(delta);
    if (std::abs(width - 360) > tolerance * std::abs(delta)) {
        throw InvalidArgument(
            fmt::format("rings are not full: NAXIS1 |CDELT1| = {} degrees, not 360", width));
    }
    const double exact = 360.0 / static_cast<double>(hdu.axes[0]);
    // longitude of the first column's centre, in pixels
    const double longitude =
        number(hdu, "CRVAL1", 0) / exact + (1 - number(hdu, "CRPIX1", 0)) * std::copysign(1, delta);
    const double whole = std::floor(longitude + 1e-6);
    layout.first_column = static_cast<std::int64_t>(whole) % layout.pixels.n_phi;
    layout.column_step = delta > 0 ? 1 : -1;
    layout.pixels.phi_0 =
        std::max(0.0, longitude - whole) * 2 * std::numbers::pi / static_cast<double>(hdu.axes[0]);
}

}  // namespace

CarLayout read_car_layout(const Hdu& hdu) {
    if (hdu.axes[0] < 1 || hdu.axes[1] < 1) throw InvalidArgument("image without pixels");
    if (hdu.axes[0] > 1'000'000'000 || hdu.axes[1] > 1'000'000'000) throw InvalidArgument("image too large");
    // Other values turn the native system against the celestial one.
    require(hdu, "LONPOLE", 0);
    if (number(hdu, "LATPOLE", 90) < 0) throw InvalidArgument("LATPOLE", "must not be negative");
    CarLayout layout;
    find_rows(hdu, layout);
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

/// Row by row from north to south, longitudes growing.
std::vector<double> reorder(const CarLayout& layout, const std::vector<double>& image) {
    const auto n_phi = layout.pixels.n_phi;
    const auto north = layout.ring_step > 0 ? layout.ring(0) : layout.ring(layout.n_rows - 1);
    std::vector<double> values(image.size());
    for (std::int64_t row = 0; row < layout.n_rows; ++row) {
        double* const ring = values.data() + (layout.ring(row) - north) * n_phi;
        for (std::int64_t column = 0; column < n_phi; ++column) {
            ring[layout.place(column)] = image[row * n_phi + column];
        }
    }
    return values;
}

/// Pixel numbers of a band of rings; none for the full sphere.
std::vector<std::int64_t> band_pixels(const CarLayout& layout) {
    if (layout.n_rows == layout.pixels.n_rings) return {};
    const auto north = layout.ring_step > 0 ? layout.ring(0) : layout.ring(layout.n_rows - 1);
    std::vector<std::int64_t> pixels(static_cast<std::size_t>(layout.n_rows * layout.pixels.n_phi));
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = north * layout.pixels.n_phi + static_cast<std::int64_t>(i);
    return pixels;
}

/// Reads planes one by one, but those that lie in tiles of several planes at once: a tile is unpacked as a
/// whole, of which a few bytes may stand for many planes.
class PlaneReader {
  public:
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

    std::vector<double> read(std::int64_t plane) const {
        if (last_ < first_) return reader_.read_image(hdu_, plane * size_, size_, unseen_value);
        if (all_.empty())
            all_ = reader_.read_image(hdu_, first_ * size_, (last_ - first_ + 1) * size_, unseen_value);
        const auto begin = all_.begin() + static_cast<std::ptrdiff_t>((plane - first_) * size_);
        return {begin, begin + static_cast<std::ptrdiff_t>(size_)};
    }

  private:
    FitsReader& reader_;
    const Hdu& hdu_;
    std::int64_t size_, first_ = 0, last_ = -1;
    mutable std::vector<double> all_;  ///< from the first plane to the last, once one was asked for
};

}  // namespace

MapFile read_car_image(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options) {
    if (hdu.axes.size() < 2) throw InvalidArgument("not an image: no map");
    MapFile map;
    map.coordinates = car_coordinates(hdu);
    const CarLayout layout = read_car_layout(hdu);
    map.pixelization = layout.pixels;
    map.pixels = band_pixels(layout);
    const std::int64_t plane_size = layout.n_rows * layout.pixels.n_phi;
    const auto all = list_fields(hdu, options, map.notes);
    const auto fields = choose_fields(all, options, map.notes);
    const PlaneReader planes(reader, hdu, fields, plane_size);
    for (const auto& field : fields) {
        std::vector<double> image;
        if (!options.header_only) image = planes.read(field.source);
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
