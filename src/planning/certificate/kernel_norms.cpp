#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/constants.hpp"
#include "planning/certificate/disc_discrepancy.hpp"
#include "planning/certificate/healpix_row_sums.hpp"
#include "planning/certificate/kernel_samples.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal {
namespace {

using core::pi;
using planning::KernelSamples;

double area(double theta) {
    return 4 * pi * std::pow(std::sin(theta / 2), 2);
}

/// Row sums of narrow parts are computed on a grid of at most this nside, with the kernel stretched to the
/// same width in pixels.
constexpr std::int64_t largest_probe_nside = 32;
/// Finer grids have rows that the probe lacks: at nside 64 and 128 the largest row sums of 60 random cuts
/// were up to 1.36 times those at nside 32 (docs/decisions/certificate.md).
constexpr double probe_margin = 1.5;
/// Finer grids also have distances that the probe lacks: the closest pixels are 0.8059 pixels apart at nside
/// 32 and 0.7999 at nside 128. So a narrow part counts with the largest value that it has within this share
/// of each angle.
constexpr double probe_shift = 0.015;

}  // namespace

struct KernelNorms::Samples {
    Samples(const Grid& grid, KernelSamples kernel_samples)
        : discrepancy(grid), nside(grid.healpix_nside_of_rings()), kernel(std::move(kernel_samples)) {
        const auto n = kernel.theta.size();
        integral.resize(n);
        variation.resize(n);
        // Behind the last angle the profile is 0.
        variation[n - 1] = discrepancy.over(kernel.theta[n - 1]) * kernel.value[n - 1];
        for (std::size_t i = n - 1; i-- > 0;) {
            integral[i] = integral[i + 1] + ring(i, kernel.theta[i], kernel.value[i]);
            variation[i] = variation[i + 1] + step(i, kernel.theta[i], kernel.value[i]);
        }
    }

    double end() const { return kernel.theta.back(); }

    /// Returns int |K| dOmega from theta, where |K| is `value`, to the end of step i. It is a trapezium in
    /// theta, which is more than the integral where the profile is convex.
    double ring(std::size_t i, double theta, double value) const {
        const double next = kernel.theta[i + 1];
        return pi * (value * std::sin(theta) + kernel.value[i + 1] * std::sin(next)) * (next - theta);
    }

    /// Returns int over |dK-| + int under |dK+| from theta, where |K| is `value`, to the end of step i.
    double step(std::size_t i, double theta, double value) const {
        const double fall = value - kernel.value[i + 1], next = kernel.theta[i + 1];
        return fall > 0 ? discrepancy.over(theta, next) * fall : discrepancy.under(theta, next) * -fall;
    }

    /// Returns the step that holds theta, which is below the last angle.
    std::size_t step_of(double theta) const {
        const auto above = std::upper_bound(kernel.theta.begin(), kernel.theta.end(), theta);
        return static_cast<std::size_t>(above - kernel.theta.begin()) - 1;
    }

    double value_at(double theta) const {
        if (theta >= end()) return theta > end() ? 0 : kernel.value.back();
        const std::size_t i = step_of(theta);
        const double share = (theta - kernel.theta[i]) / (kernel.theta[i + 1] - kernel.theta[i]);
        return kernel.value[i] + share * (kernel.value[i + 1] - kernel.value[i]);
    }

    /// Returns the largest value between two angles: at them, or at a sample in between.
    double largest_between(double first, double last) const {
        double largest = std::max(value_at(first), value_at(last));
        for (std::size_t i = first < end() ? step_of(first) + 1 : kernel.theta.size();
             i < kernel.theta.size() && kernel.theta[i] < last; ++i)
            largest = std::max(largest, kernel.value[i]);
        return largest;
    }

