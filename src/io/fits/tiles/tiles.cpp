#include "io/fits/tiles/tiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "io/fits/checked_values.hpp"
#include "io/fits/fits_scan.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

constexpr std::int64_t most_pixels = std::int64_t{1} << 28;  // of a tile: 8 GiB while it is unpacked
// HCOMPRESS goes through all pixels of a tile up to 62 times: ten seconds.
constexpr std::int64_t most_hcompress_pixels = std::int64_t{1} << 26;

TiledImage::Method method_of(const FitsHeader& header) {
    const std::string name = to_upper(header.text("ZCMPTYPE").value_or(""));
    if (name == "RICE_1" || name == "RICE_ONE") return TiledImage::Method::rice;
    if (name == "GZIP_1") return TiledImage::Method::gzip;
    if (name == "GZIP_2") return TiledImage::Method::shuffled_gzip;
    if (name == "HCOMPRESS_1") return TiledImage::Method::hcompress;
    if (name == "PLIO_1") return TiledImage::Method::plio;
    if (name == "NOCOMPRESS") return TiledImage::Method::none;
    throw InvalidArgument(fmt::format(
        "is tile-compressed by ZCMPTYPE = '{}', which is not read: unpack the file first (funpack)", name));
}

void find_columns(const std::vector<FitsColumn>& columns, TiledImage& image) {
    for (const auto& column : columns) {
        const std::int64_t offset = column.offset;
        const std::string name = to_upper(column.name);
        const bool descriptor = column.type == 'P' || column.type == 'Q';
        const auto letter = column.format.find_first_of("PQpq");
        const char element =
            descriptor && letter + 1 < column.format.size() ? to_upper(column.format)[letter + 1] : ' ';
        const std::int64_t bytes = element == 'B'                     ? 1
                                   : element == 'I'                   ? 2
                                   : element == 'D' || element == 'K' ? 8
                                                                      : 4;
        const TiledImage::Descriptors found{offset, column.type == 'Q', bytes};
        if (descriptor && column.repeat == 1 && name == "COMPRESSED_DATA") image.packed = found;
        if (descriptor && column.repeat == 1 && name == "GZIP_COMPRESSED_DATA") image.gzipped = found;
        if (descriptor && column.repeat == 1 && name == "UNCOMPRESSED_DATA") image.raw = found;
        if (name == "ZSCALE") image.scale_offset = offset;
        if (name == "ZZERO") image.zero_offset = offset;
        if (name == "ZBLANK") image.blank_offset = offset;
        const char number = name == "ZBLANK" ? 'J' : 'D';
        if ((name == "ZSCALE" || name == "ZZERO" || name == "ZBLANK") &&
            (column.type != number || column.repeat != 1))
            throw InvalidArgument(
                fmt::format("is tile-compressed with a column {} of format '{}': must be 1{}", name,
                            column.format, number));
        if (name == "NULL_PIXEL_MASK")
            throw InvalidArgument(
                "is tile-compressed with a mask of pixels, which is not read: unpack the file first "
                "(funpack)");
    }
    if (image.packed.offset < 0)
        throw InvalidArgument("is tile-compressed, but has no column COMPRESSED_DATA");
}

void find_parameters(const FitsHeader& header, TiledImage& image) {
    for (int i = 1; header.has(fmt::format("ZNAME{}", i)); ++i) {
        const std::string name = to_upper(header.text(fmt::format("ZNAME{}", i)).value_or(""));
        const auto key = fmt::format("ZVAL{}", i);
        if (name == "BLOCKSIZE") image.rice_block = required(header, key, 1, 1 << 20);
        if (name == "SMOOTH" && required(header, key, 0, 1) == 1)
            throw InvalidArgument(
                "is tile-compressed by HCOMPRESS_1 with SMOOTH = 1, which asks readers to change the pixels: "
                "unpack the file first (funpack)");
        if (name == "BYTEPIX") image.rice_bytes = required(header, key, 1, 4);
    }
    if (image.rice_bytes == 3) throw InvalidArgument("BYTEPIX", 3, "must be 1, 2 or 4");
    const std::string quantised = to_upper(header.text("ZQUANTIZ").value_or(""));
    image.exact_zeros = quantised == "SUBTRACTIVE_DITHER_2";
    if (image.exact_zeros || quantised == "SUBTRACTIVE_DITHER_1")
        image.dither_seed =
            header.has("ZDITHER0") ? required(header, "ZDITHER0", 1, TiledImage::most_seeds) : 1;
    image.scale = header.number("ZSCALE");
    image.zero = header.number("ZZERO");
    image.blank = header.integer(header.has("ZBLANK") ? "ZBLANK" : "BLANK");
    image.bscale = header.number("BSCALE").value_or(1);
    image.bzero = header.number("BZERO").value_or(0);
    // PLIO has no negative integers: CFITSIO packs unsigned ones of 16 bits as they are, and writes BZERO all
    // the same.
    if (image.method == TiledImage::Method::plio && image.bitpix == 16 && image.bzero == 0x8000)
        image.bzero = 0;
}

}  // namespace

bool is_tiled(const FitsHeader& header) {
    return header.has("ZIMAGE") && header.text("ZIMAGE") != "F";
}

TiledImage read_tiled_layout(const FitsHeader& header, const std::vector<FitsColumn>& columns,
                             std::int64_t rows, std::int64_t row_bytes) {
    TiledImage image{.method = method_of(header), .rows = rows, .row_bytes = row_bytes};
    image.bitpix = required(header, "ZBITPIX", -64, 64);
    constexpr std::array<std::int64_t, 6> permitted{8, 16, 32, 64, -32, -64};
    if (std::find(permitted.begin(), permitted.end(), image.bitpix) == permitted.end())
        throw InvalidArgument("ZBITPIX", image.bitpix, "must be 8, 16, 32, 64, -32 or -64");
    const auto n_axes = required(header, "ZNAXIS", 1, 6);  // as CFITSIO
    std::int64_t pixels = 1, tiles = 1, tile_pixels = 1;
    for (std::int64_t axis = 1; axis <= n_axes; ++axis) {
        const auto length =
            required(header, fmt::format("ZNAXIS{}", axis), 1, std::numeric_limits<std::int32_t>::max());
        const auto key = fmt::format("ZTILE{}", axis);
        const auto tile = header.has(key) ? required(header, key, 1, std::numeric_limits<std::int32_t>::max())
                          : axis == 1     ? length
                                          : 1;
        image.axes.push_back(length);
        image.tile_axes.push_back(std::min(tile, length));
        pixels = checked_multiply(pixels, length);
        tiles = checked_multiply(tiles, (length - 1) / image.tile_axes.back() + 1);
        tile_pixels = checked_multiply(tile_pixels, image.tile_axes.back());
    }
    if (tiles != rows)
        throw InvalidArgument("NAXIS2", rows, fmt::format("must be {}, one for each tile", tiles));
    const auto most = image.method == TiledImage::Method::hcompress ? most_hcompress_pixels : most_pixels;
    if (tile_pixels > most)
        throw InvalidArgument(fmt::format("tiles of {} pixels: must be of {} or fewer", tile_pixels, most));
    image.heap_start = optional_count(header, "THEAP", row_bytes * rows);
    image.heap_bytes = optional_count(header, "PCOUNT", 0) - (image.heap_start - row_bytes * rows);
    find_columns(columns, image);
    find_parameters(header, image);
    return image;
}

}  // namespace zonal::io
