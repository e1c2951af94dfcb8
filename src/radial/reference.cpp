#include "radial/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "radial/ring_pair.hpp"

namespace zonal::reference {
namespace {

using Real = long double;

Real longitude(const Ring& ring, std::int64_t k) {
    return static_cast<Real>(ring.phi_0) +
           2 * std::numbers::pi_v<Real> * static_cast<Real>(k) / static_cast<Real>(ring.n_pixels);
}

/// w K of every pixel of a ring with respect to one pixel, and the sum.
class PixelSum {
  public:
    explicit PixelSum(const RadialKernel& kernel) : kernel_(kernel) {
        const double chord = 2 * std::sin(kernel.support() / 2);
        limit_ = radial::inside_limit(chord * chord);
    }

    Real ring(const Ring& ring, Real phi, const Ring& other, View<const double, 1> map) {
        theta_.clear();
        pixels_.clear();
        // chord^2 = 4 [sin^2((theta-theta')/2) + sin theta sin theta' sin^2((phi-phi')/2)]
        const Real theta = ring.theta, other_theta = other.theta;
        const Real across = 2 * std::sin((theta - other_theta) / 2);
        const Real sines = 4 * std::sin(theta) * std::sin(other_theta);
        for (std::int64_t k = 0; k < other.n_pixels; ++k) {
            const Real along = std::sin((phi - longitude(other, k)) / 2);
            const Real u = across * across + sines * along * along;
            if (u > static_cast<Real>(limit_)) continue;
            const Real distance = 2 * std::asin(std::min<Real>(1, std::sqrt(u) / 2));
            theta_.push_back(std::min(static_cast<double>(distance), kernel_.support()));
            pixels_.push_back(other.first_pixel + k);
        }
        const std::vector<double> values = kernel_.profile(theta_);
        Real sum = 0;
        for (std::size_t k = 0; k < values.size(); ++k)
            sum += static_cast<Real>(values[k]) * static_cast<Real>(map[pixels_[k]]);
        return sum * static_cast<Real>(other.weight);
    }

  private:
    const RadialKernel& kernel_;
    double limit_;
    std::vector<double> theta_;
    std::vector<std::int64_t> pixels_;
};

}  // namespace

void convolve(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, View<const double, 1> map,
              View<double, 1> convolved) {
    PixelSum pixel_sum(kernel);
    for (const Ring& ring : grid_out.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            Real sum = 0;
            for (const Ring& other : grid.rings()) {
                if (std::abs(ring.theta - other.theta) > kernel.support() * (1 + 1e-9) + 1e-14) continue;
                sum += pixel_sum.ring(ring, longitude(ring, k), other, map);
            }
            convolved[ring.first_pixel + k] = static_cast<double>(sum);
        }
}

}  // namespace zonal::reference
