#include "planning/certificate/healpix_row_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "zonal/grid.hpp"

namespace zonal::planning {
namespace {

using core::pi;

class RowSums {
  public:
    explicit RowSums(const AnnulusProfile& g)
        : g_(g),
          steps_((static_cast<double>(g.value.size()) - 1) / (g.last - g.first)),
          least_(std::pow(std::sin(g.first / 2), 2) - rounding),
          most_(std::pow(std::sin(g.last / 2), 2) + rounding) {}

    /// Over the pixels of one ring, of a pixel at longitude phi of another.
    double over(const Ring& other, const Ring& ring, double phi) const {
        const double across = std::pow(std::sin((ring.theta - other.theta) / 2), 2);
        if (across > most_) return 0;
        // sin^2(theta/2) = across + sines sin^2((phi - phi')/2)
        const double sines = ring.sin_theta * other.sin_theta;
        const double half = std::min(1.0, (most_ - across) / sines);
        const double spacing = 2 * pi / static_cast<double>(other.n_pixels);
        const double reach = 2 * std::asin(std::sqrt(half)) / spacing, at = (phi - other.phi_0) / spacing;
        const double begin = std::ceil(at - reach);
        const double end = std::min(at + reach, begin + static_cast<double>(other.n_pixels) - 1);
        double sum = 0;
        for (double k = begin; k <= end; ++k)
            sum += value(across + sines * std::pow(std::sin((k - at) * spacing / 2), 2));
        return sum;
    }

  private:
    /// Pixels at the edges count whichever way their distance rounds: of the antipode, sin^2 may be above 1.
    static constexpr double rounding = 1e-14;

    double value(double sine_squared) const {
        if (sine_squared <= least_ || sine_squared > most_) return 0;
        const double theta = 2 * std::asin(std::sqrt(std::min(1.0, sine_squared)));
        const double at = std::max(0.0, (theta - g_.first) * steps_);
        const auto below = std::min(static_cast<std::size_t>(at), g_.value.size() - 2);
        const double share = std::min(1.0, at - static_cast<double>(below));
        return g_.value[below] + share * (g_.value[below + 1] - g_.value[below]);
    }

    const AnnulusProfile& g_;
    double steps_, least_, most_;
};

}  // namespace

double largest_row_sum(std::int64_t nside, const AnnulusProfile& g) {
    const auto grid = Grid::healpix(nside);
    const auto& rings = grid.rings();
    const RowSums sums(g);
    double largest = 0;
    for (std::int64_t r = 0; r < 2 * nside; ++r) {
        const Ring& ring = rings[static_cast<std::size_t>(r)];
        // The sphere is the same in each quarter and mirrored in its middle, and between the caps the same
        // around each pixel.
        const bool sees_cap = ring.theta - rings[static_cast<std::size_t>(nside - 1)].theta <= g.last;
        const std::int64_t n_different = sees_cap ? std::min(r + 1, nside) / 2 + 1 : 1;
        for (std::int64_t k = 0; k < n_different; ++k) {
            const double phi =
                ring.phi_0 + 2 * pi * static_cast<double>(k) / static_cast<double>(ring.n_pixels);
            double sum = 0;
            for (const Ring& other : rings)
                if (std::abs(other.theta - ring.theta) <= g.last) sum += sums.over(other, ring, phi);
            largest = std::max(largest, sum);
        }
    }
    return largest;
}

}  // namespace zonal::planning
