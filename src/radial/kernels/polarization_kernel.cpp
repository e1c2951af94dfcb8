#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "core/constants.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::radial {

/// P^(alpha, 4 - alpha)_n(1) = C(n + alpha, n).
inline double jacobi_at_one(int alpha, std::size_t n) {
    double value = 1;
    for (int k = 1; k <= alpha; ++k) value *= (static_cast<double>(n) + k) / k;
    return value;
}

/// R_n = P^(alpha, 4 - alpha)_n(cos theta) / P_n(1) at many colatitudes, some at a time.
class JacobiRecurrence {
  public:
    /// This many colatitudes at a time hide the latency of a step.
    static constexpr std::size_t block = 8;

    JacobiRecurrence(int alpha, std::size_t n_degrees) : n_degrees_(n_degrees) {
        // DLMF 18.9.1: a R_n = (b x + c) R_{n-1} - e R_{n-2}, R_n = P_n / P_n(1) so that a = b + c - e; then
        //   R_n = R_{n-1} + d_n,   d_n = (e d_{n-1} - b (1 - x) R_{n-1}) / a,
        // which loses nothing near theta = 0, where 1 - x = 2 sin^2(theta/2).
        for (std::size_t k = 1; k < n_degrees; ++k) {
            const double n = static_cast<double>(k), a = alpha, b = 4 - a;
            const double first = 2 * n * (n + 4) * (2 * n + 2) * (n + a) / n;
            const double last = 2 * (n + a - 1) * (n + b - 1) * (2 * n + 4);
            difference_factor_.push_back(k == 1 ? 0 : last * (n - 1) / (n - 1 + a) / first);
            value_factor_.push_back((2 * n + 3) * (2 * n + 4) * (2 * n + 2) / first);
        }
    }

    /// visit(n, r) for n = 0, 1, ...; r: [block], R_n at up to `block` colatitudes (rad), and 1 where there
    /// are fewer.
    template <class Visit>
    void run(std::span<const double> theta, Visit&& visit) const {
        theta.size() == 1 ? run_some<1>(theta, visit) : run_some<block>(theta, visit);
    }

  private:
    template <std::size_t width, class Visit>
    void run_some(std::span<const double> theta, Visit&& visit) const {
        double h[block] = {}, r[block], d[block] = {};
        for (std::size_t i = 0; i < theta.size(); ++i) {
            const double sine = std::sin(theta[i] / 2);
            h[i] = 2 * sine * sine;
        }
        std::fill_n(r, block, 1.0);
        if (n_degrees_ > 0) visit(0, r);
        for (std::size_t n = 1; n < n_degrees_; ++n) {
            const double of_difference = difference_factor_[n - 1], of_value = value_factor_[n - 1];
            for (std::size_t i = 0; i < width; ++i) {
                d[i] = of_difference * d[i] - of_value * h[i] * r[i];
                r[i] += d[i];
            }
            visit(n, r);
        }
    }

    std::size_t n_degrees_;
    std::vector<double> difference_factor_, value_factor_;
};

}  // namespace zonal::radial

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
            throw InvalidArgument(name, fmt::format("W_{} = {}: must be finite", l, window[l]));
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
        throw InvalidArgument("window_e, window_b", "are zero from l = 2 on: must have a value there");
}

