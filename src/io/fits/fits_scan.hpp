#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/fits/file_bytes.hpp"
#include "io/fits/fits_header.hpp"
#include "io/fits/tiles/tiles.hpp"

namespace zonal::io {

constexpr std::int64_t fits_block = 2880;
constexpr std::int64_t fits_card = 80;

struct FitsColumn {
    int number = 0;  ///< from 1, as CFITSIO counts
    std::string name;
    std::string format;  ///< TFORM
    std::string unit;
    char type = 0;  ///< L, X, B, I, J, K, E, D, A, C, M, P, Q; of ASCII tables A, I, E, D
    std::int64_t repeat = 1;
    std::int64_t offset = 0;  ///< place in the row, from 0
    // In ASCII tables only: characters, and digits behind a decimal point that is not written.
    std::int64_t width = 0;
    std::int64_t decimals = 0;

    /// Single numbers or logicals, which can be read as numbers.
    bool numeric() const { return std::string_view("LBIJKED").find(type) != std::string_view::npos; }
};

enum class HduType { image, binary_table, ascii_table, other };

/// One HDU whose header has been found sound: sizes are consistent and lie inside the file.
struct Hdu {
    int number = 0;  ///< 0 is the primary HDU
    HduType type = HduType::other;
    std::string type_name;  ///< "PRIMARY" or XTENSION
    std::string name;       ///< EXTNAME
    FitsHeader header;
    std::vector<std::int64_t> axes;     ///< image: NAXIS1, ...
    std::int64_t bitpix = 8;            ///< of the image
    std::optional<TiledImage> tiles{};  ///< of an image that is packed in a table
    std::int64_t data_offset = 0;       ///< where its data begin in the file
    std::int64_t rows = 0;              ///< of a table
    std::vector<FitsColumn> columns;
    /// Why its data cannot be read, such as how they are packed; its type is `other` then. Empty for others.
    std::string refusal{};

    /// "HDU 1 'SKYMAP'"
    std::string label() const;
    /// Index of the column of this name, in any case; -1: none.
    int find_column(const std::string& column_name) const;
};

struct FitsScan {
    std::vector<Hdu> hdus;
    /// Why HDUs behind the last one cannot be used; empty when the file ended well.
    std::string problem;
};

/// Reads and checks the headers without CFITSIO, which trusts the sizes that a file claims and can be made to
/// crash by wrong ones. Only HDUs that pass are ever shown to CFITSIO; the first one that does not ends the
/// list. Throws IoError when the file is not FITS.
FitsScan scan_fits(const FileBytes& file);

/// Fills hdu's type, axes, rows and columns from its header and returns the bytes of its data.
/// Throws InvalidArgument naming the offending key.
std::int64_t check_structure(Hdu& hdu);

/// Columns of a table with their formats checked against NAXIS1.
std::vector<FitsColumn> check_columns(const FitsHeader& header, HduType type, std::int64_t row_bytes);

}  // namespace zonal::io
