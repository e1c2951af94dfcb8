// The values of maps on their way from a table, compiled for speed (src/CMakeLists.txt).
#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "io/map/read.hpp"
#include "io/tables/text.hpp"
#include "zonal/healpix.hpp"

namespace zonal::io {

BadValue bad_value(const Hdu& hdu, const MapColumn& column) {
    if (to_upper(hdu.header.text("BAD_DATA").value_or("")) == "NAN") return {.nan = true};
    const double bad = hdu.header.number("BAD_DATA").value_or(unseen_value);
    // A column of floats holds the key's value rounded to float.
    const bool narrow = column.precision == FilePrecision::float32 && std::abs(bad) < 3e38;
    return {.stored = narrow ? static_cast<float>(bad) : bad};
}

void mark_unseen(const BadValue& bad, double* values, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {  // without branches, at the speed of memory
        const double value = values[i];
        const bool is_bad = (value == bad.stored) | is_unseen_value(value) | (bad.nan & (value != value));
        values[i] = is_bad ? unseen_value : value;
    }
}

void mark_unseen(const Hdu& hdu, MapColumn& column) {
    const auto bad = bad_value(hdu, column);
    core::for_pieces(std::ssize(column.values), 1, [&](std::int64_t first, std::int64_t last) {
        mark_unseen(bad, column.values.data() + first, last - first);
    });
}

namespace {

/// Puts values of nest pixels from `first` on, [column, pixel], where they are in ring order.
void scatter_to_rings(std::int64_t nside, std::int64_t first, View<const double, 2> values,
                      const std::vector<View<double, 1>>& rows) {
    std::array<std::int64_t, 512> ring_pixels;  // stays in the first cache
    for (std::int64_t begin = 0; begin < values.extent(1); begin += std::ssize(ring_pixels)) {
        const auto n = std::min(std::ssize(ring_pixels), values.extent(1) - begin);
        healpix::nest2ring_run(nside, first + begin, {ring_pixels.data(), static_cast<std::size_t>(n)});
        for (std::int64_t column = 0; column < values.extent(0); ++column) {
            const double* from = values[column].data() + begin;
            double* to = rows[static_cast<std::size_t>(column)].data();
            for (std::int64_t i = 0; i < n; ++i) to[ring_pixels[static_cast<std::size_t>(i)]] = from[i];
        }
    }
}

void add(const BadPixels& piece, std::int64_t place, BadPixels& all) {
    const auto add_kind = [place](std::int64_t n, std::int64_t first, std::int64_t& sum,
                                  std::int64_t& least) {
        if (n > 0 && (sum == 0 || place + first < least)) least = place + first;
        sum += n;
    };
    add_kind(piece.nan, piece.first_nan, all.nan, all.first_nan);
    add_kind(piece.infinite, piece.first_infinite, all.infinite, all.first_infinite);
    add_kind(piece.unseen, piece.first_unseen, all.unseen, all.first_unseen);
}

/// Makes room for that many values in each column.
std::vector<View<double, 1>> make_columns(MapFile& map, std::int64_t n) {
    std::vector<View<double, 1>> views;
    for (auto& column : map.columns) {
        column.values.reserve(static_cast<std::size_t>(n));
        advise_huge_pages(column.values.data(), column.values.capacity() * sizeof(double));
        column.values.resize(static_cast<std::size_t>(n));
        views.emplace_back(column.values.data(), std::array{n});
    }
    return views;
}

}  // namespace

void read_pixels(FitsReader& reader, const Hdu& hdu, const std::vector<int>& columns,
                 const std::vector<PixelRange>& elements, MapFile& map, SkyRows* rows, int threads) {
    std::int64_t n = 0;
    for (const auto& range : elements) n += range.end - range.first;
    const auto to = rows != nullptr ? rows->rows : make_columns(map, n);
    std::vector<BadValue> bad_values;
    for (const auto& column : map.columns) bad_values.push_back(bad_value(hdu, column));
    const auto* healpix = std::get_if<HealpixPixels>(&map.pixelization);
    const bool is_nest = healpix != nullptr && healpix->ordering == healpix::Order::nest;
    if (rows != nullptr) rows->bad.assign(columns.size(), {});
    std::mutex mutex;
    const auto check = [&](std::size_t i, View<double, 1> values, std::int64_t place) {
        const auto bad = count_bad_pixels<double>(values);
        if (bad.nan > 0 && rows->nan_is_unseen) mark_unseen({.nan = true}, values.data(), values.size());
        const std::lock_guard lock(mutex);
        add(bad, place, rows->bad[i]);
    };
    reader.read_pieces(
        hdu, columns, elements, unseen_value,
        [&](std::int64_t place, View<double, 2> piece) {
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const auto values = piece[static_cast<std::int64_t>(i)];
                mark_unseen(bad_values[i], values.data(), values.size());
                if (rows != nullptr) check(i, values, place);
            }
            if (rows != nullptr && is_nest) return scatter_to_rings(healpix->nside, place, piece, to);
            for (std::size_t i = 0; i < columns.size(); ++i)
                std::copy_n(piece[static_cast<std::int64_t>(i)].data(), piece.extent(1),
                            to[i].data() + place);
        },
        threads);
}

}  // namespace zonal::io
