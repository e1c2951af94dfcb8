// Images and columns that are read in several pieces.
#include <gtest/gtest.h>

#include <cstdint>

#include "io/fits/fits_reader.hpp"
#include "unit/io/io_helpers.hpp"

namespace zonal::io {
namespace {

using test::FitsBuilder;
using Integers = std::vector<std::int64_t>;

/// More than a piece of core::for_pieces, 2^18.
constexpr std::int64_t n = 270'000;

/// A number below 2^15 for each.
Integers stored() {
    Integers numbers(n);
    for (std::int64_t i = 0; i < n; ++i) numbers[static_cast<std::size_t>(i)] = i * 7 % 20011;
    return numbers;
}

std::string two_bytes_each(const Integers& numbers) {
    std::string bytes(2 * numbers.size(), '\0');
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        bytes[2 * i] = static_cast<char>(numbers[i] >> 8);
        bytes[2 * i + 1] = static_cast<char>(numbers[i]);
    }
    return bytes;
}

TEST(Pieces, OfAnImageAreReadOneAfterTheOther) {
    const test::TemporaryFolder folder;
    const auto numbers = stored();
    auto file = FitsBuilder::bare().card("SIMPLE", "T").card("BITPIX", "16").card("NAXIS", "2");
    file.number("NAXIS1", 1000).number("NAXIS2", n / 1000).card("BLANK", "14").card("BZERO", "0.5");
    FitsReader reader(folder.write("f", file.end().data(two_bytes_each(numbers)).bytes()));
    std::vector<double> expected(numbers.begin() + 5000, numbers.end() - 10);
    for (double& value : expected) value = value == 14 ? -1 : value + 0.5;
    EXPECT_TRUE(reader.read_image(reader.hdus()[0], 5000, n - 5010, -1) == expected);
}

TEST(Pieces, OfAColumnAreReadOneAfterTheOther) {
    const test::TemporaryFolder folder;
    const auto numbers = stored();
    for (const std::int64_t repeat : {1, 3}) {
        auto file = FitsBuilder().table(2 * repeat, n / repeat, {std::to_string(repeat) + "I"}, {"N"});
        FitsReader reader(folder.write("f", file.end().data(two_bytes_each(numbers)).bytes()));
        const auto& hdu = reader.hdus()[1];
        const PixelRange range{4001, n - 1};
        const Integers some(numbers.begin() + range.first, numbers.begin() + range.end);
        EXPECT_TRUE(reader.read_integers(hdu, 0) == numbers) << repeat;
        EXPECT_TRUE(reader.read_integers(hdu, 0, range) == some) << repeat;
        std::vector<double> expected(numbers.begin() + 7, numbers.begin() + 9);
        expected.insert(expected.end(), some.begin(), some.end());
        expected.push_back(static_cast<double>(numbers[0]));
        EXPECT_TRUE(reader.read_columns(hdu, {0}, {{7, 9}, range, {0, 1}}, -1)[0] == expected) << repeat;
    }
}

}  // namespace
}  // namespace zonal::io
