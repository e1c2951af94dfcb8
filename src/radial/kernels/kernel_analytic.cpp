#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/constants.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "radial/kernels/legendre_sum.hpp"
#include "zonal/error.hpp"
#include "zonal/wavelets.hpp"

namespace zonal {
namespace {

using core::pi;

/// Wider Gaussians are summed over l.
constexpr double largest_narrow_sigma = 0.1;
/// exp(-l(l+1) sigma^2 / 2) = 1e-18 at l = 9.1 / sigma.
constexpr double last_degree = 9.2;
/// exp(-this) = 7e-53 of the peak counts as nothing.
constexpr double largest_exponent = 120;

double sinc(double x) {
    return x == 0 ? 1 : std::sin(x) / x;
}

/// The heat kernel of the sphere at the time t = sigma^2 / 2. Mehler and Dirichlet's integral (DLMF 14.12.1),
///   P_l(cos theta) = sqrt(2)/pi int_theta^pi sin((l + 1/2) u) / sqrt(cos theta - cos u) du,
/// and Poisson's summation over l give
///   K = sqrt(2) e^{t/4} (4 pi t)^{-3/2} int_theta^pi sum_n (-1)^n (u + 2 pi n) e^{-(u + 2 pi n)^2 / 4t}
///       / sqrt(cos theta - cos u) du,
/// in which n = 0 alone matters for small t. With u^2 = theta^2 + 4 t s^2 the singularity goes:
///   K = e^{t/4 - theta^2/4t} / (4 pi t) * 2/sqrt(pi) int_0^inf e^{-s^2} f(s) ds,
///   f(s) = [sinc((u + theta)/2) sinc((u - theta)/2)]^{-1/2},   sinc x = sin x / x.
class Gaussian final : public RadialKernel::Implementation {
  public:
    explicit Gaussian(double fwhm)
        : Implementation(fmt::format("gaussian fwhm={:.6g} rad", fwhm), pi),
          sigma_(fwhm / std::sqrt(8 * std::numbers::ln2)) {
        for (std::size_t k = 0; k < n_nodes; ++k) {
            const double s = step * static_cast<double>(k);
            weight_[k] = (k == 0 ? 0.5 : 1.0) * step * std::exp(-s * s);
        }
        if (sigma_ <= largest_narrow_sigma) return;
        for (const double k_l : window(static_cast<std::int64_t>(last_degree / sigma_) + 2))
            series_.push_back((2 * static_cast<double>(series_.size()) + 1) / (4 * pi) * k_l);
    }

    void profile(std::span<const double> theta, std::span<double> value) const override {
        if (!series_.empty()) return radial::legendre_series(series_, theta, value);
        for (std::size_t i = 0; i < theta.size(); ++i) value[i] = narrow(theta[i]);
    }

    std::vector<double> window(std::int64_t lmax) const override {
        std::vector<double> result(static_cast<std::size_t>(lmax) + 1);
        for (std::size_t l = 0; l < result.size(); ++l) {
            const auto degree = static_cast<double>(l);
            result[l] = std::exp(-degree * (degree + 1) * sigma_ * sigma_ / 2);
        }
        return result;
    }

    double bandwidth() const override { return last_degree / sigma_; }

  private:
    // The trapezoidal rule of an even function that is smooth on the whole axis errs by exp(-(pi/step)^2) =
    // 7e-18, and its terms end at exp(-6.5^2) = 4e-19.
    static constexpr double step = 0.5;
    static constexpr std::size_t n_nodes = 14;

    double narrow(double theta) const {
        const double four_t = 2 * sigma_ * sigma_, exponent = theta * theta / four_t;
        if (exponent > largest_exponent) return 0;
        double integral = 0;
        for (std::size_t k = 0; k < n_nodes; ++k) {
            const double s = step * static_cast<double>(k);
            const double u = std::sqrt(theta * theta + four_t * s * s);
            integral += weight_[k] / std::sqrt(sinc((u + theta) / 2) * sinc((u - theta) / 2));
        }
        const double peak = std::numbers::inv_sqrtpi * 2 / (pi * four_t);
        return peak * std::exp(four_t / 16 - exponent) * integral;
    }

