#include "io/fits/checked_values.hpp"

#include <fmt/core.h>

#include <fitsio.h>
#include <limits>

#include "zonal/error.hpp"

namespace zonal::io {

std::int64_t required(const FitsHeader& header, const std::string& key, std::int64_t low, std::int64_t high) {
    const auto value = header.integer(key);
    if (!value) throw InvalidArgument(fmt::format("{} is missing", key));
    if (*value < low || *value > high) {
        throw InvalidArgument(key, *value, fmt::format("must be from {} to {}", low, high));
    }
    return *value;
}

std::int64_t optional_count(const FitsHeader& header, const std::string& key, std::int64_t fallback) {
    return header.has(key) ? required(header, key, 0, std::numeric_limits<std::int64_t>::max()) : fallback;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) throw InvalidArgument("the sizes of its axes overflow");
    return product;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) throw InvalidArgument("the sizes of its axes overflow");
    return sum;
}

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
