// HCOMPRESS (R. L. White 1992; FITS standard, section 10.4.4): the integers of a tile of nx rows of ny as
// sums and differences of 2 x 2 neighbours (Haar's wavelets), again of the sums, and so on, divided by a
// scale. Their bits are coded plane by plane, as trees of quarters.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/fits/tiles/bits.hpp"
#include "io/fits/tiles/tiles.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using Integers = std::vector<std::int64_t>;
using Nybbles = std::vector<std::uint8_t>;

// Sums that damaged tiles carry past 64 bits wrap round.
std::int64_t plus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Four bits by a prefix code.
std::uint8_t take_code(TileBits& bits) {
    constexpr std::array<std::uint8_t, 5> of_four{3, 5, 10, 12, 15}, of_five{6, 7, 9, 11, 13};
    auto code = bits.take(3);
    if (code < 4) return static_cast<std::uint8_t>(1U << code);
    code = code << 1 | bits.take(1);
    if (code < 13) return of_four[code - 8];
    code = code << 1 | bits.take(1);
    if (code < 31) return of_five[code - 26];
    return bits.take(1) == 0 ? 0 : 14;
}

/// The bit that the four of a quarter have for element (i, j) of it.
unsigned bit_of(std::uint8_t four, std::int64_t i, std::int64_t j) {
    return four >> (3 - 2 * (i & 1) - (j & 1)) & 1U;
}

std::int64_t half(std::int64_t n) {
    return (n + 1) / 2;
}

/// A side that has been halved that often.
std::int64_t shrunk(std::int64_t n, int level) {
    return ((n - 1) >> level) + 1;
}

/// The nearest multiple of a power of 2; halves go up, and 1 rounds nothing.
std::int64_t rounded(std::int64_t value, std::int64_t unit) {
    const auto up = unit / 2, down = std::max<std::int64_t>(0, up - 1);
    return plus(value, value >= 0 ? up : down) & -unit;
}

/// The four bits of each 2 x 2 elements of a plane of nx rows of ny; none of a plane of zeros.
Nybbles take_plane(TileBits& bits, std::int64_t nx, std::int64_t ny) {
    const auto size = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
    const auto format = bits.take(4);
    if (format == 0) {
        Nybbles plane(size(half(nx), half(ny)));
        for (auto& four : plane) four = static_cast<std::uint8_t>(bits.take(4));
        return plane;
    }
    if (format != 0xf) throw InvalidArgument("a tile has an invalid plane of bits");
    Nybbles plane{take_code(bits)};
    if (plane[0] == 0) return {};
    const auto levels = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max(nx, ny) - 1)));
    for (int level = levels - 1; level > 0; --level) {
        const auto rows = shrunk(nx, level), columns = shrunk(ny, level);
        Nybbles finer(size(rows, columns));
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                finer[size(i, columns) + static_cast<std::size_t>(j)] = static_cast<std::uint8_t>(
                    bit_of(plane[size(i / 2, half(columns)) + static_cast<std::size_t>(j / 2)], i, j));
        for (auto four = finer.rbegin(); four != finer.rend(); ++four)
            if (*four != 0) *four = take_code(bits);
        plane = std::move(finer);
    }
    return plane;
}

/// A tile's coefficients.
class Coefficients {
  public:
    Coefficients(std::int64_t nx, std::int64_t ny)
        : nx_(nx), ny_(ny), values_(static_cast<std::size_t>(nx * ny)) {}

    Integers& values() { return values_; }
    void take(TileBits& bits, const std::array<int, 3>& n_planes) {
        take_quadrant(bits, n_planes[0], 0, half(nx_), 0, half(ny_));
        take_quadrant(bits, n_planes[1], 0, half(nx_), half(ny_), ny_);
        take_quadrant(bits, n_planes[1], half(nx_), nx_, 0, half(ny_));
        take_quadrant(bits, n_planes[2], half(nx_), nx_, half(ny_), ny_);
        if (bits.take(4) != 0) throw InvalidArgument("a tile has an invalid plane of bits");
        bits.align();
        for (auto& value : values_)
            if (value != 0 && bits.take(1) == 1) value = -value;
    }
    /// Makes the integers of them.
    void invert();

  private:
    void take_quadrant(TileBits& bits, int n_planes, std::int64_t row, std::int64_t row_end,
                       std::int64_t column, std::int64_t column_end) {
        const auto columns = column_end - column;
        if (row == row_end || columns == 0) return;
        for (int plane = n_planes - 1; plane >= 0; --plane) {
            const auto fours = take_plane(bits, row_end - row, columns);
            if (fours.empty()) continue;
            for (std::int64_t i = 0; i < row_end - row; ++i)
                for (std::int64_t j = 0; j < columns; ++j)
                    at(row + i, column + j) |= static_cast<std::int64_t>(
                        std::uint64_t{
                            bit_of(fours[static_cast<std::size_t>(i / 2 * half(columns) + j / 2)], i, j)}
                        << plane);
        }
    }
    std::int64_t& at(std::int64_t i, std::int64_t j) {
        return values_[static_cast<std::size_t>(i * ny_ + j)];
    }
    void unshuffle(std::int64_t rows, std::int64_t columns);
    void invert_four(std::int64_t i, std::int64_t j, bool has_below, bool has_right, int level);

