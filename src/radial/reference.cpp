#include "radial/reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace zonal::reference {
namespace {

using Real = long double;

Real longitude(const Ring& ring, std::int64_t k) {
    return static_cast<Real>(ring.phi_0) +
           2 * std::numbers::pi_v<Real> * static_cast<Real>(k) / static_cast<Real>(ring.n_pixels);
}

/// 4 sin^2(theta / 2) up to which a pixel is inside a support. Fast sums place pixels to 1e-15 and supports
/// come from files with 12 digits or more: those that are at the edge but for that count as inside.
Real last_chord_squared(double support) {
    const Real chord = 2 * std::sin(static_cast<Real>(support) / 2);
    return std::pow(chord * (1 + 1e-12L) + 2e-15L, 2);
}

/// w K of every pixel of a ring with respect to one pixel, and the sum.
class PixelSum {
  public:
    explicit PixelSum(const RadialKernel& kernel)
        : kernel_(kernel), limit_(last_chord_squared(kernel.support())) {}

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
            if (u > limit_) continue;
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
    Real limit_;
    std::vector<double> theta_;
    std::vector<std::int64_t> pixels_;
};

using Complex = std::complex<Real>;

/// e^{2i psi} of the direction psi from e_theta to e_phi in which `to` lies from `from`.
Complex double_direction(Real theta, Real phi, Real to_theta, Real to_phi) {
    const Real south =
        std::cos(theta) * std::sin(to_theta) * std::cos(to_phi - phi) - std::sin(theta) * std::cos(to_theta);
    const Real east = std::sin(to_theta) * std::sin(to_phi - phi);
    return std::polar<Real>(1, 2 * std::atan2(east, south));
}

/// w [K+ e^{2i(psi-psi')} P + K- e^{2i(psi+psi')} conj P] of one pixel for one other.
Complex polarized_term(const PolarizationKernel& kernel, const Ring& ring, Real phi, const Ring& other,
                       Real other_phi, Complex p) {
    const Real theta = ring.theta, other_theta = other.theta;
    const Real across = std::sin((theta - other_theta) / 2), along = std::sin((phi - other_phi) / 2);
    const Real sine = std::sqrt(across * across + std::sin(theta) * std::sin(other_theta) * along * along);
    const Real distance = 2 * std::asin(std::min<Real>(1, sine)), cosine = std::cos(distance / 2);
    if (4 * sine * sine > last_chord_squared(kernel.support())) return 0;
    const double at = std::min(static_cast<double>(distance), kernel.support());
    Complex result = 0;
    const Complex there = double_direction(theta, phi, other_theta, other_phi);
    // The direction in which the circle goes on there is opposite to that back: the same doubled.
    const Complex here = double_direction(other_theta, other_phi, theta, phi);
    // Pixels at a pole are at one place, but measure directions from meridians of their own.
    const Complex at_one_place = std::polar<Real>(1, 2 * std::cos(theta) * (other_phi - phi));
    if (kernel.plus() != nullptr)
        result += static_cast<Real>(kernel.plus()->profile(at)) * std::pow(cosine, 4) * p *
                  (distance == 0 ? (phi == other_phi ? 1 : at_one_place) : there * std::conj(here));
    if (kernel.minus() != nullptr)
        result +=
            static_cast<Real>(kernel.minus()->profile(at)) * std::pow(sine, 4) * there * here * std::conj(p);
    return static_cast<Real>(other.weight) * result;
}

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

void convolve(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
              View<const double, 2> map, View<double, 2> convolved) {
    for (const Ring& ring : grid_out.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            Complex sum = 0;
            for (const Ring& other : grid.rings())
                for (std::int64_t j = 0; j < other.n_pixels; ++j) {
                    const std::int64_t pixel = other.first_pixel + j;
                    const Complex p(static_cast<Real>(map(0, pixel)), static_cast<Real>(map(1, pixel)));
                    sum += polarized_term(kernel, ring, longitude(ring, k), other, longitude(other, j), p);
                }
            convolved(0, ring.first_pixel + k) = static_cast<double>(sum.real());
            convolved(1, ring.first_pixel + k) = static_cast<double>(sum.imag());
        }
}

}  // namespace zonal::reference
