#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/fits/file_bytes.hpp"
#include "io/fits/fits_header.hpp"

namespace zonal::io {

struct FitsColumn;
struct Hdu;

/// How an image is packed in tiles, each a row of a table (FITS standard, section 10). CFITSIO can be made to
/// crash by damaged tiles, so that they are unpacked here.
struct TiledImage {
    enum class Method { rice, gzip, shuffled_gzip, hcompress, plio, none };

    /// Where a column of descriptors stands in a row; offset -1: there is none.
    struct Descriptors {
        std::int64_t offset = -1;
        bool wide = false;       ///< two numbers of 64 bits, not of 32
        std::int64_t bytes = 1;  ///< of an element in the heap
    };

    static constexpr std::int64_t most_seeds = 10000;  ///< random numbers of dithering, and so ZDITHER0

    Method method = Method::none;
    std::int64_t bitpix = 0;
    std::vector<std::int64_t> axes, tile_axes;
    std::int64_t rice_block = 32, rice_bytes = 4;
    Descriptors packed, gzipped, raw;
    std::int64_t scale_offset = -1, zero_offset = -1,
                 blank_offset = -1;     ///< of ZSCALE, ZZERO, ZBLANK in a row
    std::optional<double> scale, zero;  ///< of all tiles
    std::optional<std::int64_t> blank;
    std::int64_t dither_seed = 0;  ///< ZDITHER0; 0: no dithering
    bool exact_zeros = false;      ///< SUBTRACTIVE_DITHER_2
    double bscale = 1, bzero = 0;
    std::int64_t rows = 0, row_bytes = 0, heap_start = 0, heap_bytes = 0;
    std::int64_t header_offset = 0, offset = 0;  ///< of the header and the table in the file

    /// Whether the method packs integers, not bytes.
    bool holds_integers() const {
        return method == Method::rice || method == Method::hcompress || method == Method::plio;
    }
};

/// Whether a header is that of such an image.
bool is_tiled(const FitsHeader& header);

/// Reads the keys of a table of tiles. columns: of the table. Throws InvalidArgument, which names the key,
/// also for methods that are not read.
TiledImage read_tiled_layout(const FitsHeader& header, const std::vector<FitsColumn>& columns,
                             std::int64_t rows, std::int64_t row_bytes);

/// Pixels [first, first + count) of the image; `null` where integers are BLANK, NaN where quantised floats
/// are. Throws InvalidArgument for damaged tiles.
std::vector<double> read_tiles(const FileBytes& file, const TiledImage& image, std::int64_t first,
                               std::int64_t count, double null);

/// The integer of 1, 2, 4 or 8 bytes that stands in the low bits; that of 1 byte is unsigned.
std::int64_t signed_number(std::uint64_t bits, std::int64_t bytes);

/// Undoes Rice coding (White & Becker 1998): n integers of 1, 2 or 4 bytes, in blocks.
std::vector<std::int64_t> undo_rice(const std::string& packed, std::int64_t n, std::int64_t bytes,
                                    std::int64_t block);

/// Undoes HCOMPRESS (White 1992): n integers. Throws InvalidArgument where the tile has others.
std::vector<std::int64_t> undo_hcompress(const std::string& packed, std::int64_t n);

/// Undoes PLIO, lists of runs in words of 16 bits: n integers.
std::vector<std::int64_t> undo_plio(const std::string& packed, std::int64_t n);

}  // namespace zonal::io
