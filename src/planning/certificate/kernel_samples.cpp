#include "planning/certificate/kernel_samples.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/constants.hpp"
#include "radial/kernels/kernel_implementation.hpp"

namespace zonal::planning {
namespace {

using core::pi;
using Magnitude = std::function<std::vector<double>(const std::vector<double>&)>;

/// A function to be sampled: where it ends, how fast it oscillates and where it has steps or kinks.
struct Profile {
    Magnitude magnitude;
    double support = 0, bandwidth = 0;
    std::vector<double> breaks{};
};

/// Returns even angles, for wide and oscillating kernels, and angles of every order of magnitude, for narrow
/// ones.
std::vector<double> angles(double end, std::int64_t n_even, int n_per_octave, int n_octaves) {
    std::vector<double> theta{0};
    for (std::int64_t i = 1; i <= n_even; ++i)
        theta.push_back(std::min(end, end * static_cast<double>(i) / static_cast<double>(n_even)));
    for (int i = 1; i <= n_per_octave * n_octaves; ++i)
        theta.push_back(end * std::exp2(-static_cast<double>(i) / n_per_octave));
    return theta;
}

/// Steps and kinks, the middles between them, and both sides of each: a table may hold features that even
/// angles miss.
void add_breaks(const Profile& profile, double end, std::vector<double>& theta) {
    double before = 0;
    for (const double edge : profile.breaks) {
        if (edge > end) break;
        theta.insert(theta.end(), {(before + edge) / 2, edge, std::min(end, std::nextafter(edge, 4.0))});
        before = edge;
    }
}

void finish(std::vector<double>& theta) {
    std::sort(theta.begin(), theta.end());
    theta.erase(std::unique(theta.begin(), theta.end()), theta.end());
}

/// Returns int g dOmega of values that need not be smooth: each step counts with the larger value at its
/// ends.
double integral_from(std::size_t first, const std::vector<double>& theta, const std::vector<double>& value) {
    double sum = 0;
    for (std::size_t i = first; i + 1 < theta.size(); ++i)
        sum += std::max(value[i], value[i + 1]) * 2 * pi * (std::cos(theta[i]) - std::cos(theta[i + 1]));
    return sum;
}

KernelSamples sample(const Profile& profile) {
    constexpr double nothing = 1e-15;  // of the peak: profiles below this are rounding
    KernelSamples samples;
    auto coarse = angles(profile.support, 512, 16, 24);
    add_breaks(profile, profile.support, coarse);
    finish(coarse);
    const auto size = profile.magnitude(coarse);
    samples.peak = *std::max_element(size.begin(), size.end());
    std::size_t last = coarse.size() - 1;
    while (last > 0 && size[last] <= nothing * samples.peak) --last;
    // Goes two angles further, because a zero of an oscillation may hide the last value that counts.
    last = std::min(last + 2, coarse.size() - 1);
    samples.remainder = integral_from(last, coarse, size);
    const double end = coarse[last];
    // This takes six samples of each oscillation of P_l; a trapezium then errs by a few per cent of it.
    constexpr double least = 1024, most = 1 << 16, per_radian = 1;
    const double n_even = std::clamp(std::ceil(per_radian * profile.bandwidth * end), least, most);
    samples.theta = angles(end, static_cast<std::int64_t>(n_even), 32, 12);
    add_breaks(profile, end, samples.theta);
    finish(samples.theta);
    samples.value = profile.magnitude(samples.theta);
    return samples;
}

}  // namespace

KernelSamples sample(const RadialKernel& kernel) {
    const auto& implementation = kernel.implementation();
    bool is_signed = false;
    auto samples = sample({[&](const std::vector<double>& theta) {
                               auto value = kernel.profile(theta);
                               for (double& one : value) {
                                   is_signed = is_signed || one < 0;
                                   one = std::abs(one);
                               }
                               return value;
                           },
                           kernel.support(), implementation.bandwidth(), implementation.breaks()});
    samples.is_signed = is_signed;
    samples.integral = is_signed ? kernel.window(0)[0] : 0;
    return samples;
}

KernelSamples sample(const PolarizationKernel& kernel) {
    Profile profile;
    for (const auto* part : {kernel.plus(), kernel.minus()}) {
        if (part == nullptr) continue;
        profile.support = std::max(profile.support, part->support());
        profile.bandwidth = std::max(profile.bandwidth, part->implementation().bandwidth());
        const auto breaks = part->implementation().breaks();
        profile.breaks.insert(profile.breaks.end(), breaks.begin(), breaks.end());
    }
    std::sort(profile.breaks.begin(), profile.breaks.end());
    // The parts are K+ / cos^4(theta/2) and K- / sin^4(theta/2).
    profile.magnitude = [&](const std::vector<double>& theta) {
        std::vector<double> sum(theta.size());
        const auto add = [&](const RadialKernel* part, double phase) {
            if (part == nullptr) return;
            const auto smooth = part->profile(theta);
            for (std::size_t i = 0; i < theta.size(); ++i)
                sum[i] += std::abs(smooth[i]) * std::pow(std::cos(theta[i] / 2 - phase), 4);
        };
        add(kernel.plus(), 0);
        add(kernel.minus(), pi / 2);
        return sum;
    };
    return sample(profile);
}

}  // namespace zonal::planning
