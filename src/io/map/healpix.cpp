// Reading HEALPix maps from binary tables.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

#include "core/interruption.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/map/columns.hpp"
#include "io/map/multi_order.hpp"
#include "io/map/read.hpp"
#include "io/tables/text.hpp"
#include "sky/sky_patch.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::io {
namespace {

using healpix::max_nside;

/// The header of a map's HDU, and the primary one, which some writers give the keys of all pixels.
struct MapHeaders {
    const FitsHeader& own;
    const FitsHeader& primary;

    /// The text, in capitals, of the first of these keys that a header has; empty if none has one.
    std::string text(std::initializer_list<const char*> keys) const {
        for (const auto* header : {&own, &primary})
            for (const auto* key : keys)
                if (const auto found = header->text(key)) return to_upper(trim(*found));
        return "";
    }
    std::optional<std::int64_t> integer(std::initializer_list<const char*> keys) const {
        for (const auto* header : {&own, &primary})
            for (const auto* key : keys)
                if (const auto found = header->integer(key)) return found;
        return {};
    }
};

std::string text(const Hdu& hdu, const char* key) {
    return to_upper(hdu.header.text(key).value_or(""));
}

struct Indexing {
    bool is_explicit = false;
    int pixel_column = -1;
};

int find_pixel_column(const Hdu& hdu) {
    const auto named = std::find_if(hdu.columns.begin(), hdu.columns.end(),
                                    [](const FitsColumn& column) { return is_pixel_name(column.name); });
    return named == hdu.columns.end() ? -1 : static_cast<int>(named - hdu.columns.begin());
}

Indexing find_indexing(const Hdu& hdu, std::vector<std::string>& notes) {
    const std::string scheme = text(hdu, "INDXSCHM");
    const std::string object = text(hdu, "OBJECT");
    if (!scheme.empty() && scheme != "IMPLICIT" && scheme != "EXPLICIT") {
        throw InvalidArgument("INDXSCHM", fmt::format("'{}'", scheme), "must be IMPLICIT or EXPLICIT");
    }
    // Some tables list every pixel by number, and others have a value for every pixel, many of them UNSEEN.
    const int pixel_column = find_pixel_column(hdu);
    const bool has_numbers = pixel_column >= 0;
    if ((scheme == "EXPLICIT" && object == "FULLSKY" && !has_numbers) ||
        (scheme == "IMPLICIT" && object == "PARTIAL" && has_numbers)) {
        throw InvalidArgument(
            fmt::format("INDXSCHM = '{}' contradicts OBJECT = '{}', and there is {} column of pixel numbers",
                        scheme, object, has_numbers ? "a" : "no"));
    }
    if (hdu.header.integer("GRAIN").value_or(0) > 1) {
        throw InvalidArgument("GRAIN", *hdu.header.integer("GRAIN"), "must be 0 or 1");
    }
    Indexing indexing{scheme == "EXPLICIT" || (scheme.empty() && object == "PARTIAL"), pixel_column};
    if (scheme.empty() && object != "PARTIAL" && object != "FULLSKY" && has_numbers) {
        indexing.is_explicit = true;
        notes.push_back(fmt::format("no INDXSCHM: column '{}' taken as pixel numbers",
                                    hdu.columns[indexing.pixel_column].name));
    }
    // As healpy: pixel numbers without a known name stand in the first column.
    if (indexing.is_explicit && indexing.pixel_column < 0) indexing.pixel_column = 0;
    if (!indexing.is_explicit) indexing.pixel_column = -1;
    return indexing;
}

healpix::Order find_ordering(const MapHeaders& headers, const ReadMapOptions& options,
                             std::vector<std::string>& notes) {
    const std::string ordering = headers.text({"ORDERING"});
    if (ordering == "RING") return healpix::Order::ring;
    if (ordering == "NESTED" || ordering == "NEST") return healpix::Order::nest;
    if (options.ordering_if_absent) return *options.ordering_if_absent;
    if (!ordering.empty())
        throw InvalidArgument(
            "ORDERING", fmt::format("'{}'", ordering),
            "must be RING or NESTED, unless you say which it is (ordering_if_absent, --order-if-absent)");
    if (const auto nest = headers.text({"HPXNEST"}); !nest.empty())
        return nest == "T" || nest == "TRUE" || nest == "1" ? healpix::Order::nest : healpix::Order::ring;
    notes.push_back("no ORDERING: taken as RING");
    return healpix::Order::ring;
}

HealpixPixels find_pixels(const Hdu& hdu, const MapHeaders& headers, const Indexing& indexing,
                          const ReadMapOptions& options, std::vector<std::string>& notes) {
    if (const auto type = text(hdu, "PIXTYPE"); !type.empty() && type != "HEALPIX") {
        throw InvalidArgument("PIXTYPE", fmt::format("'{}'", type), "must be HEALPIX");
    }
    HealpixPixels pixels;
    pixels.ordering = find_ordering(headers, options, notes);
    if (const auto nside = headers.integer({"NSIDE", "HPXNSIDE"})) {
        pixels.nside = *nside;
    } else if (!indexing.is_explicit && !hdu.columns.empty()) {
        pixels.nside = nside_of_size(hdu.rows * hdu.columns[0].repeat);
        notes.push_back(fmt::format("no NSIDE: {} from the number of pixels", pixels.nside));
    } else {
        throw InvalidArgument("NSIDE is missing: a partial sky needs it");
    }
    if (pixels.nside < 1 || pixels.nside > max_nside) {
        throw InvalidArgument("NSIDE", pixels.nside, "must be from 1 to 2^29");
    }
    if (pixels.ordering == healpix::Order::nest &&
        !std::has_single_bit(static_cast<std::uint64_t>(pixels.nside))) {
        throw InvalidArgument("NSIDE", pixels.nside, "must be a power of 2 for NESTED");
    }
    return pixels;
}

/// Integers of 32 bits and more do not fit a float.
FilePrecision precision_of(const FitsColumn& column) {
    return column.type == 'D' || column.type == 'J' || column.type == 'K' ? FilePrecision::float64
                                                                          : FilePrecision::float32;
}

std::vector<MapField> list_fields(const Hdu& hdu, int pixel_column, const ReadMapOptions& options,
                                  std::vector<std::string>& notes) {
    std::vector<MapField> fields;
    for (int i = 0; i < static_cast<int>(hdu.columns.size()); ++i) {
        if (i == pixel_column) continue;
        const auto& column = hdu.columns[i];
        fields.push_back({.name = column.name,
                          .unit = column.unit,
                          .precision = precision_of(column),
                          .numeric = column.numeric(),
                          .source = i});
        if (!column.numeric()) {
            notes.push_back(fmt::format("column '{}' of format '{}' left out", column.name, column.format));
        }
    }
    assign_stokes(fields, hdu.header.logical("POLAR"), options, notes);
    return fields;
}

/// Their system, or unknown where the text names none: the pixels are right all the same.
CoordinateSystem find_coordinates(const MapHeaders& headers, std::vector<std::string>& notes) {
    const auto text = headers.text({"COORDSYS"});
    try {
        return parse_coordinate_system(text);
    } catch (const InvalidArgument&) {
        notes.push_back(fmt::format(
            "COORDSYS = '{}' is no system of coordinates that is known: they are taken as unknown; "
            "zonal convert --set-coordsys names them",
            text));
        return CoordinateSystem::unknown;
    }
}

/// The column's numbers. Columns of floats may hold them, too.
std::vector<std::int64_t> read_pixel_numbers(FitsReader& reader, const Hdu& hdu, int index) {
    const auto& column = hdu.columns[static_cast<std::size_t>(index)];
    if (column.type != 'E' && column.type != 'D') return reader.read_integers(hdu, index);
    std::vector<std::int64_t> pixels;
    const auto numbers = reader.read_columns(hdu, {index}, -1);
    for (const double number : numbers[0]) {
        if (!(std::abs(number) < 0x1p53 && number == std::floor(number)))
            throw InvalidArgument(
                fmt::format("column '{}': pixel number {}: must be a whole number", column.name, number));
        pixels.push_back(static_cast<std::int64_t>(number));
    }
    return pixels;
}

/// Rows of pixel number -1 are padding. Their places.
std::vector<std::size_t> remove_padding(std::vector<std::int64_t>& pixels) {
    std::vector<std::size_t> padding;
    for (std::size_t i = 0; i < pixels.size(); ++i)
        if (pixels[i] == -1) padding.push_back(i);
    if (!padding.empty()) std::erase(pixels, -1);
    return padding;
}

void remove_places(const std::vector<std::size_t>& places, std::vector<double>& values) {
    if (places.empty()) return;
    std::size_t kept = 0, next = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (next < places.size() && places[next] == i)
            ++next;
        else
            values[kept++] = values[i];
    }
    values.resize(kept);
}