    std::int64_t nx_, ny_;
    Integers values_;
};

/// The first half of a line goes to its even places, the second one to its odd ones.
void Coefficients::unshuffle(std::int64_t rows, std::int64_t columns) {
    Integers line;
    const auto spread = [&](std::int64_t n, const auto& place) {
        line.resize(static_cast<std::size_t>(n));
        for (std::int64_t k = 0; k < n; ++k) line[static_cast<std::size_t>(k)] = place(k);
        for (std::int64_t k = 0; k < n; ++k)
            place(k) = line[static_cast<std::size_t>(k % 2 * half(n) + k / 2)];
    };
    for (std::int64_t i = 0; i < rows; ++i)
        spread(columns, [&](std::int64_t k) -> std::int64_t& { return at(i, k); });
    for (std::int64_t j = 0; j < columns; ++j)
        spread(rows, [&](std::int64_t k) -> std::int64_t& { return at(k, j); });
}

/// A sum and its three differences (down, to the right, crosswise), of which some lie beyond the edge, become
/// integers. The lowest bits of a sum are those of its differences and not stored: what is stored is rounded,
/// and then takes them.
void Coefficients::invert_four(std::int64_t i, std::int64_t j, bool has_below, bool has_right, int level) {
    const std::int64_t bit = std::int64_t{1} << level, next_bit = 2 * bit;
    std::int64_t sum = at(i, j);
    std::int64_t down = has_below ? rounded(at(i + 1, j), next_bit) : 0;
    std::int64_t right = has_right ? rounded(at(i, j + 1), next_bit) : 0;
    const std::int64_t cross = has_below && has_right ? rounded(at(i + 1, j + 1), bit) : 0;
    const std::int64_t low = cross & bit;
    down = down >= 0 ? minus(down, low) : plus(down, low);
    right = right >= 0 ? minus(right, low) : plus(right, low);
    const std::int64_t next = (cross ^ down ^ right) & next_bit;
    sum = sum < 0 && low == 0 ? plus(sum, next) : plus(sum, low - next);
    const int shift = level == 0 ? 2 : 1;
    at(i, j) = plus(minus(minus(sum, down), right), cross) >> shift;
    if (has_right) at(i, j + 1) = minus(plus(minus(sum, down), right), cross) >> shift;
    if (has_below) at(i + 1, j) = minus(minus(plus(sum, down), right), cross) >> shift;
    if (has_below && has_right) at(i + 1, j + 1) = plus(plus(plus(sum, down), right), cross) >> shift;
}

void Coefficients::invert() {
    const auto levels = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max(nx_, ny_) - 1)));
    if (levels > 0) values_[0] = rounded(values_[0], std::int64_t{2} << levels);
    for (int level = levels - 1; level >= 0; --level) {
        const auto rows = shrunk(nx_, level), columns = shrunk(ny_, level);
        unshuffle(rows, columns);
        for (std::int64_t i = 0; i < rows; i += 2)
            for (std::int64_t j = 0; j < columns; j += 2)
                invert_four(i, j, i + 1 < rows, j + 1 < columns, level);
    }
}

}  // namespace

std::vector<std::int64_t> undo_hcompress(const std::string& packed, std::int64_t n) {
    TileBits bits(packed);
    if (bits.take(16) != 0xdd99) throw InvalidArgument("a tile does not begin as HCOMPRESS does");
    const auto nx = static_cast<std::int64_t>(bits.take(32)), ny = static_cast<std::int64_t>(bits.take(32));
    if (nx < 1 || ny < 1 || nx > n || ny > n || nx * ny != n)
        throw InvalidArgument(fmt::format("a tile of {} pixels holds {} x {}", n, nx, ny));
    const auto scale = std::max<std::uint64_t>(1, bits.take(32));
    const auto sum = static_cast<std::int64_t>(bits.take(64));
    std::array<int, 3> n_planes{};
    for (auto& planes : n_planes) {
        planes = static_cast<int>(bits.take(8));
        if (planes > 62)
            throw InvalidArgument(fmt::format("a tile has numbers of {} bits: at most 62", planes));
    }
    Coefficients coefficients(nx, ny);
    coefficients.take(bits, n_planes);
    auto& values = coefficients.values();
    values[0] = sum;
    for (auto& value : values) value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * scale);
    coefficients.invert();
    return std::move(values);
}

}  // namespace zonal::io
