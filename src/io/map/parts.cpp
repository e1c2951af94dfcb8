#include "zonal/io/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/fits/fits_writer.hpp"
#include "io/fits/shared_file.hpp"
#include "io/map/read.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/mask.hpp"

namespace zonal::io {
namespace {

/// Bytes that are written at once.
constexpr std::int64_t bytes_at_once = std::int64_t{1} << 23;

const HealpixPixels& healpix_of(const MapFile& map) {
    const auto* pixels = std::get_if<HealpixPixels>(&map.pixelization);
    if (pixels == nullptr)
        throw InvalidArgument(to_string(map.pixelization) +
                              ": only HEALPix maps are read and written in parts");
    return *pixels;
}

/// Turns NaN into unseen_value; a note says how many there were on all ranks.
void replace_nan_of_parts(MapFile& file, const Communicator& ranks) {
    std::vector<double> counts;
    for (auto& column : file.columns) {
        const auto count = std::count_if(column.values.begin(), column.values.end(),
                                         [](double value) { return std::isnan(value); });
        std::replace_if(
            column.values.begin(), column.values.end(), [](double value) { return std::isnan(value); },
            unseen_value);
        counts.push_back(static_cast<double>(count));
    }
    counts = ranks.sum(counts);
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0)
            file.notes.push_back(fmt::format("{}: column {}: {:.0f} NaN taken as UNSEEN", file.source,
                                             column_label(file, i), counts[i]));
}

/// This rank's pixels of each column, wherever they are.
using Pixels = std::vector<View<const double, 1>>;

Pixels pixels_of(const MapFile& map) {
    Pixels pixels;
    for (const auto& column : map.columns)
        pixels.emplace_back(column.values.data(), std::array{std::ssize(column.values)});
    return pixels;
}

/// Throws IoError unless all pixels are numbers. path: empty where they were read, else where they go to.
void require_numbers_of_part(const MapFile& file, const Pixels& pixels, const PixelPlaces& places,
                             const std::string& path) {
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto bad = count_bad_pixels(pixels[i]);
        if (bad.nan + bad.infinite == 0) continue;
        const auto first = places[bad.nan > 0 ? bad.first_nan : bad.first_infinite];
        throw IoError(fmt::format("{}: column {}: {} pixels of this rank{} are {}, the first is pixel {}{}",
                                  path.empty() ? file.source : path, column_label(file, i),
                                  bad.nan > 0 ? bad.nan : bad.infinite, path.empty() ? "" : "'s result",
                                  bad.nan > 0 ? "NaN" : "infinite", first,
                                  bad.nan > 0 && path.empty() ? nan_as_unseen : ""));
    }
}

/// Writes pixels of a table whose rows have some pixels of one column, then those of the next.
class PixelRows {
  public:
    PixelRows(const std::string& path, const MapFile& map, const Pixels& pixels, SharedFile& file)
        : path_(path),
          map_(map),
          pixels_(pixels),
          file_(file),
          in_row_(full_sky_row(full_sky_size(map.pixelization))) {
        for (const auto& column : map.columns) {
            offsets_.push_back(row_bytes_);
            row_bytes_ += in_row_ * width(column);
        }
    }

    /// place: of the range's first pixel in the columns' values.
    void write(const PixelRange& range, std::int64_t place) {
        for (auto first = range.first; first < range.end;) {
            const auto row = first / in_row_, before = first % in_row_;
            const auto from = place + first - range.first;
            const auto n_rows = before > 0 ? 0 : std::min((range.end - first) / in_row_, rows_at_once());
            if (n_rows > 0)
                write_rows(row, n_rows, from);
            else
                write_piece(row, before, std::min(in_row_ - before, range.end - first), from);
            first += n_rows > 0 ? n_rows * in_row_ : std::min(in_row_ - before, range.end - first);
        }
    }

