#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "points/point_checks.hpp"
#include "sht/analysis/field_math.hpp"
#include "sky/resampling/turned_points.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

namespace zonal::sky {

/// Where fields are wanted: pixels of a grid, ring after ring, or points.
class Places {
  public:
    explicit Places(const Grid& grid) : grid_(&grid) {
        for (const Ring& ring : grid.rings()) begins_.push_back(n_ += ring.n_pixels);
    }
    Places(View<const double, 1> theta, View<const double, 1> phi)
        : theta_(theta), phi_(phi), n_(theta.extent(0)) {
        points::check_arrays(theta, phi);
        points::check_angles(theta, phi);
    }

    const Grid* grid() const { return grid_; }
    std::int64_t n_places() const { return n_; }
    std::int64_t n_values() const { return grid_ != nullptr ? grid_->n_pixels() : n_; }

    /// Calls work(place - begin, its number among the values, cos theta, sin theta, theta, phi).
    template <class Work>
    void visit(std::int64_t begin, std::int64_t end, const Work& work) const {
        if (grid_ == nullptr) {
            for (std::int64_t i = begin; i < end; ++i)
                work(i - begin, i, std::cos(theta_[i]), std::sin(theta_[i]), theta_[i], phi_[i]);
            return;
        }
        auto at = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), begin) -
                                           begins_.begin());
        for (std::int64_t i = begin; i < end; ++at) {
            const Ring& ring = grid_->rings()[at];
            const std::int64_t first = begins_[at] - ring.n_pixels;
            for (const auto stop = std::min(end, begins_[at]); i < stop; ++i)
                work(i - begin, ring.first_pixel + i - first, ring.cos_theta, ring.sin_theta, ring.theta,
                     sht::longitude(ring.phi_0, i - first, ring.n_pixels));
        }
    }

  private:
    const Grid* grid_ = nullptr;
    std::vector<std::int64_t> begins_;  ///< where the next ring's places begin
    View<const double, 1> theta_{}, phi_{};
    std::int64_t n_ = 0;
};

/// Where a place's value comes from.
inline TurnedPoint come_from(const std::optional<RotationMatrix>& rotation, double cos_theta,
                             double sin_theta, double theta, double phi) {
    return rotation ? turn_back(*rotation, cos_theta, sin_theta, phi) : TurnedPoint{theta, phi, 1, 0};
}

}  // namespace zonal::sky
