// Pixels of images that are packed in tiles.
#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "core/interruption.hpp"
#include "io/fits/tiles/tiles.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal::io {
namespace {

constexpr auto n_random = static_cast<std::size_t>(TiledImage::most_seeds);

std::uint64_t big_endian(const std::string& bytes, std::int64_t at, std::int64_t n) {
    std::uint64_t value = 0;
    for (std::int64_t i = at; i < at + n; ++i)
        value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    return value;
}

/// The random numbers of the FITS standard, appendix I (Park & Miller 1988).
const std::vector<float>& random_numbers() {
    static const std::vector<float> numbers = [] {
        std::vector<float> made;
        made.reserve(n_random);
        std::int64_t seed = 1;
        constexpr std::int64_t modulus = 2147483647;
        for (std::size_t i = 0; i < n_random; ++i) {
            seed = seed * 16807 % modulus;
            made.push_back(static_cast<float>(static_cast<double>(seed) / static_cast<double>(modulus)));
        }
        return made;
    }();
    return numbers;
}

/// What dithering subtracts from the integers of a tile, one after the other.
class Dither {
  public:
    Dither(std::int64_t seed, std::int64_t row)
        : start_(static_cast<std::size_t>((row + seed - 1) % static_cast<std::int64_t>(n_random))) {
        begin();
    }
    double next() {
        const double value = random_numbers()[at_];
        if (++at_ == n_random) {
            start_ = (start_ + 1) % n_random;
            begin();
        }
        return value;
    }

  private:
    void begin() { at_ = static_cast<std::size_t>(random_numbers()[start_] * 500); }
    std::size_t start_, at_ = 0;
};

/// The first `size` bytes that a gzip or zlib stream stands for, as CFITSIO takes them; throws for fewer.
std::string inflated(std::string packed, std::int64_t size) {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    z_stream stream{};
    constexpr int either_kind = 15 + 32;
    if (inflateInit2(&stream, either_kind) != Z_OK) throw std::bad_alloc();
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int status = inflate(&stream, Z_FINISH);
    const bool all =
        stream.avail_out == 0 && (status == Z_STREAM_END || status == Z_BUF_ERROR || status == Z_OK);
    inflateEnd(&stream);
    if (!all) throw InvalidArgument("a tile packed by gzip is damaged");
    return bytes;
}

/// The first bytes of all numbers stand together, then the second ones, and so on.
std::string unshuffled(const std::string& bytes, std::int64_t width) {
    const std::size_t w = static_cast<std::size_t>(width), n = bytes.size() / w;
    std::string plain(bytes.size(), '\0');
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t byte = 0; byte < w; ++byte) plain[i * w + byte] = bytes[byte * n + i];
    return plain;
}

class TileReader {
  public:
    TileReader(const FileBytes& file, const TiledImage& image, double null)
        : file_(file), image_(image), null_(null) {}

    std::vector<double> read(std::int64_t row, std::int64_t n) const {
        const std::string cells = file_.read(image_.offset + row * image_.row_bytes, image_.row_bytes);
        if (const auto packed = heap(cells, image_.packed); !packed.empty())
            return unpacked(cells, packed, row, n);
        const std::int64_t width = std::abs(image_.bitpix) / 8;
        if (const auto gzipped = heap(cells, image_.gzipped); !gzipped.empty())
            return stored(inflated(gzipped, n * width), n);
        const auto raw = heap(cells, image_.raw);
        if (static_cast<std::int64_t>(raw.size()) != n * width)
            throw InvalidArgument(fmt::format("the data of tile {} does not have the tile's size", row + 1));
        return stored(raw, n);
    }

  private:
    std::string heap(const std::string& cells, const TiledImage::Descriptors& column) const {
        if (column.offset < 0) return {};
        const std::int64_t width = column.wide ? 8 : 4;
        const auto elements = static_cast<std::int64_t>(big_endian(cells, column.offset, width));
        const auto at = static_cast<std::int64_t>(big_endian(cells, column.offset + width, width));
        if (elements < 0 || at < 0 || elements > image_.heap_bytes / column.bytes ||
            at > image_.heap_bytes - elements * column.bytes)
            throw InvalidArgument("a tile lies outside the heap of its table");
        return file_.read(image_.offset + image_.heap_start + at, elements * column.bytes);
    }