    /// Returns what variation[0] is whichever way the kernel goes: its sign may be either.
    double largest_variation() const {
        double sum = discrepancy.over(end()) * kernel.value.back();
        for (std::size_t i = 0; i + 1 < kernel.theta.size(); ++i)
            sum += discrepancy.over(kernel.theta[i], kernel.theta[i + 1]) *
                   std::abs(kernel.value[i] - kernel.value[i + 1]);
        return sum;
    }

    /// Returns Koksma's bound of the row sums of the profile beyond theta.
    double by_discrepancy(double theta) const {
        if (theta >= end()) return kernel.remainder;
        const std::size_t i = step_of(theta);
        const double value = value_at(theta);
        return integral[i + 1] + ring(i, theta, value) + variation[i + 1] + step(i, theta, value) +
               discrepancy.under(theta) * value + kernel.remainder;
    }

    /// Returns the smallest angle from `theta` on whose by_discrepancy is at most `bound`.
    double where(double theta, double bound) const {
        double low = theta, high = end();
        for (int i = 0; i < 24; ++i) {
            const double middle = (low + high) / 2;
            (by_discrepancy(middle) <= bound ? high : low) = middle;
        }
        return high;
    }

    /// Returns the largest row sum of a narrow part, plus Koksma's bound of the little that lies further out.
    double by_rows(double theta, double bound) const {
        // Beyond these widths (pixels) row sums gain less than the margin costs, or take too long.
        constexpr double widest = 24, widest_with_margin = 12, rest = 1e-3;
        constexpr std::size_t n_values = 512;
        if (nside == 0 || theta >= end()) return bound;
        const double last = where(theta, rest * bound), pixel = discrepancy.pixel();
        const auto probe = std::min(nside, largest_probe_nside);
        if (last > (probe < nside ? widest_with_margin : widest) * pixel || last <= theta) return bound;
        const double stretch = static_cast<double>(nside) / static_cast<double>(probe);
        const double shift = probe < nside ? probe_shift : 0;
        const double from = theta / (1 + shift), to = std::min(pi / stretch, last * (1 + shift));
        planning::AnnulusProfile annulus{from * stretch, to * stretch, {}};
        const double step = (to - from) / (n_values - 1);
        for (std::size_t i = 0; i < n_values; ++i) {
            const double at = from + step * static_cast<double>(i);
            annulus.value.push_back(largest_between(std::max(theta, at * (1 - shift) - step),
                                                    std::max(theta, at * (1 + shift) + step)));
        }
        const double margin = probe < nside ? probe_margin : 1;
        const double sum = planning::largest_row_sum(probe, annulus) * pixel * pixel;
        return std::min(bound, margin * sum + by_discrepancy(last));
    }

    double beyond(double theta) const {
        const double bound = by_discrepancy(theta);
        // Row sums are worth their time only if the discrepancy is a large part of the bound.
        const double whole = theta < end() ? integral[step_of(theta)] : 0;
        return bound > 1.3 * whole ? by_rows(theta, bound) : bound;
    }

    const planning::DiscDiscrepancy discrepancy;
    const std::int64_t nside;
    const KernelSamples kernel;
    std::vector<double> integral, variation;  ///< from each angle to the last
};

KernelNorms::KernelNorms(const Grid& grid, const RadialKernel& kernel)
    : samples_(std::make_shared<const Samples>(grid, planning::sample(kernel))) {}
KernelNorms::KernelNorms(const Grid& grid, const PolarizationKernel& kernel)
    : samples_(std::make_shared<const Samples>(grid, planning::sample(kernel))) {}

double KernelNorms::whole() const {
    const auto& s = *samples_;
    return s.integral[0] + s.variation[0] + s.kernel.remainder;
}

double KernelNorms::beyond(double theta) const {
    if (!(theta >= 0 && theta <= pi))
        throw InvalidArgument("theta", fmt::format("{} rad", theta), "must be from 0 to pi");
    return samples_->beyond(theta);
}

