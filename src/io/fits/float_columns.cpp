#include "io/fits/float_columns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace zonal::io {
std::vector<ColumnPiece> cut_columns(const std::vector<PixelRange>& elements, std::int64_t repeat,
                                     std::int64_t most_rows, std::int64_t n_columns) {
    constexpr std::int64_t most_of_column = std::int64_t{1} << 14, most_of_all = std::int64_t{1} << 16;
    const auto floor = [](std::int64_t n) {
        return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
    };
    const auto longest = floor(std::clamp<std::int64_t>(most_of_all / n_columns, 1, most_of_column));
    const auto rows = floor(std::clamp<std::int64_t>(longest / repeat, 1, most_rows));
    std::vector<ColumnPiece> pieces;
    std::int64_t place = 0;
    for (const auto& range : elements)
        for (std::int64_t first = range.first, end = first; first < range.end; first = end) {
            end = std::min(range.end, (first / (rows * repeat) + 1) * rows * repeat);
            const auto in_row = first % repeat;
            if (rows == 1) end = std::min(end, first - in_row + (in_row / longest + 1) * longest);
            pieces.push_back({first, end, place});
            place += end - first;
        }
    return pieces;
}

std::int64_t rows_in_cache(const Hdu& hdu) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 19;
    return std::max<std::int64_t>(1, most_bytes / std::max<std::int64_t>(1, hdu.axes[0]));
}

bool is_plain_floats(const Hdu& hdu, const FitsColumn& column) {
    return hdu.type == HduType::binary_table && (column.type == 'E' || column.type == 'D') &&
           hdu.header.number(fmt::format("TSCAL{}", column.number)).value_or(1) == 1 &&
           hdu.header.number(fmt::format("TZERO{}", column.number)).value_or(0) == 0;
}

void read_floats(const FileBytes& file, const Hdu& hdu, const std::vector<const FitsColumn*>& columns,
                 std::int64_t first, View<double, 2> values, std::vector<char>& bytes) {
    const std::int64_t repeat = columns[0]->repeat, n = values.extent(1), row_bytes = hdu.axes[0];
    if (n == 0) return;
    const std::int64_t row = first / repeat, n_rows = (first + n - 1) / repeat + 1 - row;
    const std::int64_t at = hdu.data_offset + row * row_bytes;
    const auto copy = [&](std::int64_t offset, std::int64_t count) {
        if (std::ssize(bytes) < count) bytes.resize(static_cast<std::size_t>(count));
        file.copy(offset, count, bytes.data());
    };
    if (n_rows > 1) copy(at, n_rows * row_bytes);
    for (std::int64_t i = 0; i < values.extent(0); ++i) {
        const auto& column = *columns[static_cast<std::size_t>(i)];
        ColumnLayout layout{row_bytes, column.offset, repeat, first % repeat, column.type == 'D'};
        if (n_rows == 1) {  // which may be longer than a piece
            const std::int64_t width = layout.wide ? 8 : 4;
            copy(at + layout.offset + layout.skip * width, n * width);
            layout.offset = layout.skip = 0;
        }
        decode_floats(bytes.data(), layout, n, values[i].data());
    }
}

}  // namespace zonal::io
