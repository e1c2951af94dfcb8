// How columns of floats are cut into pieces and read; tests/python/test_io.py reads whole files of healpy's.
#include "io/fits/float_columns.hpp"

#include <gmock/gmock.h>

#include "unit/io/io_helpers.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using testing::ElementsAre;

TEST(FloatColumns, AreCutAtTheEndsOfRowsIntoPiecesThatFollowEachOther) {
    const std::vector<PixelRange> elements{{5, 40'000}, {7, 7}, {100'000, 130'001}};
    for (const std::int64_t repeat : {1, 3, 1024, 20'000, 200'000})
        for (const std::int64_t most_rows : {1, 5, 1'000'000})
            for (const std::int64_t n_columns : {1, 3, 900}) {
                const auto pieces = cut_columns(elements, repeat, most_rows, n_columns);
                std::int64_t place = 0, next = elements[0].first;
                for (const auto& piece : pieces) {
                    if (next == elements[0].end) next = elements[2].first;
                    ASSERT_EQ(piece.first, next);
                    ASSERT_EQ(piece.place, place);
                    const auto n = piece.end - piece.first;
                    ASSERT_GT(n, 0);
                    ASSERT_LE(n, 1 << 14);
                    const auto rows = (piece.end - 1) / repeat - piece.first / repeat + 1;
                    ASSERT_LE(rows, most_rows);
                    const bool ends = piece.end % repeat == 0 || piece.end == elements[0].end ||
                                      piece.end == elements[2].end;
                    ASSERT_TRUE(rows == 1 || ends) << piece.first << " " << piece.end;
                    next = piece.end;
                    place += n;
                }
                EXPECT_EQ(next, elements[2].end);
                EXPECT_EQ(place, 39'995 + 30'001);
            }
    // Nest pixels of a square come together.
    for (const auto& piece : cut_columns({{0, 1 << 20}}, 1024, 1'000'000, 3))
        EXPECT_EQ(piece.end - piece.first, 1 << 14);
}

/// Rows of a byte, three floats and two doubles.
TEST(FloatColumns, AreDecodedFromWithinTheirRows) {
    std::string rows;
    for (int row = 0; row < 3; ++row)
        rows += "x" + big_endian(std::vector<float>{10.F * row, 10.F * row + 1, 10.F * row + 2}) +
                big_endian(std::vector<double>{row + 0.1, row + 0.2});
    std::vector<double> values(6);
    decode_floats(rows.data(), {29, 1, 3, 2, false}, 6, values.data());
    EXPECT_THAT(values, ElementsAre(2, 10, 11, 12, 20, 21));
    values.resize(3);
    decode_floats(rows.data(), {29, 13, 2, 1, true}, 3, values.data());
    EXPECT_THAT(values, ElementsAre(0.2, 1.1, 1.2));
    decode_floats(rows.data(), {29, 5, 1, 0, false}, 3, values.data());
    EXPECT_THAT(values, ElementsAre(1, 11, 21));
    decode_floats(rows.data(), {29, 13, 1, 0, true}, 3, values.data());
    EXPECT_THAT(values, ElementsAre(0.1, 1.1, 2.1));
}

}  // namespace
}  // namespace zonal::io
