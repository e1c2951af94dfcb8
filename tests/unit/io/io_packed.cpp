// Packing and unpacking go by pieces of 1 MiB: files that end where a piece does, and beside it.
#include <gmock/gmock.h>

#include <random>

#include "io/fits/file_bytes.hpp"
#include "unit/io/io_helpers.hpp"
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
