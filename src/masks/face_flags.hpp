#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "masks/nearest.hpp"
#include "zonal/view.hpp"

namespace zonal::masks {

/// Which pixels are masked, face by face, so that neighbours lie side by side.
class FaceFlags {
  public:
    /// masked: [12 nside^2] in ring order.
    FaceFlags(std::int64_t nside, const View<const std::uint8_t, 1>& masked, int threads);

    std::int64_t nside() const { return nside_; }
    bool is_masked(std::int64_t face, std::int64_t x, std::int64_t y) const {
        return flags_[static_cast<std::size_t>((face * nside_ + x) * nside_ + y)] != 0;
    }
    /// Whether those from y to y_end - 1 all are.
    bool are_masked(std::int64_t face, std::int64_t x, std::int64_t y, std::int64_t y_end) const {
        return std::memchr(&flags_[static_cast<std::size_t>((face * nside_ + x) * nside_ + y)], 0,
                           static_cast<std::size_t>(y_end - y)) == nullptr;
    }
    /// The centres of masked pixels of which a neighbour is not masked.
    Points rim(int threads) const;

  private:
    bool is_on_rim(std::int64_t face, std::int64_t x, std::int64_t y) const;
    void find_rim(std::int64_t face, std::int64_t x, std::vector<std::int64_t>& pixels) const;

    std::int64_t nside_;
    std::vector<std::uint8_t> flags_;
};

}  // namespace zonal::masks
