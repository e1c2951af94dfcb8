#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/constants.hpp"
#include "radial/kernel_implementation.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal {
namespace {

using core::pi;

/// sum_n c_n P^(alpha, beta)_n(cos theta) / P^(alpha, beta)_n(1), alpha + beta = 4.
class JacobiSeries final : public RadialKernel::Implementation {
  public:
    JacobiSeries(std::string name, int alpha, std::vector<double> coefficients)
        : Implementation(std::move(name), pi), alpha_(alpha), coefficients_(std::move(coefficients)) {
        // DLMF 18.9.1: a R_n = (b x + c) R_{n-1} - e R_{n-2}, R_n = P_n / P_n(1) so that a = b + c - e; then
        //   R_n = R_{n-1} + d_n,   d_n = (e d_{n-1} - b (1 - x) R_{n-1}) / a,
        // which loses nothing near theta = 0, where 1 - x = 2 sin^2(theta/2).
        for (std::size_t k = 1; k < coefficients_.size(); ++k) {
            const double n = static_cast<double>(k), a = alpha_, b = 4 - a;
            const double first = 2 * n * (n + 4) * (2 * n + 2) * (n + a) / n;
            const double last = 2 * (n + a - 1) * (n + b - 1) * (2 * n + 4);
            difference_factor_.push_back(k == 1 ? 0 : last * (n - 1) / (n - 1 + a) / first);
            value_factor_.push_back((2 * n + 3) * (2 * n + 4) * (2 * n + 2) / first);
        }
    }

    void profile(std::span<const double> theta, std::span<double> value) const override {
        for (std::size_t i = 0; i < theta.size(); ++i) value[i] = at(theta[i]);
    }

    double bandwidth() const override { return static_cast<double>(coefficients_.size() + 2); }

  private:
    double at(double theta) const {
        const double sine = std::sin(theta / 2), h = 2 * sine * sine;
        double r = 1, d = 0, sum = coefficients_[0];
        for (std::size_t k = 1; k < coefficients_.size(); ++k) {
            d = difference_factor_[k - 1] * d - value_factor_[k - 1] * h * r;
            r += d;
            sum += coefficients_[k] * r;
        }
        return sum;
    }

    int alpha_;
    std::vector<double> coefficients_, difference_factor_, value_factor_;
};

/// (2l+1)/(4 pi) w_l P_n(1), n = l - 2, without the zeros at the end; P^(alpha, .)_n(1) = C(n + alpha, n).
std::vector<double> series_of(const std::vector<double>& window, int alpha) {
    std::vector<double> coefficients;
    for (std::size_t l = 2; l < window.size(); ++l) {
        const double degree = static_cast<double>(l);
        double at_one = 1;
        for (int k = 1; k <= alpha; ++k) at_one *= (degree - 2 + k) / k;
        coefficients.push_back((2 * degree + 1) / (4 * pi) * window[l] * at_one);
    }
    while (!coefficients.empty() && coefficients.back() == 0) coefficients.pop_back();
    return coefficients;
}

// d^l_{2,2} = cos^4(theta/2) P^(0,4)_{l-2}(cos theta), d^l_{2,-2} = sin^4(theta/2) P^(4,0)_{l-2}(cos theta).
std::shared_ptr<const RadialKernel> kernel_of(const char* name, int alpha,
                                              const std::vector<double>& window) {
    std::vector<double> coefficients = series_of(window, alpha);
    if (coefficients.empty()) return nullptr;
    return std::make_shared<const RadialKernel>(
        std::make_shared<const JacobiSeries>(name, alpha, std::move(coefficients)));
}

double value_at(const std::vector<double>& window, std::size_t l) {
    return l < window.size() ? window[l] : 0;
}

void require_finite(const char* name, const std::vector<double>& window) {
    for (std::size_t l = 0; l < window.size(); ++l)
        if (!std::isfinite(window[l]))
            throw InvalidArgument(fmt::format("{}: W_{} = {}: must be finite", name, l, window[l]));
}

}  // namespace

PolarizationKernel::PolarizationKernel(const std::vector<double>& window_e,
                                       const std::vector<double>& window_b)
    : support_(pi) {
    require_finite("window_e", window_e);
    require_finite("window_b", window_b);
    std::vector<double> sum(std::max(window_e.size(), window_b.size())), difference(sum.size());
    for (std::size_t l = 0; l < sum.size(); ++l) {
        sum[l] = 0.5 * (value_at(window_e, l) + value_at(window_b, l));
        difference[l] = 0.5 * (value_at(window_e, l) - value_at(window_b, l));
    }
    plus_ = kernel_of("polarization plus", 0, sum);
    minus_ = kernel_of("polarization minus", 4, difference);
    if (!plus_ && !minus_)
        throw InvalidArgument("window_e, window_b: are zero from l = 2 on: must have a value there");
}

PolarizationKernel PolarizationKernel::gaussian(double fwhm) {
    constexpr double least = 1e-5;
    if (!(fwhm >= least && fwhm <= 2 * pi))
        throw InvalidArgument(fmt::format("fwhm = {} rad: must be from {} to 2 pi", fwhm, least));
    const double sigma = fwhm / std::sqrt(8 * std::numbers::ln2);
    // exp(-l(l+1) sigma^2 / 2) = 1e-18 at l = 9.1 / sigma
    std::vector<double> window(static_cast<std::size_t>(9.2 / sigma) + 4);
    for (std::size_t l = 0; l < window.size(); ++l) {
        const double degree = static_cast<double>(l);
        window[l] = std::exp(-(degree * (degree + 1) - 4) * sigma * sigma / 2);
    }
    return {window, window};
}

PolarizationKernel PolarizationKernel::truncated(double theta_cut) const {
    PolarizationKernel kernel;
    const auto cut = [&](const std::shared_ptr<const RadialKernel>& whole) {
        return whole ? std::make_shared<const RadialKernel>(whole->truncated(theta_cut)) : nullptr;
    };
    kernel.plus_ = cut(plus_);
    kernel.minus_ = cut(minus_);
    kernel.support_ = kernel.plus_ ? kernel.plus_->support() : kernel.minus_->support();
    return kernel;
}

}  // namespace zonal