    double sigma_;
    std::array<double, n_nodes> weight_{};
    std::vector<double> series_;
};

}  // namespace

RadialKernel RadialKernel::gaussian(double fwhm) {
    if (!(fwhm > 0) || !std::isfinite(fwhm))
        throw InvalidArgument("fwhm", fmt::format("{} rad", fwhm), "must be positive");
    return RadialKernel(std::make_shared<Gaussian>(fwhm));
}

namespace {

class TopHat final : public RadialKernel::Implementation {
  public:
    explicit TopHat(double radius)
        : Implementation(fmt::format("top_hat radius={:.6g} rad", radius), radius),
          height_(2 * std::pow(std::sin(radius / 2), 2)) {}

    void profile(std::span<const double> /*theta*/, std::span<double> value) const override {
        std::fill(value.begin(), value.end(), 1 / (2 * std::numbers::pi * height_));
    }

    // K_l = (P_{l-1} - P_{l+1}) / ((2l+1) h) at cos theta = 1 - h, in the differences d_l = P_l - P_{l-1} in
    // which nothing cancels: (l+1) d_{l+1} = l d_l - (2l+1) h P_l.
    std::vector<double> window(std::int64_t lmax) const override {
        std::vector<double> result(static_cast<std::size_t>(lmax) + 1);
        double p = 1, d = 0;
        for (std::size_t l = 0; l < result.size(); ++l) {
            const auto degree = static_cast<double>(l), odd = 2 * degree + 1;
            const double next = (degree * d - odd * height_ * p) / (degree + 1);
            result[l] = -(d + next) / (odd * height_);
            d = next;
            p += d;
        }
        return result;
    }

    double bandwidth() const override { return 0; }

  private:
    double height_;  // 1 - cos radius
};

}  // namespace

RadialKernel RadialKernel::top_hat(double radius) {
    if (!(radius > 0 && radius <= std::numbers::pi))
        throw InvalidArgument("radius", fmt::format("{} rad", radius), "must be above 0 and at most pi");
    return RadialKernel(std::make_shared<TopHat>(radius));
}

namespace {

class MexicanHat final : public RadialKernel::Implementation {
  public:
    explicit MexicanHat(double radius)
        : Implementation(fmt::format("mexican_hat radius={:.6g} rad", radius), std::numbers::pi),
          radius_(radius) {}

    void profile(std::span<const double> theta, std::span<double> value) const override {
        const double r2 = radius_ * radius_;
        const double norm = std::sqrt(2 * std::numbers::pi * (1 + r2 / 2 + r2 * r2 / 4)) * radius_;
        for (std::size_t i = 0; i < theta.size(); ++i) {
            const double half_y = std::tan(theta[i] / 2), x = 4 * half_y * half_y / r2;
            const double area = 1 + half_y * half_y;
            // At the antipode infinity times zero.
            value[i] = x > largest_exponent ? 0 : (2 - x) * area * area * std::exp(-x / 2) / norm;
        }
    }

    /// Its window falls as l^2 exp(-l^2 R^2 / 2) for a narrow hat; the second term is for the widest, which
    /// the stereographic projection bends.
    double bandwidth() const override { return 10 / radius_ + 50; }

  private:
    static constexpr double largest_exponent = 1000;
    double radius_;
};

}  // namespace

RadialKernel mexican_hat(double radius) {
    if (!(radius > 0 && radius <= 1))
        throw InvalidArgument("radius", fmt::format("{} rad", radius), "must be above 0 and at most 1");
    return RadialKernel(std::make_shared<MexicanHat>(radius));
}

}  // namespace zonal
