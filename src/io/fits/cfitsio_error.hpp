#pragma once

#include <cstddef>
#include <string>

namespace zonal::io {

/// The longest path that CFITSIO takes: it copies names to buffers of FLEN_FILENAME = 1025 bytes.
inline constexpr std::size_t longest_name = 1000;

/// CFITSIO's text for a status and the first detail on its message stack, which is emptied:
/// "CFITSIO: error reading from FITS file (status 108)".
std::string cfitsio_reason(int status);

}  // namespace zonal::io
