#include "io/fits/cfitsio_error.hpp"

#include <fitsio.h>
#include <fmt/core.h>

namespace zonal::io {

std::string cfitsio_reason(int status) {
    char text[FLEN_STATUS] = "";
    char detail[FLEN_ERRMSG] = "";
    fits_get_errstatus(status, text);
    const bool has_detail = fits_read_errmsg(detail) != 0;
    fits_clear_errmsg();
    return has_detail ? fmt::format("CFITSIO: {} (status {}): {}", text, status, detail)
                      : fmt::format("CFITSIO: {} (status {})", text, status);
}

}  // namespace zonal::io
