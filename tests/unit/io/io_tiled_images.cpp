// Images that are packed in tiles, put together by hand; tests/cli/test_tiled_images.py compares with
// astropy.
#include <gmock/gmock.h>

#include <cmath>
#include <optional>

#include "io/fits/fits_reader.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::bytes_of;
using test::FitsBuilder;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(RiceCoding, IsUndone) {
    // The first value; then k = 1 and the differences 0, 2, -1, -3 as codes 0, 4, 1, 5; then a block of equal
    // values.
    const auto packed = bytes_of("0000000000000101 0010 1 0 001 0 1 1 001 1 0000");
    EXPECT_THAT(undo_rice(packed, 7, 2, 4), ElementsAre(5, 7, 6, 3, 3, 3, 3));
    // Plain numbers: k = 6 of one byte, which wraps round.
    EXPECT_THAT(undo_rice(bytes_of("00000001 111 00000011 00000000"), 2, 1, 32), ElementsAre(255, 255));
}

TEST(RiceCoding, OfDamagedBytesIsRefused) {
    for (const char* digits :
         {"", "00000001", "0000000000000001 0001", "0000000000000001 0010 0000000000000"})
        EXPECT_THAT(message_of<InvalidArgument>([&] { undo_rice(bytes_of(digits), 90, 2, 32); }),
                    HasSubstr("ends early"))
            << digits;
    EXPECT_THAT(
        message_of<InvalidArgument>([&] { undo_rice(bytes_of("0000000000000001 1111 1111"), 9, 2, 32); }),
        HasSubstr("ends early"));
    EXPECT_THAT(message_of<InvalidArgument>([&] { undo_rice(std::string(4, 0) + "\xff\xff", 9, 4, 32); }),
                HasSubstr("an invalid Rice code"));
}

using Axes = std::vector<std::int64_t>;

/// A short list of PLIO: a header, then these words.
std::string plio(const std::vector<std::int16_t>& words) {
    const auto length = static_cast<std::int16_t>(3 + words.size());
    return test::big_endian(std::vector<std::int16_t>{0, 0, length}) + test::big_endian(words);
}

TEST(Plio, IsUndone) {
    // Two zeros; three ones; the value 1 + 4 at the end of four; the same less 2, once; the value 2 * 2^12 +
    // 3, twice; zeros.
    EXPECT_THAT(undo_plio(plio({0x0002, 0x4003, 0x2004, 0x5004, 0x7002, 0x1003, 0x0002, 0x4002}), 14),
                ElementsAre(0, 0, 1, 1, 1, 0, 0, 0, 5, 3, 8195, 8195, 0, 0));
    // A long list, whose length is in two words behind that of the header.
    const auto words = test::big_endian(std::vector<std::int16_t>{0, 7, -100, 9, 0, 0, 0, 0x2001, 0x6001});
    EXPECT_THAT(undo_plio(words, 2), ElementsAre(3, 0));
}

TEST(Plio, OfDamagedBytesIsRefused) {
    const auto reason = [](const std::string& packed) {
        return message_of<InvalidArgument>([&] { undo_plio(packed, 5); });
    };
    for (const auto& packed : {std::string(), std::string("\0\0\0\0\0", 5), plio({0x4002, 0x1001}),
                               test::big_endian(std::vector<std::int16_t>{0, -4, -100, 9, 0, 0, 0})})
        EXPECT_THAT(reason(packed), HasSubstr("ends early"));
    EXPECT_THAT(reason(plio({0x4003, 0x0003})), HasSubstr("more pixels than fit"));
    EXPECT_THAT(reason(plio({-1})), HasSubstr("an invalid code of PLIO"));
}

std::int64_t size_of(const Axes& axes) {
    std::int64_t size = 1;
    for (const auto length : axes) size *= length;
    return size;
}

/// Pixels of each tile, by their numbers in the image: tile after tile, and within it row after row.
std::vector<std::vector<std::int64_t>> tiles_of(const Axes& axes, const Axes& tile) {
    const auto place = [&](std::int64_t pixel, bool in_tile) {
        std::int64_t place = 0, stride = 1;
        for (std::size_t axis = 0; axis < axes.size(); ++axis, pixel /= axes[axis - 1]) {
            place += pixel % axes[axis] / tile[axis] * stride;
            if (in_tile) place = 0;
            stride *= (axes[axis] + tile[axis] - 1) / tile[axis];
        }
        return place;
    };
    std::vector<std::vector<std::int64_t>> tiles;
    for (std::int64_t pixel = 0; pixel < size_of(axes); ++pixel) {
        const auto number = static_cast<std::size_t>(place(pixel, false));
        if (number >= tiles.size()) tiles.resize(number + 1);
        tiles[number].push_back(pixel);
    }
    return tiles;
}