/// FIRSTPIX and LASTPIX bound the pixel numbers, or span the full sky (as gammapy and gtbin write them). Some
/// count from 1.
void check_first_and_last(const Hdu& hdu, const std::vector<std::int64_t>& pixels) {
    const auto [least, most] = std::minmax_element(pixels.begin(), pixels.end());
    const auto first = hdu.header.integer("FIRSTPIX"), last = hdu.header.integer("LASTPIX");
    if (first && *least < *first - 1)
        throw InvalidArgument(fmt::format("FIRSTPIX = {} contradicts pixel number {}", *first, *least));
    if (last && *most > *last + 1)
        throw InvalidArgument(fmt::format("LASTPIX = {} contradicts pixel number {}", *last, *most));
}

void check_pixel_numbers(const std::vector<std::int64_t>& pixels, std::int64_t n_pixels) {
    if (pixels.empty()) throw InvalidArgument("partial sky without pixels");
    for (const auto pixel : pixels) {
        if (pixel < 0 || pixel >= n_pixels) {
            throw InvalidArgument(fmt::format("pixel number {}: must be from 0 to {}", pixel, n_pixels - 1));
        }
    }
    std::vector<std::int64_t> sorted = pixels;
    core::RarePoll poll;
    std::sort(sorted.begin(), sorted.end(), [&](std::int64_t a, std::int64_t b) {
        poll();
        return a < b;
    });
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) throw InvalidArgument(fmt::format("pixel number {} occurs twice", *twice));
}

