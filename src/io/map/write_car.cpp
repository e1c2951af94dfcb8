#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

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

/// The part of the grid that an image shows: rows from south to north, longitudes leftwards.
struct Rectangle {
    const CarPixels& car;
    std::int64_t north = 0;  ///< its northmost ring
    std::int64_t n_rows = 0;
    std::int64_t first = 0;  ///< place on a ring of the last pixel of a row, where longitude is least
    std::int64_t n_columns = 0;

    std::int64_t column(std::int64_t place) const {
        return n_columns - 1 - (place - first + car.n_phi) % car.n_phi;
    }
    /// Degrees from 0 to 360.
    double centre_longitude() const {
        const auto in_circle = static_cast<double>(car.n_phi);
        const double first_pixel = radians_to_degrees(car.phi_0) / 360 * in_circle;
        const double pixels =
            first_pixel + static_cast<double>(first) + static_cast<double>(n_columns - 1) / 2;
        return std::fmod(pixels, in_circle) * 360 / in_circle;
    }
};

/// The rectangle of full rings. It has longitude 0 in its middle.
Rectangle full_rings(const CarPixels& car, std::int64_t north, std::int64_t n_rows) {
    return {car, north, n_rows, (car.n_phi + 1) / 2 % car.n_phi, car.n_phi};
}

/// The smallest rectangle that holds these pixels. Its columns are those outside the longest stretch of
/// places that no pixel has, which may go across longitude 0.
Rectangle bounds(const CarPixels& car, const std::vector<std::int64_t>& pixels) {
    const auto [northmost, southmost] = std::minmax_element(pixels.begin(), pixels.end());
    const auto north = *northmost / car.n_phi, n_rows = *southmost / car.n_phi - north + 1;
    std::vector<bool> used(static_cast<std::size_t>(car.n_phi));
    for (const auto pixel : pixels) used[static_cast<std::size_t>(pixel % car.n_phi)] = true;
    const auto start = std::find(used.begin(), used.end(), true) - used.begin();
    std::int64_t longest = 0, behind = 0, gap = 0;
    for (std::int64_t i = start + 1; i <= start + car.n_phi; ++i) {
        const auto place = i % car.n_phi;
        if (!used[static_cast<std::size_t>(place)]) {
            ++gap;
            continue;
        }
        if (gap > longest) {
            longest = gap;
            behind = place;
        }
        gap = 0;
    }
    if (longest == 0) return full_rings(car, north, n_rows);
    return {car, north, n_rows, behind, car.n_phi - longest};
}

void write_wcs(FitsWriter& writer, const MapFile& map, const Rectangle& image) {
    const auto& car = image.car;
    const auto names = axis_names(map.coordinates);
    const auto intervals = static_cast<double>(car.n_rings - (car.poles ? 1 : 0));
    const double first_ring = car.poles ? 0 : 0.5;  // its distance from the pole, in rings
    const double south = static_cast<double>(image.north + image.n_rows - 1) + first_ring;
    writer.write_card({"CTYPE1", std::string(names.longitude), "equidistant cylindrical (plate carree)"});
    // In the middle, so that every pixel is less than half a turn away.
    writer.write_card({"CRPIX1", static_cast<double>(image.n_columns + 1) / 2, ""});
    writer.write_card({"CRVAL1", image.centre_longitude(), "[deg]"});
    writer.write_card({"CDELT1", -360 / static_cast<double>(car.n_phi), "[deg] longitude grows leftwards"});
    writer.write_card({"CUNIT1", std::string("deg"), ""});
    writer.write_card({"CTYPE2", std::string(names.latitude), ""});
    writer.write_card({"CRPIX2", 1 + south - intervals / 2, "the equator"});
    writer.write_card({"CRVAL2", 0.0, "[deg]"});
    writer.write_card({"CDELT2", 180 / intervals, "[deg]"});
    writer.write_card({"CUNIT2", std::string("deg"), ""});
    const bool has_equinox = std::any_of(map.cards.begin(), map.cards.end(),
                                         [](const HeaderCard& card) { return card.key == "EQUINOX"; });
    if (map.coordinates == CoordinateSystem::equatorial && !has_equinox)
        writer.write_card({"EQUINOX", 2000.0, "J2000"});
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

constexpr double blank = std::numeric_limits<double>::quiet_NaN();

/// Places of the pixels in the columns' values, in the order of their numbers; none where that is theirs.
std::vector<std::size_t> ascending(const std::vector<std::int64_t>& pixels) {
    std::vector<std::size_t> order;
    if (std::is_sorted(pixels.begin(), pixels.end())) return order;
    order.resize(pixels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return pixels[a] < pixels[b]; });
    return order;
}

