
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "grids/latitude_nodes.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/wavelets.hpp"

namespace zonal::radial {

/// A smooth step: 1 at t <= 0, 0 at t >= 1, between them int_t^1 density / int_0^1 density. The density is
/// positive in (0, 1) and vanishes at both ends with all its derivatives.
class SmoothStep {
  public:
    explicit SmoothStep(std::function<double(double)> density);
    /// The step and 1 minus it, each to full relative accuracy where it is the smaller one.
    struct Value {
        double step, rest;
    };
    Value operator()(double t) const;

  private:
    double integral(double first, double last) const;

    std::function<double(double)> density_;
    std::vector<double> node_, weight_;  // of a Gauss rule on [-1, 1]
    double lower_ = 0, upper_ = 0;       // integrals over either half
};

/// Throws InvalidArgument, with the name, unless 1 < base <= 64 and least <= lmax <= 2^24.
void check_wavelets(double base, const char* name, std::int64_t lmax, std::int64_t least);

namespace {

/// Smooth but not analytic at its ends, the density needs more nodes than its shape suggests; 96 on half of
/// it leave less than rounding.
constexpr std::int64_t norm_nodes = 96;

}  // namespace

SmoothStep::SmoothStep(std::function<double(double)> density) : density_(std::move(density)) {
    for (const auto& node : grids::gauss_legendre_nodes(norm_nodes)) {
        for (const double x : {node.cos_theta, -node.cos_theta}) {
            node_.push_back(x);
            weight_.push_back(node.weight);
        }
    }
    lower_ = integral(0, 0.5);
    upper_ = integral(0.5, 1);
}

double SmoothStep::integral(double first, double last) const {
    const double half = (last - first) / 2, middle = (first + last) / 2;
    double sum = 0;
    for (std::size_t i = 0; i < node_.size(); ++i) sum += weight_[i] * density_(middle + half * node_[i]);
    return half * sum;
}

SmoothStep::Value SmoothStep::operator()(double t) const {
    if (t <= 0) return {1, 0};
    if (t >= 1) return {0, 1};
    const double whole = lower_ + upper_;
    const double below = t < 0.5 ? integral(0, t) : lower_ + integral(0.5, t);
    const double above = t < 0.5 ? integral(t, 0.5) + upper_ : integral(t, 1);
    return {above / whole, below / whole};
}

void check_wavelets(double base, const char* name, std::int64_t lmax, std::int64_t least) {
    constexpr double largest_base = 64;
    constexpr std::int64_t largest_lmax = std::int64_t{1} << 24;
    if (!(base > 1 && base <= largest_base))
        throw InvalidArgument(name, base, "must be above 1 and at most 64");
    if (lmax < least || lmax > largest_lmax)
        throw InvalidArgument("lmax", lmax, fmt::format("must be from {} to 2^24", least));
}

}  // namespace zonal::radial

