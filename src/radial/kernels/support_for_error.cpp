#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/constants.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "radial/kernels/legendre_sum.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/polarization_convolution.hpp"

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

    std::size_t n_values() const { return std::max<std::size_t>(1, c_l_.size()); }

  private:
    const RadialKernel& kernel_;
    const std::vector<double>& c_l_;
};

/// The same of a kernel of Q and U: windows of E, then of B.
class SpinRingPower {
  public:
    using Rings = std::vector<double>;

    SpinRingPower(const PolarizationKernel& kernel, const std::vector<double>& c_ee,
                  const std::vector<double>& c_bb)
        : kernel_(kernel), c_ee_(c_ee), c_bb_(c_bb) {}

    Rings between(double first, double last) const {
        if (c_ee_.empty()) return {radial::power_between(kernel_, first, last)};
        auto [rings, curl] = radial::windows_between(kernel_, first, last, std::ssize(c_ee_) - 1);
        rings.insert(rings.end(), curl.begin(), curl.end());
        return rings;
    }

    double variance(const Rings& rings) const {
        if (c_ee_.empty()) return rings[0];
        const std::size_t n = c_ee_.size();
        double sum = 0;
        for (std::size_t l = 0; l < n; ++l)
            sum += (2 * static_cast<double>(l) + 1) / (4 * std::numbers::pi) *
                   (c_ee_[l] * rings[l] * rings[l] + c_bb_[l] * rings[n + l] * rings[n + l]);
        return sum;
    }

    std::size_t n_values() const { return std::max<std::size_t>(1, 2 * c_ee_.size()); }

  private:
    const PolarizationKernel& kernel_;
    const std::vector<double>&c_ee_, &c_bb_;
};

RingPower::Rings sum(RingPower::Rings a, const RingPower::Rings& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}

void check_c_l(const std::vector<double>& c_l, const char* name = "c_l") {
    for (std::size_t l = 0; l < c_l.size(); ++l)
        if (!(c_l[l] >= 0) || !std::isfinite(c_l[l]))
            throw InvalidArgument(name,
                                  fmt::format("{} at l = {}: must be finite and not negative", c_l[l], l));
}

void check_spectra(const std::vector<double>& c_ee, const std::vector<double>& c_bb) {
    check_c_l(c_ee, "c_ee");
    check_c_l(c_bb, "c_bb");
    if (c_ee.size() != c_bb.size())
        throw InvalidArgument(
            "c_bb", fmt::format("{} values: must have as many as c_ee, {}", c_bb.size(), c_ee.size()));
}

void check_error(double error) {
    if (!(error > 0 && error < 1)) throw InvalidArgument("error", error, "must be above 0 and below 1");
}

[[noreturn]] void reject_empty(const std::string& kernel) {
    throw InvalidArgument(fmt::format("kernel {}: leaves nothing of a map of this c_l", kernel));
}

// Values below this share of the profile's peak count as its end.
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

/// The edges of K+, or of K- where it is alone; beside K+, K- has the same ones.
std::vector<double> edges_of(const PolarizationKernel& kernel) {
    constexpr double rounding = 1e-14;  // of the series that K+ is: below that it does not fade
    // K- / sin^4(theta/2) has its peak where K- has none: what of it counts may be far below that.
    const bool is_plus_alone = kernel.minus() == nullptr;
    const auto& part = is_plus_alone ? *kernel.plus() : *kernel.minus();
    return edges_of(part, is_plus_alone ? radial::find_extent(part, rounding).theta : kernel.support());
}

/// name: of the kernel.
template <class Power>
double find_support(const Power& power, const std::vector<double>& edges, double error,
                    const std::string& name) {
    constexpr double precision = 1e-4;
    std::vector<RingPower::Rings> rings;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) rings.push_back(power.between(edges[i], edges[i + 1]));
    auto all = rings[0];
    for (std::size_t i = 1; i < rings.size(); ++i) all = sum(std::move(all), rings[i]);
    const double allowed = error * error * power.variance(all);
    if (!(allowed > 0)) reject_empty(name);

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

template <class Power>
double find_truncation_error(const Power& power, std::vector<double> edges, double theta_cut,
                             const std::string& name) {
    if (theta_cut < edges.back())
        edges.insert(std::lower_bound(edges.begin(), edges.end(), theta_cut), theta_cut);
    std::vector<double> all(power.n_values()), beyond = all;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        if (edges[i] == edges[i + 1]) continue;
        const auto rings = power.between(edges[i], edges[i + 1]);
        all = sum(std::move(all), rings);
        if (edges[i] >= theta_cut) beyond = sum(std::move(beyond), rings);
    }
    if (!(power.variance(all) > 0)) reject_empty(name);
    return std::sqrt(power.variance(beyond) / power.variance(all));
}

/// All of the kernel, which ends at `support`, where theta is next to the antipode.
double away_from_antipode(double theta, double support, const Grid& grid) {
    constexpr double pixels_from_antipode = 3;
    const double pixel = std::sqrt(4 * core::pi / static_cast<double>(grid.n_pixels()));
    return core::pi - theta < pixels_from_antipode * pixel ? support : theta;
}

constexpr const char* spin_kernel_name = "of Q and U";

}  // namespace

double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error) {
    check_error(error);
    check_c_l(c_l);
    const auto edges = edges_of(kernel, radial::find_extent(kernel, nothing).theta);
    return find_support(RingPower(kernel, c_l), edges, error, kernel.name());
}

double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error,
                         const Grid& grid) {
    return away_from_antipode(support_for_error(kernel, c_l, error), kernel.support(), grid);
}

double support_for_error(const PolarizationKernel& kernel, const std::vector<double>& c_ee,
                         const std::vector<double>& c_bb, double error, const Grid& grid) {
    check_error(error);
    check_spectra(c_ee, c_bb);
    const SpinRingPower power(kernel, c_ee, c_bb);
    const double theta = find_support(power, edges_of(kernel), error, spin_kernel_name);
    return away_from_antipode(theta, kernel.support(), grid);
}

double truncation_error(const RadialKernel& kernel, const std::vector<double>& c_l, double theta_cut) {
    theta_cut = checked_width("theta_cut", theta_cut);
    check_c_l(c_l);
    const auto edges = edges_of(kernel, radial::find_extent(kernel, nothing).theta);
    return find_truncation_error(RingPower(kernel, c_l), edges, theta_cut, kernel.name());
}

double truncation_error(const PolarizationKernel& kernel, const std::vector<double>& c_ee,
                        const std::vector<double>& c_bb, double theta_cut) {
    theta_cut = checked_width("theta_cut", theta_cut);
    check_spectra(c_ee, c_bb);
    return find_truncation_error(SpinRingPower(kernel, c_ee, c_bb), edges_of(kernel), theta_cut,
                                 spin_kernel_name);
}

}  // namespace zonal
