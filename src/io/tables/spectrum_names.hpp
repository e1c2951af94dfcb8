#pragma once

#include <array>
#include <optional>
#include <string>

namespace zonal::io {

/// In the order of HEALPix F90 files.
inline constexpr std::array<const char*, 9> spectrum_codes{"TT", "EE", "BB", "TE", "TB",
                                                           "EB", "ET", "BT", "BE"};
/// The columns that HEALPix F90 writes them to.
inline constexpr std::array<const char*, 9> spectrum_columns{"TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T",
                                                             "C-G",         "T-G",      "T-C",  "G-C"};

/// "TT", "TE", ... from a column's name: TEMPERATURE, G-T, TG, TE, ..., in any case. healpy: the file has
/// healpy's order, where the columns called C-T and C-G hold EB and TB.
std::optional<std::string> spectrum_from_name(const std::string& name, bool healpy);

/// l, ELL or MULTIPOLE, in any case.
bool is_multipole_name(const std::string& name);

}  // namespace zonal::io
