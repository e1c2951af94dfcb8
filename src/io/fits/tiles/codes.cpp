// What tiles are packed by: integers, Rice coding, and lists of runs.
#include <algorithm>

#include "io/fits/tiles/bits.hpp"
#include "io/fits/tiles/tiles.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
std::int64_t signed_number(std::uint64_t bits, std::int64_t bytes) {
    if (bytes == 1) return static_cast<std::uint8_t>(bits);
    if (bytes == 2) return static_cast<std::int16_t>(bits);
    return bytes == 4 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
}

// A first value, then blocks of differences d, written as 2 d or -2 d - 1: a number k + 1 of a few bits, and
// each difference as its upper bits in unary and its k lower ones; k = -1: all are 0; the largest k: plain
// numbers.
std::vector<std::int64_t> undo_rice(const std::string& packed, std::int64_t n, std::int64_t bytes,
                                    std::int64_t block) {
    const int width = static_cast<int>(8 * bytes);
    const int code_bits = bytes == 1 ? 3 : bytes == 2 ? 4 : 5, plain = bytes == 1 ? 6 : bytes == 2 ? 14 : 25;
    TileBits bits(packed);
    std::uint64_t last = bits.take(width);
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(n));
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const int k = static_cast<int>(bits.take(code_bits)) - 1;
        if (k > plain) throw InvalidArgument("a tile has an invalid Rice code");
        for (std::int64_t i = begin; i < std::min(n, begin + block); ++i) {
            std::uint64_t code = 0;
            if (k == plain) {
                code = bits.take(width);
            } else if (k >= 0) {
                code = bits.zeros() << k;
                code |= bits.take(k);
            }
            last += (code & 1U) != 0 ? ~(code >> 1) : code >> 1;
            values.push_back(signed_number(last, bytes));
        }
    }
    return values;
}

// Words of an operation and a count of 12 bits: runs of zeros or of a value, and changes of that value, which
// is 1 at first.
std::vector<std::int64_t> undo_plio(const std::string& packed, std::int64_t n) {
    const auto word = [&packed](std::int64_t i) {
        const auto byte = [&](std::int64_t at) {
            return static_cast<unsigned char>(packed[static_cast<std::size_t>(at)]);
        };
        if (i < 0 || i >= std::ssize(packed) / 2) throw InvalidArgument("a tile ends early");
        return static_cast<std::int64_t>(static_cast<std::int16_t>(byte(2 * i) << 8 | byte(2 * i + 1)));
    };
    // Lists of up to 2^15 words have a header of 3; of others word 1 is its length, and words 3 and 4 that of
    // all.
    const bool is_short = word(2) > 0;
    const auto length = is_short ? word(2) : word(4) << 15 | word(3);
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(n));
    std::int64_t value = 1;
    const auto append = [&](std::int64_t count, std::int64_t one) {
        if (count > n - std::ssize(values)) throw InvalidArgument("a tile has more pixels than fit in it");
        values.insert(values.end(), static_cast<std::size_t>(count), one);
    };
    for (std::int64_t i = is_short ? 3 : word(1); i < length; ++i) {
        const auto code = word(i), operation = code >> 12, count = code & 0xfff;
        if (operation == 1) value = word(++i) << 12 | count;
        if (operation == 2 || operation == 6) value += count;
        if (operation == 3 || operation == 7) value -= count;
        if (operation == 4) append(count, value);
        if (operation == 0 || operation == 5) append(count, 0);
        if (operation == 5 && count > 0) values.back() = value;
        if (operation == 6 || operation == 7) append(1, value);
        if (operation < 0) throw InvalidArgument("a tile has an invalid code of PLIO");
    }
    values.resize(static_cast<std::size_t>(n));
    return values;
}

}  // namespace zonal::io
