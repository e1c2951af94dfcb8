#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sht/analysis/field_math.hpp"
#include "zonal/grid.hpp"
#include "zonal/healpix.hpp"

namespace zonal::sky {

/// The pixel of a grid that holds a direction, or is nearest to it.
class PixelFinder {
  public:
    explicit PixelFinder(const Grid& grid) : nside_(grid.healpix_nside()) {
        for (const Ring& ring : grid.rings()) rings_.push_back(&ring);
        std::stable_sort(rings_.begin(), rings_.end(),
                         [](const Ring* a, const Ring* b) { return a->theta < b->theta; });
    }
    std::int64_t operator()(double theta, double phi) const {
        if (nside_ > 0) {
            const double s = std::sin(theta);
            return healpix::vec2pix(nside_, healpix::Order::ring,
                                    {s * std::cos(phi), s * std::sin(phi), std::cos(theta)});
        }
        auto at = std::lower_bound(rings_.begin(), rings_.end(), theta,
                                   [](const Ring* ring, double angle) { return ring->theta < angle; });
        if (at == rings_.end() || (at != rings_.begin() && theta - (*(at - 1))->theta < (*at)->theta - theta))
            --at;
        return (*at)->first_pixel + sht::nearest_on_ring(phi, (*at)->phi_0, (*at)->n_pixels);
    }

  private:
    std::int64_t nside_;
    std::vector<const Ring*> rings_;  ///< from north to south
};

}  // namespace zonal::sky
