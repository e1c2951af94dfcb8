// Reading equidistant cylindrical images.
#include <fmt/core.h>

#include <cmath>

#include "io/map/car_image.hpp"
#include "io/map/columns.hpp"
#include "io/map/read.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

constexpr std::int64_t max_planes = 100'000;

std::int64_t count_planes(const Hdu& hdu) {
    std::int64_t planes = 1;
    for (std::size_t axis = 2; axis < hdu.axes.size(); ++axis) {
        if (hdu.axes[axis] < 1 || hdu.axes[axis] > max_planes / planes) {
            throw InvalidArgument(fmt::format("NAXIS{} = {}: at most {} planes are read", axis + 1,
                                              hdu.axes[axis], max_planes));
        }
        planes *= hdu.axes[axis];
    }
    return planes;
}

FilePrecision precision_of(const Hdu& hdu) {
    const auto bitpix = *hdu.header.integer("BITPIX");
    return bitpix == -64 || bitpix >= 32 ? FilePrecision::float64 : FilePrecision::float32;
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

std::vector<MapField> list_fields(const Hdu& hdu) {
    const auto n_planes = count_planes(hdu);
    std::vector<MapField> fields;
    for (std::int64_t plane = 0; plane < n_planes; ++plane) {
        fields.push_back({.name = plane_name(hdu, plane, n_planes),
                          .unit = hdu.header.text("BUNIT").value_or(""),
                          .precision = precision_of(hdu),
                          .source = static_cast<int>(plane)});
    }
    assign_stokes(fields, hdu.header.logical("POLAR").value_or(false));
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

}  // namespace

MapFile read_car_image(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options) {
    if (hdu.axes.size() < 2) throw InvalidArgument("not an image: no map");
    MapFile map;
    map.coordinates = car_coordinates(hdu);
    const CarLayout layout = read_car_layout(hdu);
    map.pixelization = layout.pixels;
    map.pixels = band_pixels(layout);
    const std::int64_t plane_size = layout.n_rows * layout.pixels.n_phi;
    for (const auto& field : choose_fields(list_fields(hdu), options)) {
        const auto image = reader.read_image(hdu, field.source * plane_size, plane_size, unseen_value);
        map.columns.push_back({.name = field.name,
                               .unit = field.unit,
                               .precision = field.precision,
                               .stokes = field.stokes,
                               .auxiliary = field.auxiliary,
                               .values = reorder(layout, image)});
        mark_unseen(hdu, map.columns.back());
    }
    return map;
}

}  // namespace zonal::io
