#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "fft/complex_fft.hpp"
#include "radial/ring_fft_geometry.hpp"

namespace zonal::radial {
namespace {

struct Latitude {
    double cos_theta, sin_theta;
};

/// Smallest L <= n/4 with sum_{|m| > L} |k_m| <= accuracy sum |k_m| of k sampled at n points; -1: none.
std::int64_t last_mode(const ChordTable& table, const ChordOfLongitude& chord, double accuracy,
                       std::int64_t n) {
    const auto view = table.view<double>();
    std::vector<std::complex<double>> samples(n);
    for (std::int64_t j = 0; j <= n / 2; ++j) {
        const double x = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
        samples[j] = samples[(n - j) % n] = evaluate(view, chord.chord_squared(x));
    }
    fft::ComplexFft transform;
    transform.prepare(n);
    transform.forward(samples.data());
    double all = 0, tail = 0;
    for (const std::complex<double>& mode : samples) all += std::abs(mode);
    std::int64_t last = n / 2;
    for (; last > 0; --last) {
        tail += 2 * std::abs(samples[last]);
        if (tail > accuracy * all) break;
    }
    return last <= n / 4 ? last : -1;
}

}  // namespace

std::int64_t series_degree(const ChordTable& table, double accuracy, std::int64_t highest) {
    const double apart = table.theta_end() / 4;  // each ring from the equator
    const ChordOfLongitude middle = chord_of_longitude(Latitude{0, 1}, Latitude{0, 1});
    const ChordOfLongitude beside = chord_of_longitude(Latitude{std::sin(apart), std::cos(apart)},
                                                       Latitude{-std::sin(apart), std::cos(apart)});
    for (std::int64_t n = 64; n <= 16 * highest; n *= 2) {
        const std::int64_t first = last_mode(table, middle, accuracy, n);
        if (first < 0) continue;
        const std::int64_t second = last_mode(table, beside, accuracy, n);
        if (second < 0) continue;
        // On a ring of this radius modes end at L sin theta.
        const auto scaled =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(second) / std::cos(apart)));
        const std::int64_t degree = std::max(first, scaled);
        return degree <= highest ? degree : -1;
    }
    return -1;
}

}  // namespace zonal::radial
