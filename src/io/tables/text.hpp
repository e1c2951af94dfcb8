#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zonal::io {

std::string trim(std::string_view text);
std::string trim_right(std::string_view text);
/// ASCII only, whatever the locale.
std::string to_upper(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);
/// At blanks, tabs, commas and semicolons; empty pieces are dropped.
std::vector<std::string> split(std::string_view text);

/// Empty unless the whole text is one integer that fits, an optional sign before it.
std::optional<std::int64_t> parse_integer(std::string_view text);
/// Empty unless the whole text is one number; Fortran's exponents (1.0D-3) are understood, NaN and Inf too.
std::optional<double> parse_number(std::string_view text);

}  // namespace zonal::io