  private:
    static std::int64_t width(const MapColumn& column) {
        return column.precision == FilePrecision::float64 ? 8 : 4;
    }
    std::int64_t rows_at_once() const { return std::max<std::int64_t>(1, bytes_at_once / row_bytes_); }

    void write_rows(std::int64_t row, std::int64_t n_rows, std::int64_t from) {
        std::string bytes;
        bytes.reserve(static_cast<std::size_t>(n_rows * row_bytes_));
        for (std::int64_t i = 0; i < n_rows; ++i)
            for (std::size_t c = 0; c < map_.columns.size(); ++c)
                append_values(bytes, c, from + i * in_row_, in_row_);
        file_.write(file_.data(0) + row * row_bytes_, bytes);
    }
    void write_piece(std::int64_t row, std::int64_t before, std::int64_t count, std::int64_t from) {
        for (std::size_t c = 0; c < map_.columns.size(); ++c) {
            std::string bytes;
            append_values(bytes, c, from, count);
            file_.write(file_.data(0) + row * row_bytes_ + offsets_[c] + before * width(map_.columns[c]),
                        bytes);
        }
    }
    void append_values(std::string& bytes, std::size_t c, std::int64_t from, std::int64_t count) const {
        const bool narrow = width(map_.columns[c]) == 4;
        for (const double value : file_values(map_, map_.columns[c], pixels_[c].slice(from, count))) {
            if (narrow && std::isfinite(value) && !std::isfinite(static_cast<float>(value)))
                throw IoError(
                    fmt::format("{}: HDU 1: column '{}': {} does not fit a 4-byte float; double "
                                "precision holds it",
                                path_, column_names(map_)[c], value));
            append_number(bytes, value, narrow);
        }
    }

    const std::string& path_;
    const MapFile& map_;
    const Pixels& pixels_;
    SharedFile& file_;
    std::int64_t in_row_, row_bytes_ = 0;
    std::vector<std::int64_t> offsets_;
};

MapFile read_places(const std::string& path, const Communicator& ranks, const PixelPlaces& places,
                    const ReadMapOptions& options) {
    MapFile part;
    ranks.together("the pixels of " + path, [&] { part = read_map_part(path, places.ranges, options); });
    if (options.nan_is_unseen) replace_nan_of_parts(part, ranks);
    ranks.together("the numbers of " + path,
                   [&] { require_numbers_of_part(part, pixels_of(part), places, ""); });
    return part;
}

/// Moves all columns.
void move_map(const Communicator& ranks, const PixelPlaces& from, const PixelPlaces& to, MapFile& map) {
    std::vector<std::vector<double>*> columns;
    for (auto& column : map.columns) columns.push_back(&column.values);
    move_pixels(ranks, healpix_of(map).nside, from, to, columns);
}

PixelPlaces places_of(const DistributedSky& sky) {
    return {healpix::Order::ring, {sky.pixels().begin(), sky.pixels().end()}};
}

/// This rank's pixels of the sky, in ring order.
MapFile read_part(const std::string& path, const DistributedSky& sky, const ReadMapOptions& options) {
    const auto& ranks = sky.ranks();
    const auto header = read_map_header(path, ranks, options);
    const auto& pixels = healpix_of(header);
    if (full_sky_size(pixels) != sky.whole_grid().n_pixels())
        throw IoError(fmt::format("{}: {}: must have the {} pixels of the map", header.source,
                                  to_string(pixels), sky.whole_grid().n_pixels()));
    const auto here = places_of(sky);
    if (pixels.ordering == healpix::Order::ring) return read_places(path, ranks, here, options);
    const auto from = even_places(ranks, full_sky_size(pixels), 1, healpix::Order::nest);
    auto part = read_places(path, ranks, from, options);
    move_map(ranks, from, here, part);
    return part;
}

}  // namespace

