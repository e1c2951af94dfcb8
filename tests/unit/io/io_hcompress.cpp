// Tiles packed by HCOMPRESS, put together by hand; tests/cli/test_tiled_images.py compares with astropy.
#include <gmock/gmock.h>

#include "io/fits/fits_reader.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::bytes_of;
using test::message_of;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// The begin of a tile by HCOMPRESS.
std::string hcompress(std::int32_t nx, std::int32_t ny, std::int64_t sum, const std::string& planes) {
    return "\xdd\x99" + test::big_endian(nx) + test::big_endian(ny) + test::big_endian(1) +
           test::big_endian(sum) + planes;
}

TEST(Hcompress, IsUndone) {
    // The sum of four equal pixels, and a pixel.
    EXPECT_THAT(undo_hcompress(hcompress(2, 2, 20, std::string(3, '\0')) + '\0', 4), ElementsAre(5, 5, 5, 5));
    EXPECT_THAT(undo_hcompress(hcompress(1, 1, 7, std::string(3, '\0')) + '\0', 1), ElementsAre(7));
    // Differences of 6 to the right, 4 down and 2 crosswise, each a quadrant of one element with planes of
    // their own: bits 110, 100 and 10 as trees (1111, then the code of 8 or 0); then a nybble of 0, and
    // signs, + and one -.
    const std::string one = "1111 011", none = "1111 111110";
    const auto packed = bytes_of(one + one + none + one + none + none + one + none + "0000");
    EXPECT_THAT(undo_hcompress(hcompress(2, 2, 20, std::string("\0\3\2", 3)) + packed + bytes_of("010"), 4),
                ElementsAre(5, 7, 2, 6));
}

TEST(Hcompress, OfTilesOfAnySidesIsUndone) {
    // A tile of equal pixels, which a level doubles for its sums of four; the last one divides by 4.
    for (const auto& [nx, ny, levels] :
         std::vector<std::tuple<int, int, int>>{{1, 5, 3}, {5, 1, 3}, {3, 4, 2}, {4, 7, 3}, {9, 6, 4}}) {
        const auto packed = hcompress(nx, ny, std::int64_t{-7} << (levels + 1), std::string(3, '\0')) + '\0';
        EXPECT_THAT(undo_hcompress(packed, nx * ny), AllOf(SizeIs(nx * ny), Each(-7))) << nx << ' ' << ny;
    }
}

TEST(Hcompress, OfTwoLevelsIsUndone) {
    // The four values above, each of four pixels, have twice their sum and differences, in the quadrant that
    // the sum begins: the bits of 12 to the right, 8 down and 4 crosswise, plane by plane as they are; signs.
    const auto packed = bytes_of("0000 0110 0000 0101 0000 0000 0000 0000 0000") + bytes_of("010");
    EXPECT_THAT(undo_hcompress(hcompress(4, 4, 40, std::string("\4\0\0", 3)) + packed, 16),
                ElementsAre(5, 5, 7, 7, 5, 5, 7, 7, 2, 2, 6, 6, 2, 2, 6, 6));
}

TEST(Hcompress, OfDamagedBytesIsRefused) {
    const auto reason = [](const std::string& packed) {
        return message_of<InvalidArgument>([&] { undo_hcompress(packed, 4); });
    };
    const std::string no_planes(3, '\0');
    EXPECT_THAT(reason(""), HasSubstr("ends early"));
    EXPECT_THAT(reason(hcompress(2, 2, 1, no_planes)), HasSubstr("ends early"));
    EXPECT_THAT(reason("xx" + hcompress(2, 2, 1, no_planes)), HasSubstr("does not begin as HCOMPRESS"));
    for (const auto& [nx, ny] :
         std::vector<std::pair<std::int32_t, std::int32_t>>{{2, 3}, {-2, -2}, {0, 4}, {1 << 30, 1 << 30}})
        EXPECT_THAT(reason(hcompress(nx, ny, 1, no_planes)), HasSubstr("a tile of 4 pixels holds"));
    EXPECT_THAT(reason(hcompress(2, 2, 1, std::string("\0\77\0", 3))), HasSubstr("numbers of 63 bits"));
    EXPECT_THAT(reason(hcompress(2, 2, 1, std::string("\1\0\0", 3)) + '\x10'), HasSubstr("invalid plane"));
    // Sums beyond 64 bits wrap round.
    undo_hcompress(hcompress(2, 2, INT64_MIN, no_planes) + '\0', 4);
}

}  // namespace
}  // namespace zonal::io
