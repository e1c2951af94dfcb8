#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "io/fits/cards.hpp"
#include "io/map/columns.hpp"
#include "io/map/multi_order.hpp"
#include "io/map/read.hpp"

namespace zonal::io {
namespace {

// HEALPix' own files have rows of 1024 pixels; healpy writes such wherever the size allows it, and so do we.
constexpr std::int64_t pixels_per_row = 1024;

const char* healpix_name(Stokes stokes) {
    switch (stokes) {
        case Stokes::I:
            return "TEMPERATURE";
        case Stokes::Q:
            return "Q_POLARISATION";
        case Stokes::U:
            return "U_POLARISATION";
        case Stokes::none:
            return "";
    }
    return "";
}

}  // namespace

std::vector<std::string> column_names(const MapFile& map) {
    std::vector<MapField> fields;
    for (const auto& column : map.columns) fields.push_back({.name = column.name});
    std::vector<std::string> notes, names;
    assign_stokes(fields, {}, {}, notes);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto& column = map.columns[i];
        const bool must_tell = map.polarized() && column.stokes != Stokes::none;
        if (must_tell && fields[i].stokes != column.stokes)
            names.emplace_back(healpix_name(column.stokes));
        else if (!column.name.empty())
            names.push_back(column.name);
        else
            names.push_back(column.stokes == Stokes::none ? fmt::format("COLUMN_{}", i + 1)
                                                          : healpix_name(column.stokes));
    }
    return names;
}

std::int64_t full_sky_row(std::int64_t n_pixels) {
    return n_pixels % pixels_per_row == 0 ? pixels_per_row : 1;
}

namespace {

std::vector<WriteColumn> describe_columns(const MapFile& map, std::int64_t repeat) {
    std::vector<WriteColumn> columns;
    if (map.multi_order) {
        columns.push_back({"UNIQ", "K", "", "4 nside^2 + nested pixel number"});
    } else if (map.partial()) {
        const bool narrow = full_sky_size(map.pixelization) <= std::numeric_limits<std::int32_t>::max();
        columns.push_back({"PIXEL", narrow ? "J" : "K", "", "pixel number, from 0"});
    }
    const auto names = column_names(map);
    for (std::size_t i = 0; i < map.columns.size(); ++i) {
        const char type = map.columns[i].precision == FilePrecision::float64 ? 'D' : 'E';
        columns.push_back({names[i], repeat == 1 ? std::string(1, type) : fmt::format("{}{}", repeat, type),
                           map.columns[i].unit, ""});
    }
    return columns;
}

void write_pixel_cards(FitsWriter& writer, const MapFile& map, const HealpixPixels& healpix) {
    const bool nest = healpix.ordering == healpix::Order::nest;
    writer.write_card({"PIXTYPE", std::string("HEALPIX"), "HEALPIX pixelisation"});
    writer.write_card(
        {"ORDERING", std::string(nest ? "NESTED" : "RING"), "pixel ordering scheme, RING or NESTED"});
    writer.write_card({"NSIDE", healpix.nside, "resolution parameter of HEALPIX"});
    if (!map.partial()) {
        writer.write_card({"FIRSTPIX", std::int64_t{0}, "first pixel, from 0"});
        writer.write_card({"LASTPIX", full_sky_size(healpix) - 1, "last pixel, from 0"});
    }
    writer.write_card(
        {"INDXSCHM", std::string(map.partial() ? "EXPLICIT" : "IMPLICIT"), "IMPLICIT or EXPLICIT"});
    writer.write_card({"OBJECT", std::string(map.partial() ? "PARTIAL" : "FULLSKY"), "sky coverage"});
}

void write_rest_of_header(FitsWriter& writer, const MapFile& map) {
    write_sky_cards(writer, map);
    writer.write_cards(without_keys(map.cards, {"EXTNAME"}));
}

void begin_table(FitsWriter& writer, const MapFile& map, const HealpixPixels& healpix, std::int64_t rows,
                 std::int64_t repeat) {
    writer.begin_table(extension_name(map.cards, "MAP"), rows, describe_columns(map, repeat));
    write_pixel_cards(writer, map, healpix);
    write_rest_of_header(writer, map);
}

/// The columns of a map behind the table's first one: the values at these places, a row each.
void write_places(FitsWriter& writer, const MapFile& map, const std::vector<std::int64_t>& places) {
    const std::int64_t rows = std::ssize(places), chunk = writer.rows_at_once();
    std::vector<double> values;
    for (std::int64_t first = 0; first < rows; first += chunk) {
        const std::int64_t count = std::min(chunk, rows - first);
        for (std::size_t i = 0; i < map.columns.size(); ++i) {
            values.clear();
            for (std::int64_t row = first; row < first + count; ++row)
                values.push_back(map.columns[i].values[static_cast<std::size_t>(places[row])]);
            const auto stored = file_values(map, map.columns[i], {values.data(), {count}});
            writer.write_column(static_cast<int>(i) + 1, first, stored.data(), count);
        }
    }
}

}  // namespace

void write_multi_order_table(FitsWriter& writer, const MapFile& map) {
    const MergedCells cells = merge_cells(map);
    const std::int64_t rows = std::ssize(cells.unique);
    writer.begin_table(extension_name(map.cards, "MAP"), rows, describe_columns(map, 1));
    writer.write_card({"PIXTYPE", std::string("HEALPIX"), "HEALPIX pixelisation"});
    writer.write_card({"ORDERING", std::string("NUNIQ"), "pixels of several nside, numbered by UNIQ"});
    writer.write_card({"MOCORDER", std::int64_t{cells.finest_order}, "log2 of the largest nside"});
    writer.write_card({"INDXSCHM", std::string("EXPLICIT"), "IMPLICIT or EXPLICIT"});
    write_rest_of_header(writer, map);
    writer.write_column(0, 0, cells.unique.data(), rows);
    write_places(writer, map, cells.places);
}

void begin_full_sky_table(FitsWriter& writer, const MapFile& map, const HealpixPixels& healpix) {
    begin_table(writer, map, healpix, 1, full_sky_row(full_sky_size(healpix)));
}

void write_healpix_table(FitsWriter& writer, const MapFile& map, const HealpixPixels& healpix,
                         const ColumnPieces& pieces) {
    const auto n_pixels = map.partial() ? std::ssize(map.pixels) : full_sky_size(healpix);
    const std::int64_t repeat = map.partial() ? 1 : full_sky_row(n_pixels);
    begin_table(writer, map, healpix, n_pixels / repeat, repeat);

    const int first_data = map.partial() ? 1 : 0;
    const std::int64_t chunk = writer.rows_at_once() * repeat;
    for (std::int64_t first = 0; first < n_pixels; first += chunk) {
        const std::int64_t count = std::min(chunk, n_pixels - first);
        if (map.partial()) writer.write_column(0, first, map.pixels.data() + first, count);
        for (std::size_t i = 0; i < map.columns.size(); ++i) {
            const auto values = pieces(i, first, count);
            writer.write_column(first_data + static_cast<int>(i), first, values.data(), count);
        }
    }
}

}  // namespace zonal::io