/// A zlib stream that stores the bytes as they are (RFC 1950 and 1951).
std::string stored_stream(const std::string& bytes) {
    std::uint32_t a = 1, b = 0;
    for (const char byte : bytes) a = (a + static_cast<unsigned char>(byte)) % 65521, b = (b + a) % 65521;
    const auto n = static_cast<std::uint16_t>(bytes.size());
    std::string stream = "\x78\x01\x01";
    for (const auto number : {n, static_cast<std::uint16_t>(~n)})
        stream += {static_cast<char>(number & 0xff), static_cast<char>(number >> 8)};
    return stream + bytes + big_endian(b << 16 | a);
}

/// Rice coding in which every difference stands in full.
std::string rice(const std::vector<std::int64_t>& values, int bytes, std::int64_t block) {
    const int width = 8 * bytes,
              code_bits = bytes == 1   ? 3
                          : bytes == 2 ? 4
                                       : 5,
              full = bytes == 1   ? 7
                     : bytes == 2 ? 15
                                  : 26;
    std::string digits;
    const auto add = [&](std::int64_t number, int n) {
        for (int bit = n - 1; bit >= 0; --bit) digits += (number >> bit & 1) != 0 ? '1' : '0';
    };
    add(values[0], width);
    auto last = values[0];
    for (std::size_t i = 0; i < values.size(); last = values[i++]) {
        if (static_cast<std::int64_t>(i) % block == 0) add(full, code_bits);
        auto difference = values[i] - last;  // which wraps round
        if (difference >= std::int64_t{1} << (width - 1)) difference -= std::int64_t{1} << width;
        if (difference < -(std::int64_t{1} << (width - 1))) difference += std::int64_t{1} << width;
        add(difference >= 0 ? 2 * difference : -2 * difference - 1, width);
    }
    return bytes_of(digits);
}

struct Column {
    std::string name, format;
    std::vector<std::string> cells;
};

struct Image {
    Axes axes{7, 5, 4}, tile{3, 2, 3};
    int bitpix = 16;
    std::string method = "NOCOMPRESS";
    std::vector<std::pair<std::string, std::string>> cards{};
    std::vector<Column> more{};

    std::vector<std::vector<std::int64_t>> tiles() const { return tiles_of(axes, tile); }

    /// packed: the bytes of each tile.
    std::string bytes(const std::vector<std::string>& packed) const {
        std::string rows, heap;
        std::int64_t row_bytes = 8;
        for (std::size_t i = 0; i < packed.size(); ++i) {
            rows += big_endian(static_cast<std::int32_t>(packed[i].size()));
            rows += big_endian(static_cast<std::int32_t>(heap.size()));
            for (const auto& column : more) rows += column.cells[i];
            heap += packed[i];
        }
        for (const auto& column : more) row_bytes += std::ssize(column.cells[0]);
        FitsBuilder file;
        file.text("XTENSION", "BINTABLE").card("BITPIX", "8").card("NAXIS", "2").number("NAXIS1", row_bytes);
        file.number("NAXIS2", std::ssize(packed)).number("PCOUNT", std::ssize(heap)).card("GCOUNT", "1");
        file.number("TFIELDS", 1 + std::ssize(more)).text("TFORM1", "1PB").text("TTYPE1", "COMPRESSED_DATA");
        for (std::size_t i = 0; i < more.size(); ++i)
            file.text("TFORM" + std::to_string(i + 2), more[i].format)
                .text("TTYPE" + std::to_string(i + 2), more[i].name);
        file.card("ZIMAGE", "T").text("ZCMPTYPE", method).number("ZBITPIX", bitpix);
        file.number("ZNAXIS", std::ssize(axes));
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
            file.number("ZNAXIS" + std::to_string(axis + 1), axes[axis])
                .number("ZTILE" + std::to_string(axis + 1), tile[axis]);
        for (const auto& [key, value] : cards) file.card(key, value);
        return file.end().data(rows + heap).bytes();
    }
};

class TiledImages : public testing::Test {
  protected:
    std::vector<double> read(const std::string& bytes, std::int64_t first = 0,
                             std::optional<std::int64_t> count = {}) {
        FitsReader reader(folder.write("f", bytes));
        const auto& hdu = reader.select("1", "image", [](const Hdu&) { return true; });
        return reader.read_image(hdu, first, count.value_or(size_of(hdu.axes)), -99);
    }
    test::TemporaryFolder folder;
};