MapFile read_map_header(const std::string& path, const Communicator& ranks, const ReadMapOptions& options) {
    MapFile header;
    ranks.together("the header of " + path, [&] { header = read_map_part(path, {}, options); });
    auto found = to_string(header.pixelization);
    for (const auto& column : header.columns) found += ", " + column.name;
    require_same_file(path, ranks, found);
    return header;
}

MapShare read_map_share(const std::string& path, const Communicator& ranks, const ReadMapOptions& options) {
    const auto header = read_map_header(path, ranks, options);
    const auto& pixels = healpix_of(header);
    const auto places = even_places(ranks, full_sky_size(pixels), 1, pixels.ordering);
    ranks.require_memory(
        static_cast<double>(places.size()) * static_cast<double>(header.columns.size() * sizeof(double)),
        fmt::format("{}: the full sky in {} columns", path, header.columns.size()));
    return {read_places(path, ranks, places, options), places};
}

SkyMap read_sky_part(const std::string& path, const DistributedSky& sky, const ReadMapOptions& options) {
    auto part = read_part(path, sky, options);
    return SkyMap(std::move(part), sky.part());
}

Array<double, 1> read_mask_part(const std::string& path, const SkyMap& map, const DistributedSky& sky,
                                std::vector<std::string>& notes, const std::string& field) {
    const auto mask = read_part(path, sky, {.fields = {field}, .polarized = false});
    notes = mask.notes;
    Array<double, 1> values({sky.grid().n_pixels()});
    const auto part = sky.part();
    sky.ranks().together("the mask " + path, [&] {
        require_same_sky(mask, map.header());
        for (std::int64_t pixel = 0; pixel < values.size(); ++pixel) {
            const double value = mask.columns[0].values[static_cast<std::size_t>(pixel)];
            values(pixel) = mask_value(value, mask.source, part->whole_pixel(pixel));
        }
    });
    require_unmasked(part->largest(*std::max_element(values.data(), values.data() + values.size())), mask);
    return values;
}

namespace {

void write_pixels(const std::string& path, const MapFile& part, const Pixels& pixels,
                  const PixelPlaces& places, const Communicator& ranks, const WriteOptions& options) {
    ranks.together("writing " + path, [&] {
        check_header(part);
        healpix_of(part);
        if (part.multi_order) throw InvalidArgument("multi-order maps are written by one process");
        require_numbers_of_part(part, pixels, places, path);
    });
    SharedFile file(ranks, path, options, [&] {
        FitsWriter header(path, options);
        begin_full_sky_table(header, part, healpix_of(part));
        const auto n_pixels = full_sky_size(part.pixelization);
        return make_frame(header.bytes(), {n_pixels / full_sky_row(n_pixels)});
    });
    ranks.together("the pixels of " + path, [&] {
        PixelRows rows(path, part, pixels, file);
        std::int64_t place = 0;
        for (const auto& range : places.ranges) {
            rows.write(range, place);
            place += range.end - range.first;
        }
    });
    file.commit();
}

}  // namespace

void write_map_share(const std::string& path, const MapShare& map, const Communicator& ranks,
                     const WriteOptions& options) {
    write_pixels(path, map.file, pixels_of(map.file), map.places, ranks, options);
}

void write_sky_part(const std::string& path, const SkyMap& map, const DistributedSky& sky,
                    const WriteOptions& options) {
    const auto& ranks = sky.ranks();
    const auto& header = map.header();
    const auto pixels = healpix_of(header);
    const auto here = places_of(sky);
    if (pixels.ordering == healpix::Order::ring)
        return write_pixels(path, header, pixels_of_columns(map), here, ranks, options);
    ranks.together("the numbers of " + path,
                   [&] { require_numbers_of_part(header, pixels_of_columns(map), here, path); });
    MapShare share{map.to_file(), even_places(ranks, full_sky_size(pixels), 1, healpix::Order::nest)};
    move_map(ranks, here, share.places, share.file);
    write_map_share(path, share, ranks, options);
}

}  // namespace zonal::io