    /// Numbers as the image would have them in a file without tiles.
    std::vector<double> stored(const std::string& bytes, std::int64_t n) const {
        const std::int64_t width = std::abs(image_.bitpix) / 8;
        std::vector<double> values(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i) {
            const std::uint64_t bits = big_endian(bytes, i * width, width);
            values[static_cast<std::size_t>(i)] =
                image_.bitpix == -32   ? scaled(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                : image_.bitpix == -64 ? scaled(std::bit_cast<double>(bits))
                                       : of_integer(signed_number(bits, width));
        }
        return values;
    }

    double scaled(double value) const { return image_.bscale * value + image_.bzero; }
    double of_integer(std::int64_t value) const {
        return image_.blank && value == *image_.blank ? null_ : scaled(static_cast<double>(value));
    }

    double cell(const std::string& cells, std::int64_t offset, const std::optional<double>& of_all) const {
        return offset < 0 ? of_all.value_or(0) : std::bit_cast<double>(big_endian(cells, offset, 8));
    }

    std::vector<double> unpacked(const std::string& cells, const std::string& packed, std::int64_t row,
                                 std::int64_t n) const {
        using Method = TiledImage::Method;
        const bool quantised = image_.bitpix < 0 && (image_.scale_offset >= 0 || image_.scale);
        const std::int64_t width = quantised ? 4 : std::abs(image_.bitpix) / 8;
        std::vector<std::int64_t> integers;
        if (image_.holds_integers()) {
            if (image_.bitpix < 0 && !quantised)
                throw InvalidArgument("has floats packed as integers without ZSCALE");
            integers = image_.method == Method::rice
                           ? undo_rice(packed, n, image_.rice_bytes, image_.rice_block)
                       : image_.method == Method::plio ? undo_plio(packed, n)
                                                       : undo_hcompress(packed, n);
        } else {
            std::string bytes = image_.method == Method::none ? packed : inflated(packed, n * width);
            if (static_cast<std::int64_t>(bytes.size()) != n * width)
                throw InvalidArgument(
                    fmt::format("the data of tile {} does not have the tile's size", row + 1));
            if (image_.method == Method::shuffled_gzip) bytes = unshuffled(bytes, width);
            if (!quantised) return stored(bytes, n);
            integers.reserve(static_cast<std::size_t>(n));
            for (std::int64_t i = 0; i < n; ++i)
                integers.push_back(signed_number(big_endian(bytes, i * width, width), width));
        }
        return quantised ? dequantised(cells, integers, row) : of_integers(integers);
    }

    std::vector<double> of_integers(const std::vector<std::int64_t>& integers) const {
        std::vector<double> values;
        values.reserve(integers.size());
        for (const auto value : integers) values.push_back(of_integer(value));
        return values;
    }

    std::vector<double> dequantised(const std::string& cells, const std::vector<std::int64_t>& integers,
                                    std::int64_t row) const {
        const double scale = cell(cells, image_.scale_offset, image_.scale);
        const double zero = cell(cells, image_.zero_offset, image_.zero);
        auto blank = image_.blank;
        if (image_.blank_offset >= 0) blank = signed_number(big_endian(cells, image_.blank_offset, 4), 4);
        constexpr std::int64_t stands_for_zero = -2147483646;
        Dither dither(std::max<std::int64_t>(1, image_.dither_seed), row);
        std::vector<double> values;
        values.reserve(integers.size());
        for (const auto value : integers) {
            const double shift = image_.dither_seed > 0 ? 0.5 - dither.next() : 0;
            const double plain = (static_cast<double>(value) + shift) * scale + zero;
            values.push_back(blank && value == *blank                         ? std::nan("")
                             : image_.exact_zeros && value == stands_for_zero ? scaled(0)
                                                                              : scaled(plain));
        }
        return values;
    }

    const FileBytes& file_;
    const TiledImage& image_;
    double null_;
};

}  // namespace

std::vector<double> read_tiles(const FileBytes& file, const TiledImage& image, std::int64_t first,
                               std::int64_t count, double null) {
    // A tile is unpacked as bytes, integers and doubles.
    constexpr double bytes_of_tile = 32;
    double tile_pixels = 1;
    for (const auto length : image.tile_axes) tile_pixels *= static_cast<double>(length);
    require_memory(
        static_cast<double>(count) * sizeof(double) + bytes_of_tile * tile_pixels,
        fmt::format("{}: an image of {} pixels, in tiles of {:.0f}", file.path(), count, tile_pixels));
    std::vector<double> values(static_cast<std::size_t>(count));
    const TileReader reader(file, image, null);
    const std::size_t n_axes = image.axes.size();
    std::vector<std::int64_t> start(n_axes), size(n_axes), stride(n_axes, 1);
    for (std::size_t axis = 1; axis < n_axes; ++axis) stride[axis] = stride[axis - 1] * image.axes[axis - 1];
    const core::InterruptionPoll poll;
    for (std::int64_t row = 0; row < image.rows; ++row) {
        poll();
        std::int64_t rest = row, n = 1, low = 0, high = 0;
        for (std::size_t axis = 0; axis < n_axes; ++axis) {
            const std::int64_t tiles = (image.axes[axis] - 1) / image.tile_axes[axis] + 1;
            start[axis] = rest % tiles * image.tile_axes[axis];
            rest /= tiles;
            size[axis] = std::min(image.tile_axes[axis], image.axes[axis] - start[axis]);
            n *= size[axis];
            low += start[axis] * stride[axis];
            high += (start[axis] + size[axis] - 1) * stride[axis];
        }
        if (high < first || low >= first + count) continue;
        const auto tile = reader.read(row, n);
        for (std::int64_t line = 0; line < n / size[0]; ++line) {
            std::int64_t to = start[0] - first, index = line;
            for (std::size_t axis = 1; axis < n_axes; ++axis) {
                to += (start[axis] + index % size[axis]) * stride[axis];
                index /= size[axis];
            }
            const std::int64_t begin = std::max<std::int64_t>(0, -to), end = std::min(size[0], count - to);
            for (std::int64_t i = begin; i < end; ++i)
                values[static_cast<std::size_t>(to + i)] = tile[static_cast<std::size_t>(line * size[0] + i)];
        }
    }
    return values;
}

}  // namespace zonal::io
