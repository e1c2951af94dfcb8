// Rice coding, by hand; tests/cli/test_tiled_images.py compares whole images with astropy.
#include "io/fits/tiles.hpp"

#include <gmock/gmock.h>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// Bytes of digits 0 and 1, filled up with 0; blanks are left out.
std::string bytes_of(std::string digits) {
    std::erase(digits, ' ');
    digits.resize((digits.size() + 7) / 8 * 8, '0');
    std::string bytes;
    for (std::size_t at = 0; at < digits.size(); at += 8)
        bytes.push_back(static_cast<char>(std::stoi(digits.substr(at, 8), nullptr, 2)));
    return bytes;
}

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

}  // namespace
}  // namespace zonal::io
