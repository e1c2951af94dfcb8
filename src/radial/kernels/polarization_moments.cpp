#include "radial/kernels/polarization_moments.hpp"

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "radial/kernels/jacobi.hpp"
#include "radial/kernels/kernel_implementation.hpp"

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