void check_ranges(const std::vector<PixelRange>& ranges, std::int64_t n_pixels) {
    for (const PixelRange& range : ranges)
        if (range.first < 0 || range.end < range.first || range.end > n_pixels)
            throw InvalidArgument(fmt::format("pixels from {} to before {}: must be from 0 to {}",
                                              range.first, range.end, n_pixels));
}

/// Reads the columns that the options choose. pixel_column: that of pixel numbers, -1: none. count: how many
/// values each must have; expected_for: " for NSIDE = 8". rows: for the values of a full sky; may be null.
void read_fields(FitsReader& reader, const Hdu& hdu, int pixel_column, std::int64_t count,
                 const std::string& expected_for, const ReadMapOptions& options,
                 const std::vector<PixelRange>* part, SkyRows* rows, MapFile& map) {
    const auto all = list_fields(hdu, pixel_column, options, map.notes);
    const auto fields = choose_fields(all, options, map.notes);
    for (const auto& field : all)
        if (field.auxiliary != Auxiliary::none && options.fields.empty() && !options.auxiliary)
            map.notes.push_back(fmt::format(
                "column '{}' left out: hits and covariances are no fields of the sky", field.name));
    std::vector<int> columns;
    for (const auto& field : fields) {
        const auto& column = hdu.columns[field.source];
        if (column.numeric() && hdu.rows * column.repeat != count) {
            throw InvalidArgument(fmt::format("column '{}' has {} pixels: {} expected{}", column.name,
                                              hdu.rows * column.repeat, count, expected_for));
        }
        columns.push_back(field.source);
    }
    for (const auto& field : fields)
        map.columns.push_back({.name = field.name,
                               .unit = field.unit,
                               .precision = field.precision,
                               .stokes = field.stokes,
                               .auxiliary = field.auxiliary});
    if (options.header_only) return;
    if (rows != nullptr) rows->rows = rows->make(map);
    const bool has_rows = rows != nullptr && !rows->rows.empty();
    if (!has_rows && part == nullptr)
        options.check_memory(
            static_cast<double>(columns.size() * sizeof(double)) * static_cast<double>(count),
            fmt::format("{}: {} columns", reader.source(hdu), columns.size()));
    const std::vector<PixelRange> whole{{0, count}};
    read_pixels(reader, hdu, columns, part != nullptr ? *part : whole, map, has_rows ? rows : nullptr,
                part != nullptr ? 1 : 0);
}

