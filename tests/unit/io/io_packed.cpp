// Packing and unpacking go by pieces of 1 MiB: files that end where a piece does, and beside it.
#include <gmock/gmock.h>

#include <random>

#include "io/fits/file_bytes.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::io {

void gzip(const FileBytes& raw, AtomicFile& packed);

namespace {

constexpr std::int64_t piece = std::int64_t{1} << 20;
constexpr std::int64_t sizes[] = {1, piece - 1, piece, piece + 1, 2 * piece, 3 * piece - 7};

/// Zeros, or what cannot be packed, behind the start of a FITS file.
std::string bytes_of(std::int64_t size, bool is_random) {
    std::string bytes = "SIMPLE  =";
    bytes.resize(static_cast<std::size_t>(size), '\0');
    std::mt19937 random(5);
    for (std::size_t i = 9; i < bytes.size() && is_random; ++i) bytes[i] = static_cast<char>(random());
    return bytes;
}

TEST(PackedFiles, ComeBackWhateverTheirSize) {
    const test::TemporaryFolder folder;
    for (const auto size : sizes)
        for (const bool is_random : {false, true}) {
            const auto bytes = bytes_of(size, is_random);
            const FileBytes raw(folder.write("raw", bytes));
            AtomicFile packed(folder.path("packed.gz"), true);
            gzip(raw, packed);
            packed.commit();
            const FileBytes back(folder.path("packed.gz"));
            EXPECT_TRUE(back.in_memory());
            ASSERT_EQ(back.size(), size) << is_random;
            EXPECT_TRUE(back.read(0, size + 1) == bytes) << size << ' ' << is_random;
        }
}

std::string from_hex(const std::string& digits) {
    std::string bytes;
    for (std::size_t at = 0; at < digits.size(); at += 2)
        bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
    return bytes;
}

/// As bzip2 -1 and xz -0 pack two texts. Streams may follow each other, and here go beyond what is read at
/// once.
TEST(PackedFiles, OfManyStreamsAreUnpacked) {
    const std::string first = "SIMPLE  = a file of one piece\n", next = "and another one\n";
    const test::TemporaryFolder folder;
    for (const auto& [one, other] :
         {std::pair{
              from_hex("425a6831314159265359a5d55d980000075f80001040000002022648002b25c0002000314d323131310a0"
                       "f53436820460286b0d92a4a69a267a9e80057e2ee48a70a1214baabb300"),
              from_hex("425a683131415926535959d61a43000001d1800010400026419400200031003020323200b074734e8963c"
                       "5dc914e142416758690c0")},
          {from_hex("fd377a585a0000016922de36020021010c0000008f98419c01001d53494d504c4520203d20612066696c6520"
                    "6f66206"
                    "f6e652070696563650a0000002016a2f50001321e39dcf9379042990d010000000001595a"),
           from_hex("fd377a585a0000016922de36020021010c0000008f98419c01000f616e6420616e6f74686572206f6e650a00"
                    "6e3dde4"
                    "a00012410e944d9cc9042990d010000000001595a")}}) {
        std::string packed = one, text = first;
        while (packed.size() < (1 << 16) + 100) packed += other, text += next;
        const FileBytes back(folder.write("packed", packed));
        EXPECT_TRUE(back.in_memory());
        EXPECT_EQ(back.read(0, back.size()), text);
        EXPECT_EQ(FileBytes(folder.write("packed", one)).read(0, 1000), first);
        for (const auto& damaged : {packed.substr(0, packed.size() - 3), one.substr(0, one.size() / 2)})
            EXPECT_THAT(test::message_of<IoError>([&] { FileBytes(folder.write("packed", damaged)); }),
                        testing::HasSubstr("unexpected end of file"));
        auto wrong = one;
        wrong[wrong.size() / 2] ^= 0x10;
        EXPECT_THAT(test::message_of<IoError>([&] { FileBytes(folder.write("packed", wrong)); }),
                    testing::HasSubstr("its data are inconsistent"));
    }
    for (const auto& [start, reason] :
         {std::pair{"PK\3\4", "is a zip archive"}, {"\x1f\x9d", "packed by compress"}})
        EXPECT_THAT(test::message_of<IoError>([&, s = start] { FileBytes(folder.write("packed", s)); }),
                    testing::HasSubstr(reason));
}

TEST(PackedFiles, PlainOnesAreLoadedWhateverTheirSize) {
    constexpr std::int64_t block = 2880;
    const test::TemporaryFolder folder;
    for (const auto size : sizes) {
        const auto bytes = bytes_of(size, true);
        FileBytes file(folder.write("raw", bytes));
        EXPECT_TRUE(file.read(size / 2, size) == bytes.substr(static_cast<std::size_t>(size / 2)));
        file.load(block);
        const auto padded = (size + block - 1) / block * block;
        ASSERT_EQ(file.size(), padded);
        EXPECT_TRUE(file.read(0, size) == bytes) << size;
        EXPECT_EQ(file.read(size, padded), std::string(static_cast<std::size_t>(padded - size), '\0'));
    }
}

}  // namespace
}  // namespace zonal::io
