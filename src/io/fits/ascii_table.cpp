#include "io/fits/ascii_table.hpp"

#include <fmt/core.h>

#include <cmath>

#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {

AsciiField::AsciiField(const Hdu& hdu, const FitsColumn& field, double null_value)
    : column(field), null(null_value) {
    const auto key = [&](const char* stem) { return fmt::format("{}{}", stem, column.number); };
    has_null = hdu.header.has(key("TNULL"));
    null_text = trim(hdu.header.text(key("TNULL")).value_or(""));
    scale = hdu.header.number(key("TSCAL")).value_or(1);
    zero = hdu.header.number(key("TZERO")).value_or(0);
}

double AsciiField::value(std::string_view row) const {
    const std::string text = trim(row.substr(column.offset, column.width));
    if (has_null && text == null_text) return null;
    if (text.empty()) return zero;
    const auto number = parse_number(text);
    if (!number) {
        std::string shown = text;
        for (char& byte : shown) {
            if (byte < ' ' || byte > '~') byte = '?';
        }
        throw InvalidArgument(fmt::format("column '{}': '{}' is no number", column.name, shown));
    }
    // Without a decimal point or exponent, a real's last digits are decimals (FITS standard, section 7.2.5).
    const bool implied = column.type != 'I' && text.find_first_of(".eEdDnN") == std::string::npos;
    return (implied ? *number / std::pow(10.0, static_cast<double>(column.decimals)) : *number) * scale +
           zero;
}

}  // namespace zonal::io
