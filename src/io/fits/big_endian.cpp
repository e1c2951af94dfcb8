// The loop over all numbers of a map, compiled for speed (src/CMakeLists.txt).
#include <algorithm>
#include <bit>
#include <cstring>

#include "io/fits/float_columns.hpp"

namespace zonal::io {
namespace {

double float_at(const char* bytes) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    if constexpr (std::endian::native == std::endian::little) bits = __builtin_bswap32(bits);
    return std::bit_cast<float>(bits);
}

double double_at(const char* bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    if constexpr (std::endian::native == std::endian::little) bits = __builtin_bswap64(bits);
    return std::bit_cast<double>(bits);
}

template <std::int64_t width, class NumberAt>
void decode(const char* row, const ColumnLayout& layout, std::int64_t n, double* values,
            const NumberAt& number_at) {
    row += layout.offset;
    if (layout.repeat == 1) {
        for (std::int64_t i = 0; i < n; ++i) values[i] = number_at(row + i * layout.row_bytes);
        return;
    }
    for (std::int64_t skip = layout.skip; n > 0; skip = 0, row += layout.row_bytes) {
        const std::int64_t count = std::min(n, layout.repeat - skip);
        for (std::int64_t i = 0; i < count; ++i) values[i] = number_at(row + (skip + i) * width);
        values += count, n -= count;
    }
}

}  // namespace

void decode_floats(const char* rows, const ColumnLayout& layout, std::int64_t n, double* values) {
    if (layout.wide)
        decode<8>(rows, layout, n, values, double_at);
    else
        decode<4>(rows, layout, n, values, float_at);
}

}  // namespace zonal::io