/// Value 3 pixel - 100 in each pixel, and what one reads of it.
std::vector<std::int16_t> values_of(const std::vector<std::int64_t>& tile) {
    std::vector<std::int16_t> values;
    for (const auto pixel : tile) values.push_back(static_cast<std::int16_t>(3 * pixel - 100));
    return values;
}

TEST_F(TiledImages, OfAnyTilesHaveTheirPixelsInPlace) {
    for (const auto& [axes, tile] : {std::pair<Axes, Axes>{{7, 5, 4}, {3, 2, 3}},
                                     {{7, 5, 4}, {2, 5, 1}},
                                     {{3, 4, 2, 5}, {2, 3, 2, 4}},
                                     {{6, 5}, {6, 1}},
                                     {{5, 9}, {2, 20}},
                                     {{11}, {4}}}) {
        const Image image{
            .axes = axes, .tile = tile, .cards = {{"BSCALE", "0.5"}, {"BZERO", "7"}, {"BLANK", "-70"}}};
        std::vector<std::string> packed;
        for (const auto& pixels : image.tiles()) packed.push_back(big_endian(values_of(pixels)));
        const auto bytes = image.bytes(packed);
        const auto n = size_of(axes);
        for (const auto& [first, end] :
             {std::pair<std::int64_t, std::int64_t>{0, n}, {n / 3, n - 2}, {n / 2, n / 2 + 1}}) {
            const auto found = read(bytes, first, end - first);
            for (auto pixel = first; pixel < end; ++pixel)
                EXPECT_EQ(found[static_cast<std::size_t>(pixel - first)],
                          pixel == 10 ? -99 : 0.5 * static_cast<double>(3 * pixel - 100) + 7)
                    << pixel;
        }
    }
}

TEST_F(TiledImages, AreUnpackedByEveryMethod) {
    std::vector<double> expected;
    Image image;
    for (std::int64_t pixel = 0; pixel < 140; ++pixel)
        expected.push_back(static_cast<double>(3 * pixel - 100));
    const auto packed_by = [&](const auto& pack) {
        std::vector<std::string> packed;
        for (const auto& pixels : image.tiles()) packed.push_back(pack(values_of(pixels)));
        return packed;
    };
    using Values = std::vector<std::int16_t>;
    image.method = "GZIP_1";
    EXPECT_EQ(read(image.bytes(packed_by([](const Values& v) { return stored_stream(big_endian(v)); }))),
              expected);
    image.method = "GZIP_2";
    EXPECT_EQ(read(image.bytes(packed_by([](const Values& v) {
                  std::string high, low;
                  for (const auto value : v)
                      high += static_cast<char>(value >> 8), low += static_cast<char>(value);
                  return stored_stream(high + low);
              }))),
              expected);
    image.method = "RICE_1";
    for (const auto& [bytes, block] : {std::pair{2, 32}, {4, 32}, {4, 5}}) {
        image.cards = {{"ZNAME1", "'BLOCKSIZE'"},
                       {"ZVAL1", std::to_string(block)},
                       {"ZNAME2", "'BYTEPIX'"},
                       {"ZVAL2", std::to_string(bytes)}};
        EXPECT_EQ(read(image.bytes(packed_by([&, b = bytes, n = block](const Values& v) {
                      return rice({v.begin(), v.end()}, b, n);
                  }))),
                  expected)
            << bytes << ' ' << block;
    }
    image.bitpix = 8;
    image.cards = {{"ZNAME1", "'BYTEPIX'"}, {"ZVAL1", "1"}};
    const auto found = read(image.bytes(packed_by([](const Values& v) {
        std::vector<std::int64_t> bytes;
        for (const auto value : v) bytes.push_back((value + 100) / 3 % 100);
        return rice(bytes, 1, 32);
    })));
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], static_cast<double>(i % 100));
    for (const char* bytes : {"0", "3", "5", "8"}) {
        image.cards[1].second = bytes;
        EXPECT_THAT(
            message_of<IoError>([&] { read(image.bytes(std::vector<std::string>(image.tiles().size()))); }),
            HasSubstr(std::string(bytes) == "3" ? "BYTEPIX = 3: must be 1, 2 or 4" : "must be from 1 to 4"))
            << bytes;
    }
}

/// The random numbers of the FITS standard, appendix I, and how a tile goes through them.
double dither(std::int64_t seed, std::int64_t tile, std::int64_t k) {
    const auto random = [](std::int64_t i) {
        double value = 1;
        for (; i >= 0; --i) value = std::fmod(16807 * value, 2147483647);
        return static_cast<float>(value / 2147483647);
    };
    return random(static_cast<std::int64_t>(random((tile + seed - 1) % 10000) * 500) + k);
}

