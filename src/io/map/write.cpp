#include "io/map/read.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "io/fits/cards.hpp"
#include "io/map/multi_order.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_batch.hpp"
#include "zonal/healpix.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/mask.hpp"

namespace zonal::io {
namespace {

using healpix::max_nside;
constexpr std::size_t max_columns = 998;  // FITS allows 999; one may be PIXEL

void check_pixelization(const Pixelization& pixelization) {
    if (const auto* healpix = std::get_if<HealpixPixels>(&pixelization)) {
        if (healpix->nside < 1 || healpix->nside > max_nside) {
            throw InvalidArgument("nside", healpix->nside, "must be from 1 to 2^29");
        }
        if (healpix->ordering == healpix::Order::nest &&
            !std::has_single_bit(static_cast<std::uint64_t>(healpix->nside))) {
            throw InvalidArgument("nside", healpix->nside, "must be a power of 2 for nest");
        }
        return;
    }
    const auto& car = std::get<CarPixels>(pixelization);
    constexpr std::int64_t largest = 1'000'000'000;
    if (car.n_rings < (car.poles ? 2 : 1) || car.n_rings > largest || car.n_phi < 1 || car.n_phi > largest) {
        throw InvalidArgument(fmt::format("n_rings = {}, n_phi = {}: must be from 1 (with poles: 2) to 10^9",
                                          car.n_rings, car.n_phi));
    }
}

}  // namespace

void check_header(const MapFile& map) {
    check_pixelization(map.pixelization);
    if (map.columns.empty() || map.columns.size() > max_columns)
        throw InvalidArgument(
            fmt::format("{} columns: must be from 1 to {}", map.columns.size(), max_columns));
    check_cards(map.cards);
}

namespace {

void check_map(const MapFile& map) {
    check_header(map);
    const auto full = full_sky_size(map.pixelization);
    for (const auto pixel : map.pixels) {
        if (pixel < 0 || pixel >= full) {
            throw InvalidArgument(fmt::format("pixel number {}: must be from 0 to {}", pixel, full - 1));
        }
    }
    const auto expected = map.partial() ? static_cast<std::int64_t>(map.pixels.size()) : full;
    for (const auto& column : map.columns) {
        if (static_cast<std::int64_t>(column.values.size()) != expected) {
            throw InvalidArgument(fmt::format("column '{}': {} values, {} expected", column.name,
                                              column.values.size(), expected));
        }
    }
}

}  // namespace

std::vector<double> file_values(const MapFile& map, const MapColumn& column, View<const double, 1> pixels) {
    std::vector<double> values(pixels.data(), pixels.data() + pixels.size());
    if (column.stokes == Stokes::U && map.polarization_convention == PolarizationConvention::iau) {
        for (double& value : values) {
            if (!is_unseen_value(value)) value = -value;
        }
    }
    return values;
}

void write_sky_cards(FitsWriter& writer, const MapFile& map) {
    const std::string coordinates = coordsys_key(map.coordinates);
    if (!coordinates.empty())
        writer.write_card({"COORDSYS", coordinates, "G = galactic, E = ecliptic, C = equatorial"});
    // Other programs take NaN in an image as the FITS standard does, and any number for a number.
    if (std::holds_alternative<CarPixels>(map.pixelization))
        writer.write_card({"BAD_DATA", std::string("NaN"), "value of pixels without data"});
    else
        writer.write_card({"BAD_DATA", unseen_value, "value of pixels without data"});
    writer.write_card({"POLAR", map.polarized(), "Q and U are included"});
    // The file keeps its convention even if no column is known to be Q or U.
    if (map.find(Stokes::U) < 0 && map.polarization_convention == PolarizationConvention::absent) return;
    const bool iau = map.polarization_convention == PolarizationConvention::iau;
    writer.write_card({"POLCCONV", std::string(iau ? "IAU" : "COSMO"), "sign of U (COSMO or IAU)"});
}

namespace {

void write(const std::string& path, const MapFile& map, const ColumnPieces& pieces,
           const WriteOptions& options) {
    FitsWriter writer(path, options);
    if (map.multi_order) {
        write_multi_order_table(writer, map);
    } else if (const auto* healpix = std::get_if<HealpixPixels>(&map.pixelization)) {
        write_healpix_table(writer, map, *healpix, pieces);
    } else {
        write_car_image(writer, map, std::get<CarPixels>(map.pixelization), pieces);
    }
    writer.commit();
}

bool is_nest(const MapFile& header) {
    const auto* healpix = std::get_if<HealpixPixels>(&header.pixelization);
    return healpix != nullptr && healpix->ordering == healpix::Order::nest;
}

/// Where the file's values from `first` on are among the map's pixels.
std::vector<std::int64_t> places_of(const SkyMap& map, std::int64_t first, std::int64_t count) {
    const auto& header = map.header();
    std::vector<std::int64_t> places(static_cast<std::size_t>(count));
    if (header.partial())
        std::copy_n(header.pixels.begin() + first, count, places.begin());
    else
        std::iota(places.begin(), places.end(), first);
    const View<std::int64_t, 1> view(places.data(), {count});
    if (is_nest(header)) healpix::nest2ring(map.nside(), view, view, 1);
    if (map.is_patch())
        for (auto& place : places) place = map.place(place);
    return places;
}

}  // namespace

std::vector<View<const double, 1>> pixels_of_columns(const SkyMap& map) {
    std::vector<View<const double, 1>> pixels(map.header().columns.size());
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row)
        pixels[static_cast<std::size_t>(&map.column(row) - map.header().columns.data())] = map.rows()[row];
    return pixels;
}

void write_map(const std::string& path, const MapFile& map, const WriteOptions& options) {
    check_map(map);
    const auto piece = [&map](std::size_t i, std::int64_t first, std::int64_t count) {
        const auto& column = map.columns[i];
        return file_values(map, column, {column.values.data() + first, {count}});
    };
    write(path, map, piece, options);
}

void write_sky_map(const std::string& path, const SkyMap& map, const WriteOptions& options) {
    const auto& header = map.header();
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) {
        auto bad = count_bad_pixels(map.rows()[row]);
        if (header.may_be_infinite) bad.infinite = 0;
        if (bad.nan + bad.infinite > 0)
            throw IoError(fmt::format("{}: column {}: {} pixels of the result are NaN or infinite", path,
                                      map.row_name(row), bad.nan + bad.infinite));
    }
    if (header.multi_order) return write_map(path, map.to_file(), options);  // not written piece by piece
    check_header(header);
    const auto columns = pixels_of_columns(map);
    const bool is_in_order = !header.partial() && !is_nest(header);
    const auto piece = [&](std::size_t i, std::int64_t first, std::int64_t count) {
        if (is_in_order) return file_values(header, header.columns[i], {columns[i].data() + first, {count}});
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(count));
        for (const auto place : places_of(map, first, count)) values.push_back(columns[i][place]);
        return file_values(header, header.columns[i], {values.data(), {count}});
    };
    write(path, header, piece, options);
}

double bytes_of_multi_order(const SkyMap& map) {
    const auto& header = map.header();
    const auto n_pixels = header.partial() ? std::ssize(header.pixels) : full_sky_size(header.pixelization);
    // map.to_file() has the columns, and the numbers of a partial sky's pixels.
    const auto copied = map.rows().extent(0) * n_pixels * std::int64_t{sizeof(double)} +
                        std::ssize(header.pixels) * std::int64_t{sizeof(std::int64_t)};
    return static_cast<double>(copied) + bytes_of_merging(n_pixels);
}

}  // namespace zonal::io
