#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/constants.hpp"
#include "radial/kernels/jacobi.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "radial/kernels/polarization_moments.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal {
namespace {

using core::pi;

/// sum_n c_n P^(alpha, beta)_n(cos theta) / P^(alpha, beta)_n(1), alpha + beta = 4.
class JacobiSeries final : public RadialKernel::Implementation {
  public:
    JacobiSeries(std::string name, int alpha, std::vector<double> coefficients)
        : Implementation(std::move(name), pi),
          recurrence_(alpha, coefficients.size()),
          coefficients_(std::move(coefficients)) {}

    void profile(std::span<const double> theta, std::span<double> value) const override {
        using radial::JacobiRecurrence;
        for (std::size_t begin = 0; begin < theta.size(); begin += JacobiRecurrence::block) {
            const auto count = std::min(JacobiRecurrence::block, theta.size() - begin);
            double sum[JacobiRecurrence::block] = {};
            recurrence_.run(theta.subspan(begin, count), [&](std::size_t n, const double* r) {
                for (std::size_t i = 0; i < JacobiRecurrence::block; ++i) sum[i] += coefficients_[n] * r[i];
            });
            std::copy_n(sum, count, value.begin() + static_cast<std::ptrdiff_t>(begin));
        }
    }

    double bandwidth() const override { return static_cast<double>(coefficients_.size() + 2); }

  private:
    radial::JacobiRecurrence recurrence_;
    std::vector<double> coefficients_;
};

/// (2l+1)/(4 pi) w_l P_n(1), n = l - 2, without the zeros at the end.
std::vector<double> series_of(const std::vector<double>& window, int alpha) {
    std::vector<double> coefficients;
    for (std::size_t l = 2; l < window.size(); ++l) {
        const double degree = static_cast<double>(l);
        coefficients.push_back((2 * degree + 1) / (4 * pi) * window[l] * radial::jacobi_at_one(alpha, l - 2));
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
    : windows_(std::make_shared<const SpinWindows>(SpinWindows{window_e, window_b})), support_(pi) {
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

PolarizationKernel PolarizationKernel::from_plus(const RadialKernel& plus) {
    PolarizationKernel kernel;
    kernel.plus_ = std::make_shared<const RadialKernel>(plus);
    kernel.support_ = plus.support();
    return kernel;
}

PolarizationKernel PolarizationKernel::truncated(double theta_cut) const {
    PolarizationKernel kernel;
    const auto cut = [&](const std::shared_ptr<const RadialKernel>& whole) {
        return whole ? std::make_shared<const RadialKernel>(whole->truncated(theta_cut)) : nullptr;
    };
    kernel.plus_ = cut(plus_);
    kernel.minus_ = cut(minus_);
    kernel.support_ = kernel.plus_ ? kernel.plus_->support() : kernel.minus_->support();
    if (theta_cut >= support_) kernel.windows_ = windows_;
    return kernel;
}

SpinWindows PolarizationKernel::windows(std::int64_t lmax) const {
    if (lmax < 0) throw InvalidArgument(fmt::format("lmax = {}: must be 0 or more", lmax));
    if (windows_ == nullptr) return radial::windows_between(*this, 0, support_, lmax);
    SpinWindows windows = *windows_;
    for (auto* window : {&windows.gradient, &windows.curl}) {
        window->resize(static_cast<std::size_t>(lmax + 1));
        std::fill_n(window->begin(), std::min<std::int64_t>(2, lmax + 1), 0.0);
    }
    return windows;
}

std::int64_t PolarizationKernel::band_limit() const {
    if (windows_ == nullptr) return -1;
    return std::ssize(windows_->gradient) > std::ssize(windows_->curl) ? std::ssize(windows_->gradient) - 1
                                                                       : std::ssize(windows_->curl) - 1;
}

}  // namespace zonal
