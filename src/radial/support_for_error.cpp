#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/constants.hpp"
#include "radial/kernel_extent.hpp"
#include "radial/kernel_implementation.hpp"
#include "radial/kernel_quadrature.hpp"
#include "radial/legendre_sum.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"

namespace zonal {
namespace {

/// What rings of the profile add to a convolved map: their windows, whose sums are weighed with C_l, or for
/// white noise their squares, as sum (2l+1)/(4 pi) K_l^2 = int K^2 over the sphere.
class RingPower {
  public:
    using Rings = std::vector<double>;

    RingPower(const RadialKernel& kernel, const std::vector<double>& c_l) : kernel_(kernel), c_l_(c_l) {}

    /// The rings from `first` to `last`, rad.
    Rings between(double first, double last) const {
        const bool white = c_l_.empty();
        const double bandwidth = kernel_.implementation().bandwidth() + 1;
        const double degree = white ? 2 * bandwidth : bandwidth + static_cast<double>(c_l_.size());
        const auto [theta, weight] = radial::quadrature_between({first, last}, degree);
        auto value = kernel_.profile(theta);
        for (std::size_t i = 0; i < value.size(); ++i)
            value[i] *= 2 * std::numbers::pi * weight[i] * std::sin(theta[i]) * (white ? value[i] : 1);
        if (white) {
            double sum = 0;
            for (const double v : value) sum += v;
            return {sum};
        }
        Rings moments(c_l_.size());
        radial::legendre_moments(theta, value, moments);
        return moments;
    }

    /// The variance that they make.
    double variance(const Rings& rings) const {
        if (c_l_.empty()) return rings[0];
        double sum = 0;
        for (std::size_t l = 0; l < c_l_.size(); ++l)
            sum += (2 * static_cast<double>(l) + 1) / (4 * std::numbers::pi) * c_l_[l] * rings[l] * rings[l];
        return sum;
    }

  private:
    const RadialKernel& kernel_;
    const std::vector<double>& c_l_;
};

RingPower::Rings sum(RingPower::Rings a, const RingPower::Rings& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}

void check_spectrum(const std::vector<double>& c_l) {
    for (std::size_t l = 0; l < c_l.size(); ++l)
        if (!(c_l[l] >= 0) || !std::isfinite(c_l[l]))
            throw InvalidArgument(
                fmt::format("c_l: {} at l = {}: must be finite and not negative", c_l[l], l));
}

[[noreturn]] void reject_empty(const RadialKernel& kernel) {
    throw InvalidArgument(fmt::format("kernel {}: nothing is left of a map of this c_l", kernel.name()));
}

// Of the profile's peak: what is smaller counts as the end.
constexpr double nothing = 1e-17;

/// The breaks up to theta_end with enough edges between them.
std::vector<double> edges_of(const RadialKernel& kernel, double theta_end) {
    constexpr double n_steps = 128;
    std::vector<double> edges{0};
    auto breaks = kernel.implementation().breaks();
    std::erase_if(breaks, [theta_end](double theta) { return theta == 0 || theta >= theta_end; });
    breaks.push_back(theta_end);
    for (const double next : breaks) {
        const double first = edges.back(), parts = std::ceil((next - first) / theta_end * n_steps);
        for (double i = 1; i < parts; ++i) edges.push_back(first + (next - first) * i / parts);
        edges.push_back(next);
    }
    return edges;
}

}  // namespace

double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error) {
    if (!(error > 0 && error < 1))
        throw InvalidArgument(fmt::format("error = {}: must be above 0 and below 1", error));
    check_spectrum(c_l);
    constexpr double precision = 1e-4;
    const RingPower power(kernel, c_l);
    const auto edges = edges_of(kernel, radial::find_extent(kernel, nothing).theta);
    std::vector<RingPower::Rings> rings;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) rings.push_back(power.between(edges[i], edges[i + 1]));
    auto all = rings[0];
    for (std::size_t i = 1; i < rings.size(); ++i) all = sum(std::move(all), rings[i]);
    const double allowed = error * error * power.variance(all);
    if (!(allowed > 0)) reject_empty(kernel);

    // From the end inwards until too much lies beyond, then by halves.
    auto beyond = RingPower::Rings(all.size());
    std::size_t i = rings.size();
    for (; i > 0; --i) {
        auto more = sum(beyond, rings[i - 1]);
        if (power.variance(more) > allowed) break;
        beyond = std::move(more);
    }
    if (i == 0) return edges[1];  // rounding, for an error of nearly 1
    double low = edges[i - 1], high = edges[i];
    while (high - low > precision * high) {
        const double middle = (low + high) / 2;
        auto more = sum(beyond, power.between(middle, high));
        if (power.variance(more) > allowed) {
            low = middle;
        } else {
            high = middle;
            beyond = std::move(more);
        }
    }
    return high;
}

double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error,
                         const Grid& grid) {
    constexpr double pixels_from_antipode = 3;
    const double theta = support_for_error(kernel, c_l, error);
    const double pixel = std::sqrt(4 * core::pi / static_cast<double>(grid.n_pixels()));
    return core::pi - theta < pixels_from_antipode * pixel ? kernel.support() : theta;
}

double truncation_error(const RadialKernel& kernel, const std::vector<double>& c_l, double theta_cut) {
    if (!(theta_cut > 0 && theta_cut <= std::numbers::pi))
        throw InvalidArgument(fmt::format("theta_cut = {} rad: must be above 0 and at most pi", theta_cut));
    check_spectrum(c_l);
    const RingPower power(kernel, c_l);
    auto edges = edges_of(kernel, radial::find_extent(kernel, nothing).theta);
    if (theta_cut < edges.back())
        edges.insert(std::lower_bound(edges.begin(), edges.end(), theta_cut), theta_cut);
    RingPower::Rings all(std::max<std::size_t>(1, c_l.size())), beyond = all;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        if (edges[i] == edges[i + 1]) continue;
        const auto rings = power.between(edges[i], edges[i + 1]);
        all = sum(std::move(all), rings);
        if (edges[i] >= theta_cut) beyond = sum(std::move(beyond), rings);
    }
    if (!(power.variance(all) > 0)) reject_empty(kernel);
    return std::sqrt(power.variance(beyond) / power.variance(all));
}

}  // namespace zonal
