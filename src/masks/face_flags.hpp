#pragma once

#include <cstdint>
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
    /// The centres of masked pixels of which a neighbour is not masked.
    Points rim(int threads) const;

  private:
    bool is_on_rim(std::int64_t face, std::int64_t x, std::int64_t y) const;

    std::int64_t nside_;
    std::vector<std::uint8_t> flags_;
};

}  // namespace zonal::masks
