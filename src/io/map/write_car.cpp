#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "io/map/read.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

struct AxisNames {
    const char* longitude;
    const char* latitude;
};

AxisNames axis_names(CoordinateSystem system) {
    switch (system) {
        case CoordinateSystem::galactic:
            return {"GLON-CAR", "GLAT-CAR"};
        case CoordinateSystem::ecliptic:
            return {"ELON-CAR", "ELAT-CAR"};
        case CoordinateSystem::equatorial:
            return {"RA---CAR", "DEC--CAR"};
        case CoordinateSystem::unknown:
            return {"XLON-CAR", "XLAT-CAR"};
    }
    return {"XLON-CAR", "XLAT-CAR"};
}

/// Column (from 0) of the ring's first pixel: phi_0 stands near the image's centre.
std::int64_t centre_column(const CarPixels& car) {
    return (car.n_phi - 1) / 2;
}

void write_wcs(FitsWriter& writer, const MapFile& map, const CarPixels& car) {
    const auto names = axis_names(map.coordinates);
    const double row = 180.0 / static_cast<double>(car.n_rings - (car.poles ? 1 : 0));
    writer.write_card({"CTYPE1", std::string(names.longitude), "equidistant cylindrical (plate carree)"});
    writer.write_card({"CRPIX1", static_cast<double>(centre_column(car) + 1), ""});
    writer.write_card({"CRVAL1", radians_to_degrees(car.phi_0), "[deg]"});
    writer.write_card({"CDELT1", -360.0 / static_cast<double>(car.n_phi), "[deg] longitude grows leftwards"});
    writer.write_card({"CUNIT1", std::string("deg"), ""});
    writer.write_card({"CTYPE2", std::string(names.latitude), ""});
    writer.write_card({"CRPIX2", static_cast<double>(car.n_rings + 1) / 2, ""});
    writer.write_card({"CRVAL2", 0.0, "[deg]"});
    writer.write_card({"CDELT2", row, "[deg]"});
    writer.write_card({"CUNIT2", std::string("deg"), ""});
    if (map.coordinates == CoordinateSystem::equatorial) writer.write_card({"EQUINOX", 2000.0, "J2000"});
}

/// The planes are I, Q, U in that order (or I alone), so that the Stokes axis of the FITS standard tells.
bool has_stokes_axis(const MapFile& map) {
    constexpr std::array order{Stokes::I, Stokes::Q, Stokes::U};
    if (map.columns.size() > order.size()) return false;
    for (std::size_t i = 0; i < map.columns.size(); ++i) {
        if (map.columns[i].stokes != order[i]) return false;
    }
    return true;
}

void write_stokes_axis(FitsWriter& writer) {
    writer.write_card({"CTYPE3", std::string("STOKES"), "1, 2, 3 = I, Q, U"});
    writer.write_card({"CRPIX3", 1.0, ""});
    writer.write_card({"CRVAL3", 1.0, ""});
    writer.write_card({"CDELT3", 1.0, ""});
}

void check_planes(const MapFile& map) {
    for (const auto& column : map.columns) {
        if (column.unit != map.columns[0].unit) {
            throw InvalidArgument(
                fmt::format("columns '{}' and '{}' have units '{}' and '{}': an image has one",
                            map.columns[0].name, column.name, map.columns[0].unit, column.unit));
        }
    }
    if (map.find(Stokes::Q) >= 0 && !has_stokes_axis(map)) {
        throw InvalidArgument("planes of a polarized image: must be I, Q, U in that order");
    }
}

/// Rows from south to north, longitudes leftwards.
std::vector<double> image_row(const CarPixels& car, const std::vector<double>& ring) {
    std::vector<double> row(ring.size());
    for (std::int64_t column = 0; column < car.n_phi; ++column) {
        row[column] = ring[(centre_column(car) - column + car.n_phi) % car.n_phi];
    }
    return row;
}

}  // namespace

void write_car_image(FitsWriter& writer, const MapFile& map, const CarPixels& car) {
    if (map.partial()) {
        MapFile full = map;
        expand_to_full_sky(full);
        return write_car_image(writer, full, car);
    }
    check_planes(map);
    const bool wide = std::any_of(map.columns.begin(), map.columns.end(), [](const MapColumn& column) {
        return column.precision == FilePrecision::float64;
    });
    const auto n_planes = static_cast<std::int64_t>(map.columns.size());
    const bool stokes = has_stokes_axis(map) && n_planes > 1;
    std::vector<std::int64_t> axes{car.n_phi, car.n_rings};
    if (n_planes > 1) axes.push_back(n_planes);
    writer.begin_image(wide ? FilePrecision::float64 : FilePrecision::float32, axes);
    write_wcs(writer, map, car);
    if (stokes) write_stokes_axis(writer);
    if (!map.columns[0].unit.empty()) writer.write_card({"BUNIT", map.columns[0].unit, ""});
    write_sky_cards(writer, map);
    writer.write_cards(map.cards);

    std::int64_t written = 0;
    for (const auto& column : map.columns) {
        for (std::int64_t ring = car.n_rings - 1; ring >= 0; --ring) {
            const auto row = image_row(car, file_values(map, column, ring * car.n_phi, car.n_phi));
            writer.write_image(written, row.data(), car.n_phi);
            written += car.n_phi;
        }
    }
}

}  // namespace zonal::io
