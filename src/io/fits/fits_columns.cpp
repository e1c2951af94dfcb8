#include <fmt/core.h>

#include <limits>

#include "io/fits/checked_values.hpp"
#include "io/fits/fits_scan.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

// The standard's limit on TFIELDS.
constexpr std::int64_t max_columns = 999;

/// Bytes of one element; 0 for X, whose width depends on the repeat count.
std::int64_t element_bytes(char type) {
    switch (type) {
        case 'L':
        case 'B':
        case 'A':
            return 1;
        case 'I':
            return 2;
        case 'J':
        case 'E':
            return 4;
        case 'K':
        case 'D':
        case 'C':
        case 'P':
            return 8;
        case 'M':
        case 'Q':
            return 16;
        case 'X':
            return 0;
        default:
            return -1;
    }
}

[[noreturn]] void reject_format(const FitsColumn& column) {
    throw InvalidArgument(fmt::format("TFORM{}", column.number), fmt::format("'{}'", column.format),
                          "not a valid format");
}

/// "1024E" -> repeat 1024, type E; returns the column's width in bytes.
std::int64_t parse_binary_format(FitsColumn& column) {
    const auto digits = column.format.find_first_not_of("0123456789");
    if (digits == std::string::npos) reject_format(column);
    if (digits > 0) {
        const auto repeat = parse_integer(std::string_view(column.format).substr(0, digits));
        // CFITSIO keeps widths in a long, but computes some of them in 32 bits.
        if (!repeat || *repeat > std::numeric_limits<std::int32_t>::max() / 16) reject_format(column);
        column.repeat = *repeat;
    }
    column.type = to_upper(column.format)[digits];
    const auto bytes = element_bytes(column.type);
    if (bytes < 0) reject_format(column);
    const bool has_suffix = digits + 1 < column.format.size();
    const bool descriptor = column.type == 'P' || column.type == 'Q';
    if (has_suffix && column.type != 'A' && !descriptor) reject_format(column);
    if (descriptor && column.repeat > 1) reject_format(column);
    return column.type == 'X' ? (column.repeat + 7) / 8 : checked_multiply(column.repeat, bytes);
}

/// "E15.7" -> type E, width 15, 7 decimals.
void parse_ascii_format(FitsColumn& column) {
    const std::string format = to_upper(column.format);
    const std::string width = format.substr(0, format.find('.')).substr(format.empty() ? 0 : 1);
    const auto characters = parse_integer(width);
    if (format.empty() || std::string("AIFED").find(format[0]) == std::string::npos || !characters ||
        *characters < 1 || *characters > 80) {
        reject_format(column);
    }
    if (const auto dot = format.find('.'); dot != std::string::npos) {
        const auto decimals = parse_integer(std::string_view(format).substr(dot + 1));
        if (!decimals || *decimals < 0 || *decimals > *characters) reject_format(column);
        column.decimals = *decimals;
    }
    column.type = format[0] == 'F' ? 'E' : format[0];
    column.width = *characters;
}

/// CFITSIO looks at these three of every column, read or not.
void check_scaling(const FitsColumn& column, const FitsHeader& header, HduType type) {
    const auto scale = header.number(fmt::format("TSCAL{}", column.number));
    header.number(fmt::format("TZERO{}", column.number));
    if (scale == 0.0) throw InvalidArgument(fmt::format("TSCAL{}", column.number), "0", "must not be 0");
    // In ASCII tables TNULL is a text.
    const bool integers = std::string("BIJK").find(column.type) != std::string::npos;
    if (type == HduType::binary_table && integers) header.integer(fmt::format("TNULL{}", column.number));
}

}  // namespace

std::vector<FitsColumn> check_columns(const FitsHeader& header, HduType type, std::int64_t row_bytes) {
    const auto count = required(header, "TFIELDS", 0, max_columns);
    std::vector<FitsColumn> columns;
    std::int64_t used = 0;
    for (int number = 1; number <= count; ++number) {
        FitsColumn column;
        column.number = number;
        column.name = header.text(fmt::format("TTYPE{}", number)).value_or("");
        column.unit = header.text(fmt::format("TUNIT{}", number)).value_or("");
        column.format = header.text(fmt::format("TFORM{}", number)).value_or("");
        if (type == HduType::binary_table) {
            column.offset = used;
            used = checked_add(used, parse_binary_format(column));
        } else {
            column.offset = required(header, fmt::format("TBCOL{}", number), 1, row_bytes) - 1;
            parse_ascii_format(column);
            if (column.offset + column.width > row_bytes) {
                throw InvalidArgument(fmt::format("TFORM{}", number), fmt::format("'{}'", column.format),
                                      fmt::format("ends behind NAXIS1 = {}", row_bytes));
            }
        }
        check_scaling(column, header, type);
        columns.push_back(std::move(column));
    }
    if (type == HduType::binary_table && used != row_bytes) {
        throw InvalidArgument("NAXIS1", row_bytes, fmt::format("its columns have {} bytes a row", used));
    }
    return columns;
}

}  // namespace zonal::io
