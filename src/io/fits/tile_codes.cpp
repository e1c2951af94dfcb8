// What tiles are packed by: integers, and Rice coding.
#include <algorithm>

#include "io/fits/tiles.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

/// The bits of a text, the highest of each byte first.
class Bits {
  public:
    explicit Bits(const std::string& bytes) : bytes_(bytes) {}

    std::uint64_t take(int n) {
        std::uint64_t value = 0;
        for (int i = 0; i < n; ++i) value = value << 1 | next();
        return value;
    }
    /// Counts zeros before the next one, and takes that, too.
    std::uint64_t zeros() {
        std::uint64_t n = 0;
        while (next() == 0) ++n;
        return n;
    }

  private:
    unsigned next() {
        const std::size_t byte = at_ / 8;
        if (byte >= bytes_.size()) throw InvalidArgument("a tile ends early");
        const auto bit = static_cast<unsigned char>(bytes_[byte]) >> (7 - at_ % 8) & 1U;
        ++at_;
        return bit;
    }

    const std::string& bytes_;
    std::size_t at_ = 0;
};

}  // namespace

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
    Bits bits(packed);
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

}  // namespace zonal::io