double KernelNorms::between(double first, double last) const {
    if (last >= samples_->end()) return beyond(first);
    const auto& s = *samples_;
    const auto jumps = s.discrepancy.over(last) * s.value_at(last);
    return std::min(beyond(first), s.by_discrepancy(first) - s.by_discrepancy(last) + jumps +
                                       s.discrepancy.under(last) * s.value_at(last));
}

double KernelNorms::cut(double theta, double scale) const {
    return (scale == 1 ? 0 : std::abs(scale - 1) * whole()) + beyond(theta);
}

double KernelNorms::support_for(double norm) const {
    if (!(norm > 0)) throw InvalidArgument("norm", norm, "must be above 0");
    constexpr int attempts = 4;
    constexpr double precision = 1e-3;
    const auto& s = *samples_;
    double theta = s.where(0, norm);
    // Row sums are smaller than Koksma's bound by a factor that hardly depends on the angle.
    for (int i = 0; i < attempts; ++i) {
        const double factor = s.beyond(theta) / s.by_discrepancy(theta);
        const double closer = s.where(0, norm / factor);
        if (!(closer < theta * (1 - precision)) || s.beyond(closer) > norm) break;
        theta = closer;
    }
    return std::min(pi, theta);
}

double KernelNorms::table(double accuracy) const {
    constexpr double dropped = 0.01;
    const auto& s = *samples_;
    std::size_t last = s.kernel.value.size() - 1;
    while (last > 0 && s.kernel.value[last] <= dropped * accuracy * peak()) --last;
    const double end = s.kernel.theta[std::min(last + 2, s.kernel.value.size() - 1)];
    return accuracy * peak() * (area(end) + s.discrepancy.over(end)) + s.by_discrepancy(end);
}

// The largest error from each angle on falls in steps; a disc up to each step holds its area and what is over
// it.
double KernelNorms::errors(const std::vector<double>& theta, const std::vector<double>& error) const {
    constexpr double between = 1.2;  // angles, errors may be a little larger
    const auto& s = *samples_;
    double bound = 0, largest = 0;
    for (std::size_t i = theta.size(); i-- > 0;) {
        if (!(error[i] > largest)) continue;
        const double end = theta[std::min(i + 1, theta.size() - 1)];
        bound += (error[i] - largest) * (area(end) + s.discrepancy.over(end));
        largest = error[i];
    }
    return between * bound;
}

double KernelNorms::peak() const {
    return samples_->kernel.peak;
}

double KernelNorms::least_row_sum() const {
    const auto& s = *samples_;
    // Where K has both signs, |K| tells nothing of the sum of K, whose variation is the same.
    if (s.kernel.is_signed) return std::max(0.0, std::abs(s.kernel.integral) - s.largest_variation());
    const double pixel = s.discrepancy.pixel();
    // At least the pixel itself counts, as HEALPix weighs it.
    const double itself = s.nside > 0 ? pixel * pixel * s.kernel.value[0] : 0;
    return std::max({0.0, itself, s.integral[0] - s.variation[0]});
}

// This is the root of sum_p' (w K)^2 by an integral, or of the pixel's own term if that is more.
double KernelNorms::gain_of_noise() const {
    const auto& s = *samples_;
    const double area_of_pixel = s.discrepancy.pixel() * s.discrepancy.pixel();
    const auto density = [&](std::size_t i) {
        return s.kernel.value[i] * s.kernel.value[i] * std::sin(s.kernel.theta[i]);
    };
    double integral = 0;
    for (std::size_t i = 0; i + 1 < s.kernel.theta.size(); ++i)
        integral += pi * (density(i) + density(i + 1)) * (s.kernel.theta[i + 1] - s.kernel.theta[i]);
    const double itself = area_of_pixel * s.kernel.value[0];
    return std::max(itself, std::sqrt(area_of_pixel * integral));
}

double KernelNorms::pixels_in_beam() const {
    const double pixel = samples_->discrepancy.pixel();
    return whole() / (pixel * pixel * peak());
}

}  // namespace zonal