/// A map of pixels of several nside (ORDERING = NUNIQ), on one nside.
MapFile read_multi_order_table(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options) {
    const int numbers = hdu.find_column("UNIQ");
    if (numbers < 0) throw InvalidArgument("ORDERING = 'NUNIQ', but no column UNIQ");
    MapFile map;
    const auto unique = reader.read_integers(hdu, numbers);
    const MultiOrderCells cells(unique, options.multi_order_nside, reader.source(hdu), options.check_memory);
    map.pixelization = cells.pixelization();
    map.pixels = cells.pixels();
    map.coordinates = find_coordinates({hdu.header, reader.hdus()[0].header}, map.notes);
    read_fields(reader, hdu, numbers, std::ssize(unique), ", one a cell", options, nullptr, nullptr, map);
    if (!options.header_only)
        options.check_memory(cells.bytes_of_spreading(map.columns.size()),
                             fmt::format("{}: {} columns", reader.source(hdu), map.columns.size()));
    for (auto& column : map.columns)
        if (!column.values.empty()) column.values = cells.spread(column.values);
    map.notes.push_back(
        fmt::format("multi-order map of {} cells read as {}", unique.size(), to_string(map.pixelization)));
    return map;
}

}  // namespace

MapFile read_healpix_table(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options,
                           const MapPart* part, SkyRows* rows) {
    if (hdu.type != HduType::binary_table) throw InvalidArgument("not a binary table: no HEALPix map");
    MapFile map;
    map.source = reader.source(hdu);
    const MapHeaders headers{hdu.header, reader.hdus()[0].header};
    if (headers.text({"ORDERING"}) == "NUNIQ") {
        if (part != nullptr && !part->may_be_more)
            throw InvalidArgument("is a multi-order map: one process reads it");
        return read_multi_order_table(reader, hdu, options);
    }
    const Indexing indexing = find_indexing(hdu, map.notes);
    const HealpixPixels healpix = find_pixels(hdu, headers, indexing, options, map.notes);
    map.pixelization = healpix;
    map.coordinates = find_coordinates(headers, map.notes);
    std::int64_t count = full_sky_size(healpix);
    if (indexing.is_explicit && part != nullptr && !part->may_be_more)
        throw InvalidArgument("is a partial sky: only full skies can be read in parts");
    std::optional<std::vector<PixelRange>> places;  // to read; none: all
    if (part != nullptr && !indexing.is_explicit) {
        places = part->places(healpix);
        check_ranges(*places, count);
        if (part->may_be_more) map.pixels = numbers_in(*places);
    }
    std::vector<std::size_t> padding;
    if (indexing.is_explicit) {
        if (hdu.columns.empty()) throw InvalidArgument("partial sky without a column of pixel numbers");
        map.pixels = read_pixel_numbers(reader, hdu, indexing.pixel_column);
        count = std::ssize(map.pixels);
        padding = remove_padding(map.pixels);
        if (!padding.empty())
            map.notes.push_back(fmt::format("{} rows of pixel number -1 left out", padding.size()));
        check_pixel_numbers(map.pixels, full_sky_size(healpix));
        check_first_and_last(hdu, map.pixels);
    }
    read_fields(reader, hdu, indexing.pixel_column, count, fmt::format(" for NSIDE = {}", healpix.nside),
                options, places ? &*places : nullptr, map.partial() ? nullptr : rows, map);
    for (auto& column : map.columns) remove_places(padding, column.values);
    return map;
}

}  // namespace zonal::io
