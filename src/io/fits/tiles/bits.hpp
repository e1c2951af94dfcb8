#pragma once

#include <cstdint>
#include <string>

#include "zonal/error.hpp"

namespace zonal::io {

/// The bits of a packed tile, the highest of each byte first. Throws InvalidArgument at their end.
class TileBits {
  public:
    /// first: the byte to begin with.
    explicit TileBits(const std::string& bytes, std::size_t first = 0) : bytes_(bytes), at_(8 * first) {}

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
    /// Goes on with the next byte if some bits of this one are left.
    void align() { at_ = (at_ + 7) / 8 * 8; }

  private:
    unsigned next() {
        const std::size_t byte = at_ / 8;
        if (byte >= bytes_.size()) throw InvalidArgument("a tile ends early");
        const auto bit = static_cast<unsigned char>(bytes_[byte]) >> (7 - at_ % 8) & 1U;
        ++at_;
        return bit;
    }

    const std::string& bytes_;
    std::size_t at_;
};

}  // namespace zonal::io