/// The pixels of a map ring by ring, from south to north, as an image has them: NaN where nothing is known.
class ImageRows {
  public:
    ImageRows(const MapFile& map, const Rectangle& image, const ColumnPieces& pieces)
        : map_(map), image_(image), pieces_(pieces), order_(ascending(map.pixels)) {}

    /// Calls write(row) for all rows of a column of the map.
    template <class Write>
    void for_rows(std::size_t column, const Write& write) const {
        const auto n_phi = image_.car.n_phi;
        auto end = map_.partial() ? std::ssize(map_.pixels) : full_sky_size(image_.car);
        std::vector<double> row(static_cast<std::size_t>(image_.n_columns));
        for (auto ring = image_.north + image_.n_rows - 1; ring >= image_.north; --ring) {
            auto begin = end;
            while (begin > 0 && number(begin - 1) >= ring * n_phi) --begin;
            const auto stored = values(column, begin, end);
            std::fill(row.begin(), row.end(), blank);
            for (auto i = begin; i < end; ++i) {
                const double value = stored[static_cast<std::size_t>(i - begin)];
                row[static_cast<std::size_t>(image_.column(number(i) - ring * n_phi))] =
                    is_unseen_value(value) ? blank : value;
            }
            write(row);
            end = begin;
        }
    }

  private:
    std::vector<double> values(std::size_t column, std::int64_t begin, std::int64_t end) const {
        if (order_.empty()) return pieces_(column, begin, end - begin);
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(end - begin));
        for (auto i = begin; i < end; ++i)
            values.push_back(pieces_(column, static_cast<std::int64_t>(place(i)), 1)[0]);
        return values;
    }
    std::size_t place(std::int64_t i) const {
        const auto index = static_cast<std::size_t>(i);
        return order_.empty() ? index : order_[index];
    }
    std::int64_t number(std::int64_t i) const { return map_.partial() ? map_.pixels[place(i)] : i; }

    const MapFile& map_;
    const Rectangle& image_;
    const ColumnPieces& pieces_;
    std::vector<std::size_t> order_;
};

}  // namespace

void write_car_image(FitsWriter& writer, const MapFile& map, const CarPixels& car,
                     const ColumnPieces& pieces) {
    check_planes(map);
    const bool wide = std::any_of(map.columns.begin(), map.columns.end(), [](const MapColumn& column) {
        return column.precision == FilePrecision::float64;
    });
    const auto image = map.partial() ? bounds(car, map.pixels) : full_rings(car, 0, car.n_rings);
    const auto n_planes = static_cast<std::int64_t>(map.columns.size());
    const bool stokes = has_stokes_axis(map) && n_planes > 1;
    std::vector<std::int64_t> axes{image.n_columns, image.n_rows};
    if (n_planes > 1) axes.push_back(n_planes);
    writer.begin_image(wide ? FilePrecision::float64 : FilePrecision::float32, axes);
    write_wcs(writer, map, image);
    if (stokes) write_stokes_axis(writer);
    if (!map.columns[0].unit.empty()) writer.write_card({"BUNIT", map.columns[0].unit, ""});
    write_sky_cards(writer, map);
    writer.write_cards(map.cards);

    const ImageRows rows(map, image, pieces);
    std::int64_t written = 0;
    for (std::size_t i = 0; i < map.columns.size(); ++i)
        rows.for_rows(i, [&](const std::vector<double>& row) {
            writer.write_image(written, row.data(), image.n_columns);
            written += image.n_columns;
        });
}

}  // namespace zonal::io