TEST_F(TiledImages, OfQuantisedFloatsAreScaledTileByTile) {
    constexpr std::int32_t blank = -2147483647, zero = -2147483646;
    Image image{.axes = {5, 4}, .tile = {5, 2}, .bitpix = -32, .method = "RICE_1"};
    image.more = {{"ZSCALE", "1D", {big_endian(0.5), big_endian(0.25)}},
                  {"ZZERO", "1D", {big_endian(3.0), big_endian(-8.0)}},
                  {"ZBLANK", "1J", {big_endian(blank), big_endian(blank)}}};
    const auto packed = [&](bool is_rice) {
        std::vector<std::string> tiles;
        for (const auto& pixels : image.tiles()) {
            std::vector<std::int32_t> values;
            for (const auto pixel : pixels)
                values.push_back(pixel == 7    ? blank
                                 : pixel == 13 ? zero
                                               : static_cast<std::int32_t>(pixel * pixel - 50));
            if (is_rice)
                tiles.push_back(rice({values.begin(), values.end()}, 4, 32));
            else
                tiles.push_back(stored_stream(big_endian(values)));
        }
        return tiles;
    };
    for (const auto& [method, rule, seed] : {std::tuple{"RICE_1", "'NO_DITHER'", 0},
                                             {"GZIP_1", "'NO_DITHER'", 0},
                                             {"RICE_1", "'SUBTRACTIVE_DITHER_1'", 1},
                                             {"RICE_1", "'SUBTRACTIVE_DITHER_1'", 77},
                                             {"GZIP_1", "'SUBTRACTIVE_DITHER_2'", 10000}}) {
        image.method = method;
        image.cards = {{"ZQUANTIZ", rule}, {"ZDITHER0", std::to_string(std::max(1, seed))}};
        const auto found = read(image.bytes(packed(image.method == "RICE_1")));
        for (std::int64_t pixel = 0; pixel < 20; ++pixel) {
            const bool below = pixel >= 10;
            const double value = found[static_cast<std::size_t>(pixel)];
            const double stored = pixel == 13 ? zero : static_cast<double>(pixel * pixel - 50);
            const double shift = seed > 0 ? 0.5 - dither(seed, below ? 1 : 0, pixel % 10) : 0;
            if (pixel == 7) {
                EXPECT_TRUE(std::isnan(value));
            } else if (pixel == 13 && seed == 10000)
                EXPECT_EQ(value, 0);
            else
                EXPECT_EQ(value, below ? (stored + shift) * 0.25 - 8 : (stored + shift) * 0.5 + 3) << pixel;
        }
    }
}

TEST_F(TiledImages, ThatAreDamagedAreRefused) {
    Image image{.axes = {4, 2}, .tile = {4, 1}};
    const std::string tile = big_endian(std::vector<std::int16_t>{1, 2, 3, 4});
    EXPECT_NO_THROW(read(image.bytes({tile, tile})));
    EXPECT_THAT(message_of<IoError>([&] {
                    read(image.bytes({tile, tile.substr(1)}));
                }),
                HasSubstr("the data of tile 2 does not have the tile's size"));
    EXPECT_THAT(message_of<IoError>([&] { read(image.bytes({tile})); }),
                HasSubstr("NAXIS2 = 1: must be 2, one for each tile"));
    auto bytes = image.bytes({tile, tile});
    const auto row = bytes.find(big_endian(std::int32_t{8}) + big_endian(std::int32_t{8}));
    for (const auto& [n, at] : {std::pair{9, 8}, {8, 9}, {-1, 0}, {8, -8}}) {
        bytes.replace(row, 8,
                      big_endian(static_cast<std::int32_t>(n)) + big_endian(static_cast<std::int32_t>(at)));
        EXPECT_THAT(message_of<IoError>([&] { read(bytes); }), HasSubstr("a tile lies outside the heap"))
            << n;
    }
    image.method = "GZIP_1";
    EXPECT_THAT(message_of<IoError>([&] {
                    read(image.bytes({stored_stream(tile), stored_stream(tile.substr(2))}));
                }),
                HasSubstr("a tile packed by gzip is damaged"));
    image.bitpix = 24;
    EXPECT_THAT(message_of<IoError>([&] {
                    read(image.bytes({tile, tile}));
                }),
                HasSubstr("ZBITPIX = 24: must be 8"));
}

}  // namespace
}  // namespace zonal::io
