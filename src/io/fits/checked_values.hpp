#pragma once

// Checked reading of header values, for fits_structure.cpp and fits_columns.cpp.
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/fits/fits_header.hpp"

namespace zonal::io {

/// The longest path that CFITSIO takes: it copies names to buffers of FLEN_FILENAME = 1025 bytes.
inline constexpr std::size_t longest_name = 1000;

/// CFITSIO's text for a status and the first detail on its message stack, which is emptied:
/// "CFITSIO: error reading from FITS file (status 108)".
std::string cfitsio_reason(int status);

/// Throws InvalidArgument when the key is absent or its value outside [low, high].
std::int64_t required(const FitsHeader& header, const std::string& key, std::int64_t low, std::int64_t high);

/// A value >= 0, or the fallback where the key is absent.
std::int64_t optional_count(const FitsHeader& header, const std::string& key, std::int64_t fallback);

// Both throw InvalidArgument on overflow: sizes come from files that may be hostile.
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);
std::int64_t checked_add(std::int64_t a, std::int64_t b);

}  // namespace zonal::io
