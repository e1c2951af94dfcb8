#pragma once

#include <cstdint>
#include <vector>

#include "io/fits/file_bytes.hpp"
#include "io/fits/fits_scan.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

namespace zonal::io {

/// Elements [first, end) of columns, and where the first one stands among all that are read.
struct ColumnPiece {
    std::int64_t first, end, place;
};

/// Cuts ranges of the elements of columns, `repeat` a row, at the ends of rows, or rows that are long into
/// parts. The values of a piece stay in the second cache; their number is a power of 2 if repeat is one.
/// most_rows: of a piece. n_columns: that are read.
std::vector<ColumnPiece> cut_columns(const std::vector<PixelRange>& elements, std::int64_t repeat,
                                     std::int64_t most_rows, std::int64_t n_columns);

/// How many rows read_floats should read at once, for their bytes to stay in the second cache; 1 or more.
std::int64_t rows_in_cache(const Hdu& hdu);

/// Whether the values of a column are the floats that stand in the file: of a binary table, not scaled.
bool is_plain_floats(const Hdu& hdu, const FitsColumn& column);

/// Reads such columns from the bytes of the file, which CFITSIO would do on one thread and in twice the time.
/// All have as many elements a row. The elements are those of a ColumnPiece, from `first` on. values:
/// [column, element]. bytes: memory to work in, which grows when needed. Throws IoError.
void read_floats(const FileBytes& file, const Hdu& hdu, const std::vector<const FitsColumn*>& columns,
                 std::int64_t first, View<double, 2> values, std::vector<char>& bytes);

/// Where a column's elements stand in bytes of a table: `offset` bytes behind the begin of each row, of which
/// the first one's first `skip` elements are left out.
struct ColumnLayout {
    std::int64_t row_bytes, offset, repeat, skip;
    bool wide;  ///< 8 bytes each, not 4
};

/// Big-endian floats as doubles, [n].
void decode_floats(const char* rows, const ColumnLayout& layout, std::int64_t n, double* values);

}  // namespace zonal::io
