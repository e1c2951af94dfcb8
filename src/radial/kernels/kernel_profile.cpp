#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "radial/kernels/kernel_implementation.hpp"
#include "radial/kernels/legendre_sum.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

double chord_squared(double theta) {
    const double chord = 2 * std::sin(theta / 2);
    return chord * chord;
}

/// Slope at an end from the two next intervals, of lengths h and h_next and secants s and s_next: that of the
/// parabola through three points, cut where it would spoil monotony (Moler, Numerical Computing, 3.6).
double end_slope(double h, double h_next, double s, double s_next) {
    const double slope = ((2 * h + h_next) * s - h * s_next) / (h + h_next);
    if (slope * s <= 0) return 0;
    if (s * s_next <= 0 && std::abs(slope) > 3 * std::abs(s)) return 3 * s;
    return slope;
}

/// Slopes dK/du at the nodes u: weighted harmonic means of the secants (Fritsch & Butland 1984), zero at
/// extrema.
std::vector<double> monotone_slopes(const std::vector<double>& u, const std::vector<double>& value) {
    const std::size_t n = u.size();
    std::vector<double> h(n - 1), secant(n - 1), slope(n);
    for (std::size_t i = 0; i + 1 < n; ++i) {
        h[i] = u[i + 1] - u[i];
        secant[i] = (value[i + 1] - value[i]) / h[i];
    }
    if (n == 2) return {secant[0], secant[0]};
    for (std::size_t i = 1; i + 1 < n; ++i) {
        if (secant[i - 1] * secant[i] <= 0) continue;
        const double left = h[i - 1] + 2 * h[i], right = 2 * h[i - 1] + h[i];
        slope[i] = (left + right) / (left / secant[i - 1] + right / secant[i]);
    }
    slope[0] = end_slope(h[0], h[1], secant[0], secant[1]);
    slope[n - 1] = end_slope(h[n - 2], h[n - 3], secant[n - 2], secant[n - 3]);
    return slope;
}

class Profile final : public RadialKernel::Implementation {
  public:
    Profile(std::vector<double> theta, std::vector<double> value)
        : Implementation(fmt::format("profile nodes={} radius={:.6g} rad", theta.size(), theta.back()),
                         theta.back()),
          theta_(std::move(theta)),
          value_(std::move(value)) {
        for (const double t : theta_) u_.push_back(chord_squared(t));
        slope_ = monotone_slopes(u_, value_);
    }

    void profile(std::span<const double> theta, std::span<double> value) const override {
        for (std::size_t i = 0; i < theta.size(); ++i) value[i] = interpolate(theta[i]);
    }

    std::vector<double> breaks() const override { return theta_; }
    /// A cubic in u is a polynomial of degree 3 in cos theta.
    double bandwidth() const override { return 3; }

  private:
    double interpolate(double theta) const {
        const auto above = std::upper_bound(theta_.begin() + 1, theta_.end() - 1, theta);
        const auto i = static_cast<std::size_t>(above - theta_.begin()) - 1;
        const double h = u_[i + 1] - u_[i], t = (chord_squared(theta) - u_[i]) / h, r = 1 - t;
        return r * r * ((1 + 2 * t) * value_[i] + t * h * slope_[i]) +
               t * t * ((1 + 2 * r) * value_[i + 1] - r * h * slope_[i + 1]);
    }

    std::vector<double> theta_, value_;
    std::vector<double> u_, slope_;  // chord^2 and dK/du at the nodes
};

}  // namespace

RadialKernel RadialKernel::from_profile(const std::vector<double>& theta, std::vector<double> value) {
    if (theta.size() != value.size() || theta.size() < 2)
        throw InvalidArgument("profile",
                              fmt::format("{} angles and {} values: must be of equal number, at least 2",
                                          theta.size(), value.size()));
    if (theta.front() != 0)
        throw InvalidArgument("profile", fmt::format("begins at theta = {} rad: must be 0", theta.front()));
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const bool ascends =
            i == 0 || (theta[i] > theta[i - 1] && chord_squared(theta[i]) > chord_squared(theta[i - 1]));
        if (!(theta[i] <= std::numbers::pi) || !ascends)
            throw InvalidArgument("profile",
                                  fmt::format("theta[{}] = {} rad: must ascend to pi at most", i, theta[i]));
        if (!std::isfinite(value[i]))
            throw InvalidArgument("profile", fmt::format("value[{}] = {}: must be finite", i, value[i]));
    }
    return RadialKernel(std::make_shared<Profile>(theta, std::move(value)));
}

namespace {

class Window final : public RadialKernel::Implementation {
  public:
    explicit Window(std::vector<double> window)
        : Implementation(fmt::format("window lmax={}", window.size() - 1), std::numbers::pi),
          window_(std::move(window)) {
        while (window_.size() > 1 && window_.back() == 0) window_.pop_back();
        series_.reserve(window_.size());
        for (const double k_l : window_)
            series_.push_back((2 * static_cast<double>(series_.size()) + 1) / (4 * std::numbers::pi) * k_l);
        drop_what_rounds_away();
    }

    void profile(std::span<const double> theta, std::span<double> value) const override {
        radial::legendre_series(series_, theta, value);
    }

    std::vector<double> window(std::int64_t lmax) const override {
        auto result = window_;
        result.resize(static_cast<std::size_t>(lmax) + 1);
        return result;
    }

    std::int64_t band_limit() const override { return static_cast<std::int64_t>(window_.size()) - 1; }
    bool is_window() const override { return true; }
    double bandwidth() const override { return static_cast<double>(series_.size() - 1); }

  private:
    /// The tails of many windows, exp(-l^2), are long and add nothing.
    void drop_what_rounds_away() {
        constexpr double nothing = 1e-20;
        double all = 0, dropped = 0;
        for (const double term : series_) all += std::abs(term);
        while (series_.size() > 1 && dropped + std::abs(series_.back()) <= nothing * all) {
            dropped += std::abs(series_.back());
            series_.pop_back();
        }
    }

    std::vector<double> window_;
    std::vector<double> series_;  // (2l+1) / (4 pi) K_l
};

}  // namespace

RadialKernel RadialKernel::from_window(std::vector<double> window) {
    if (window.empty()) throw InvalidArgument("window", "must have a value for l = 0 at least");
    for (std::size_t l = 0; l < window.size(); ++l)
        if (!std::isfinite(window[l]))
            throw InvalidArgument("window", fmt::format("{} at l = {}: must be finite", window[l], l));
    return RadialKernel(std::make_shared<Window>(std::move(window)));
}

}  // namespace zonal
