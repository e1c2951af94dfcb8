#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "fft/complex_fft.hpp"
#include "radial/ring_fft_geometry.hpp"

namespace zonal::radial {
namespace {

/// |k_m| of the profile itself along a ring, sampled at n points, without the factor 1/n. (The pieces of a
/// table join with steps, whose modes decay slowly.)
std::vector<double> mode_sizes(const RadialKernel& kernel, const ChordOfLongitude& chord, std::int64_t n) {
    std::vector<double> theta;
    for (std::int64_t j = 0; j <= n / 2; ++j) {
        const double x = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
        const double angle = 2 * std::asin(std::min(1.0, std::sqrt(chord.chord_squared(x)) / 2));
        if (angle > kernel.support()) break;
        theta.push_back(angle);
    }
    const std::vector<double> values = kernel.profile(theta);
    std::vector<std::complex<double>> samples(n);
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(values.size()); ++j)
        samples[j] = samples[(n - j) % n] = values[j];
    fft::ComplexFft transform;
    transform.prepare(n);
    transform.forward(samples.data());
    std::vector<double> sizes(n / 2 + 1);
    for (std::int64_t m = 0; m <= n / 2; ++m) sizes[m] = std::abs(samples[m]);
    return sizes;
}

/// Smallest L with 2 sum_{m > L} sizes[m] <= bound.
std::int64_t last_mode(const std::vector<double>& sizes, double bound) {
    double tail = 0;
    auto last = static_cast<std::int64_t>(sizes.size()) - 1;
    for (; last > 0; --last) {
        tail += 2 * sizes[last];
        if (tail > bound) break;
    }
    return last;
}

}  // namespace

std::int64_t series_degree(const RadialKernel& kernel, double accuracy, std::int64_t highest) {
    const double apart = kernel.support() / 4;  // each ring from the equator
    const ChordOfLongitude middle = chord_of_longitude(Latitude{0, 1}, Latitude{0, 1});
    const ChordOfLongitude beside = chord_of_longitude(Latitude{std::sin(apart), std::cos(apart)},
                                                       Latitude{-std::sin(apart), std::cos(apart)});
    for (std::int64_t n = 64; n <= 16 * highest; n *= 2) {
        const std::vector<double> sizes = mode_sizes(kernel, middle, n);
        double all = -sizes[0];
        for (const double size : sizes) all += 2 * size;
        const std::int64_t first = last_mode(sizes, accuracy * all);
        if (first > n / 4) continue;
        const std::int64_t second = last_mode(mode_sizes(kernel, beside, n), accuracy * all);
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
