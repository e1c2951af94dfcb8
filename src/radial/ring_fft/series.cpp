#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "fft/complex_fft.hpp"
#include "radial/ring_fft/geometry.hpp"

namespace zonal::radial {
namespace {

Latitude latitude_at(double angle) {
    const double theta = std::numbers::pi / 2 - angle;
    return {std::sin(angle), std::cos(angle), std::cos(theta / 2), std::sin(theta / 2)};
}

/// A kernel's profile, and what it is multiplied with between two rings: nothing, or the fourth power.
struct Factors {
    const RadialKernel* profile;
    bool is_minus, is_polarized;
};

/// |k_m| of the profile itself along a ring, sampled at n points, without the factor 1/n, of m or of -m,
/// whichever is larger. (The pieces of a table join with steps, whose modes decay slowly.)
std::vector<double> mode_sizes(const Factors& kernel, const PairGeometry& pair, std::int64_t n) {
    std::vector<double> theta;
    std::vector<std::complex<double>> factors;
    const Turn turn = kernel.is_minus ? pair.minus_turn() : pair.plus_turn();
    for (std::int64_t j = 0; j <= n / 2; ++j) {
        const double x = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
        const double angle = 2 * std::asin(std::min(1.0, std::sqrt(pair.chord.chord_squared(x)) / 2));
        if (angle > kernel.profile->support()) break;
        theta.push_back(angle);
        const auto power = turn.fourth_power(std::cos(x / 2), std::sin(x / 2));
        factors.push_back(kernel.is_polarized ? std::complex(power.even, power.odd) : 1.0);
    }
    const std::vector<double> values = kernel.profile->profile(theta);
    std::vector<std::complex<double>> samples(n);
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(values.size()); ++j) {
        samples[(n - j) % n] = values[j] * std::conj(factors[j]);
        samples[j] = values[j] * factors[j];
    }
    fft::ComplexFft transform;
    transform.prepare(n);
    transform.forward(samples.data());
    std::vector<double> sizes(n / 2 + 1);
    for (std::int64_t m = 0; m <= n / 2; ++m)
        sizes[m] = std::max(std::abs(samples[m]), std::abs(samples[(n - m) % n]));
    return sizes;
}

/// Of the kernel's parts, one by one.
using PartSizes = std::vector<std::vector<double>>;

PartSizes mode_sizes(const KernelProfiles& profiles, const PairGeometry& pair, std::int64_t n) {
    PartSizes sizes;
    for (const bool is_minus : {false, true}) {
        const RadialKernel* const profile = is_minus ? profiles.minus : profiles.plus;
        if (profile != nullptr)
            sizes.push_back(mode_sizes(Factors{profile, is_minus, profiles.is_polarized}, pair, n));
    }
    return sizes;
}

/// sum over all m of both signs
double sum_of(const PartSizes& parts) {
    double sum = 0;
    for (const std::vector<double>& sizes : parts) {
        sum -= sizes[0];
        for (const double size : sizes) sum += 2 * size;
    }
    return sum;
}

/// Smallest L with 2 sum_{m > L} sizes[m] <= bound for each part.
std::int64_t last_mode(const PartSizes& parts, double bound) {
    std::int64_t most = 0;
    for (const std::vector<double>& sizes : parts) {
        double tail = 0;
        auto last = static_cast<std::int64_t>(sizes.size()) - 1;
        for (; last > 0; --last) {
            tail += 2 * sizes[last];
            if (tail > bound) break;
        }
        most = std::max(most, last);
    }
    return most;
}

}  // namespace

std::int64_t series_degree(const KernelProfiles& profiles, double accuracy, std::int64_t highest) {
    const double support = std::max(profiles.plus != nullptr ? profiles.plus->support() : 0,
                                    profiles.minus != nullptr ? profiles.minus->support() : 0);
    const double apart = support / 4;  // each ring from the equator
    const PairGeometry middle = pair_geometry(latitude_at(0), latitude_at(0));
    const PairGeometry beside = pair_geometry(latitude_at(apart), latitude_at(-apart));
    for (std::int64_t n = 64; n <= 16 * highest; n *= 2) {
        const PartSizes sizes = mode_sizes(profiles, middle, n);
        const double bound = accuracy * sum_of(sizes);
        const std::int64_t first = last_mode(sizes, bound);
        if (first > n / 4) continue;
        const std::int64_t second = last_mode(mode_sizes(profiles, beside, n), bound);
        if (second > n / 4) continue;
        // On a ring of this radius modes end at L sin theta.
        const auto scaled =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(second) / std::cos(apart)));
        const std::int64_t degree = std::max(first, scaled);
        return degree <= highest ? degree : -1;
    }
    return -1;
}

}  // namespace zonal::radial
