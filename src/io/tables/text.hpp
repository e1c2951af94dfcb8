#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zonal::io {

/// Names of units and their sizes.
using Units = std::vector<std::pair<std::string, double>>;

const Units& energy_units();   ///< eV to TeV, in MeV
const Units& angle_units();    ///< deg, rad, in rad
const Units& density_units();  ///< 1/sr and the like

/// The size of the unit that the column states, or of `usual` where it states none. Throws InvalidArgument
/// for a unit that is not among them.
double unit_factor(const std::string& column, const std::string& stated, const Units& units,
                   const std::string& usual);

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
