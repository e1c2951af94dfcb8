#pragma once

#include <string>

namespace zonal::io {

/// CFITSIO's text for a status and the first detail on its message stack, which is emptied:
/// "CFITSIO: error reading from FITS file (status 108)".
std::string cfitsio_reason(int status);

}  // namespace zonal::io