PolarizationKernel PolarizationKernel::gaussian(double fwhm) {
    constexpr double least = 1e-5;
    fwhm = checked_width("fwhm", fwhm);
    if (fwhm < least) throw InvalidArgument(fmt::format("fwhm = {} rad: must be at least {}", fwhm, least));
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
    if (lmax < 0) throw InvalidArgument("lmax", lmax, "must be 0 or more");
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

namespace zonal::radial {

namespace {

using core::pi;

/// One of plus and minus between two angles.
struct Samples {
    std::vector<double> theta, weight;  ///< with 2 pi sin theta
    std::vector<double> value;          ///< K+ or K-
    std::vector<double> root;           ///< cos^4 or sin^4 of theta/2, which d^l_{2,+-2} have as a factor
};

/// degree: of what the kernel is multiplied with.
Samples sample(const RadialKernel& kernel, bool is_minus, double first, double last, double degree) {
    last = std::min(last, kernel.support());
    if (!(last > first)) return {};
    const RadialKernel::Implementation& implementation = kernel.implementation();
    std::vector<double> edges{first};
    for (const double edge : implementation.breaks())
        if (edge > first && edge < last) edges.push_back(edge);
    edges.push_back(last);
    auto [theta, weight] = quadrature_between(edges, implementation.bandwidth() + 1 + degree);
    Samples samples{std::move(theta), std::move(weight), {}, {}};
    samples.value = kernel.profile(samples.theta);
    for (std::size_t i = 0; i < samples.theta.size(); ++i) {
        const double half = samples.theta[i] / 2;
        samples.root.push_back(std::pow(is_minus ? std::sin(half) : std::cos(half), 4));
        samples.value[i] *= samples.root[i];
        samples.weight[i] *= 2 * pi * std::sin(samples.theta[i]);
    }
    return samples;
}

/// sum_i weight_i value_i d^l_{2,+-2}(theta_i), l = 0 .. lmax.
std::vector<double> moments(const Samples& samples, int alpha, std::int64_t lmax) {
    std::vector<double> result(static_cast<std::size_t>(lmax + 1));
    if (lmax < 2) return result;
    const JacobiRecurrence recurrence(alpha, result.size() - 2);
    for (std::size_t begin = 0; begin < samples.theta.size(); begin += JacobiRecurrence::block) {
        const auto count = std::min(JacobiRecurrence::block, samples.theta.size() - begin);
        double factor[JacobiRecurrence::block] = {};
        for (std::size_t i = 0; i < count; ++i)
            factor[i] = samples.weight[begin + i] * samples.value[begin + i] * samples.root[begin + i];
        recurrence.run({samples.theta.data() + begin, count}, [&](std::size_t n, const double* r) {
            double sum = 0;
            for (std::size_t i = 0; i < JacobiRecurrence::block; ++i) sum += factor[i] * r[i];
            result[n + 2] += sum;
        });
    }
    for (std::size_t l = 2; l < result.size(); ++l) result[l] *= jacobi_at_one(alpha, l - 2);
    return result;
}

}  // namespace

SpinWindows windows_between(const PolarizationKernel& kernel, double first, double last, std::int64_t lmax) {
    SpinWindows windows{std::vector<double>(static_cast<std::size_t>(lmax + 1)), {}};
    windows.curl = windows.gradient;
    const auto add = [&](const RadialKernel* part, bool is_minus) {
        if (part == nullptr) return;
        const auto samples = sample(*part, is_minus, first, last, static_cast<double>(lmax));
        const auto of_part = moments(samples, is_minus ? 4 : 0, lmax);
        for (std::size_t l = 0; l < of_part.size(); ++l) {
            windows.gradient[l] += of_part[l];
            windows.curl[l] += is_minus ? -of_part[l] : of_part[l];
        }
    };
    add(kernel.plus(), false);
    add(kernel.minus(), true);
    return windows;
}

// The d^l_{2,2} are orthogonal: sum (2l+1)/(4 pi) (W^E +- W^B)^2/4 = int K+-^2 over the sphere.
double power_between(const PolarizationKernel& kernel, double first, double last) {
    double sum = 0;
    for (const bool is_minus : {false, true}) {
        const auto* part = is_minus ? kernel.minus() : kernel.plus();
        if (part == nullptr) continue;
        const auto samples = sample(*part, is_minus, first, last, part->implementation().bandwidth() + 1);
        for (std::size_t i = 0; i < samples.theta.size(); ++i)
            sum += 2 * samples.weight[i] * samples.value[i] * samples.value[i];
    }
    return sum;
}

}  // namespace zonal::radial