namespace zonal {

// Marinucci et al. (2008), section 2: with phi the step from 1 at 1/B to 0 at 1 whose derivative is
// exp(-1 / (1 - u^2)), u in [-1, 1],
//   b^2(x) = phi(x / B) - phi(x),
// where one of the two is always 0 or 1.
WaveletWindows needlet_windows(double base, std::int64_t lmax) {
    radial::check_wavelets(base, "base", lmax, 0);
    const radial::SmoothStep step([](double t) {
        const double u = 2 * t - 1;
        return std::exp(-1 / (1 - u * u));
    });
    WaveletWindows result;
    result.scaling.assign(static_cast<std::size_t>(lmax) + 1, 0.0);
    result.scaling[0] = 1;
    // One step lies between base^(j-1) and base^j: what it leaves of scale j, scale j - 1 takes.
    for (double centre = 1; centre / base < static_cast<double>(lmax); centre *= base) {
        std::vector<double> window(result.scaling.size());
        const auto last = std::min(std::ceil(centre * base), static_cast<double>(lmax));
        for (auto l = static_cast<std::size_t>(centre / base) + 1; static_cast<double>(l) <= last; ++l) {
            const double x = static_cast<double>(l) / centre;
            window[l] =
                std::sqrt(x < 1 ? step((x * base - 1) / (base - 1)).rest : step((x - 1) / (base - 1)).step);
        }
        result.wavelets.push_back(std::move(window));
    }
    return result;
}

// Leistedt et al. (2013), section 2.2: with k the step from 1 at 1/lambda to 0 at 1,
//   k(t) = int_t^1 s^2(x) dx / x / int_{1/lambda}^1,  s(x) = exp(-1 / (1 - u^2)),
//   u = 2 lambda / (lambda - 1) (x - 1/lambda) - 1,
//   kappa^2(t) = k(t / lambda) - k(t),   eta^2(t) = k(t).
WaveletWindows scale_discretised_windows(double dilation, int j_min, std::int64_t lmax) {
    radial::check_wavelets(dilation, "dilation", lmax, 1);
    const double low = 1 / dilation, width = 1 - low;
    const radial::SmoothStep step([low, width](double t) {
        const double u = 2 * t - 1;
        return std::exp(-2 / (1 - u * u)) / (low + width * t);
    });
    const auto k = [&](double t) { return step((t - low) / width); };
    int j_max = 0;
    double largest = 1;
    for (; largest < static_cast<double>(lmax); largest *= dilation) ++j_max;
    if (j_min < 0 || j_min > j_max)
        throw InvalidArgument(
            "j_min", j_min,
            fmt::format("must be from 0 to {} for dilation {} and lmax = {}", j_max, dilation, lmax));
    WaveletWindows result;
    double centre = std::pow(dilation, j_min);
    for (std::int64_t l = 0; l <= lmax; ++l)
        result.scaling.push_back(std::sqrt(k(static_cast<double>(l) / centre).step));
    for (int j = j_min; j <= j_max; ++j, centre *= dilation) {
        auto& window = result.wavelets.emplace_back();
        for (std::int64_t l = 0; l <= lmax; ++l) {
            const double t = static_cast<double>(l) / centre;
            window.push_back(std::sqrt(t < 1 ? k(t).rest : k(t / dilation).step));
        }
    }
    return result;
}

namespace {

using Complex = std::complex<double>;

template <class Alm, class Scales>
void check(const AlmLayout& layout, const std::vector<std::vector<double>>& windows, const Alm& alm,
           const Scales& scales) {
    sht::check_extent("alm", alm, 0, "coefficient", layout.size());
    sht::check_extent("scales", scales, 0, "scale", std::ssize(windows));
    sht::check_extent("scales", scales, 1, "coefficient", layout.size());
    sht::check_contiguous("alm", alm);
    sht::check_contiguous("scales", scales);
}

}  // namespace

void wavelet_transform(const AlmLayout& layout, const std::vector<std::vector<double>>& windows,
                       View<const Complex, 1> alm, View<Complex, 2> scales) {
    check(layout, windows, alm, scales);
    for (std::int64_t scale = 0; scale < scales.extent(0); ++scale) {
        copy_alm<double>(layout, alm, layout, scales[scale]);
        multiply_alm<double>(layout, windows[static_cast<std::size_t>(scale)], scales[scale]);
    }
}

void inverse_wavelet_transform(const AlmLayout& layout, const std::vector<std::vector<double>>& windows,
                               View<const Complex, 2> scales, View<Complex, 1> alm) {
    check(layout, windows, alm, scales);
    core::for_pieces(alm.size(), 1, [&](std::int64_t first, std::int64_t last) {
        std::fill(alm.data() + first, alm.data() + last, Complex(0));
    });
    Array<Complex, 1> part({layout.size()});
    for (std::int64_t scale = 0; scale < scales.extent(0); ++scale) {
        copy_alm<double>(layout, scales[scale], layout, part.view());
        multiply_alm<double>(layout, windows[static_cast<std::size_t>(scale)], part.view());
        core::for_pieces(part.size(), 1, [&](std::int64_t first, std::int64_t last) {
            for (auto i = first; i < last; ++i) alm[i] += part(i);
        });
    }
}

}  // namespace zonal
