#include "points/sample_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fft/complex_fft.hpp"
#include "zonal/error.hpp"

namespace zonal::points {
namespace {

/// With less the window is so wide that it rounds away the digits, with more nothing is won.
constexpr double least_oversampling = 1.2, most_oversampling = 2.6;

/// The same on a GPU, where memory bounds the transforms; fitted to bench/cuda/points_cuda.cu on an H200.
double nanoseconds_on_cuda(const PointOptions& options, const Sampling& sampling, std::int64_t width) {
    constexpr double of_sample = 0.032, of_point = 0.036, of_product = 0.00032;
    const auto n = static_cast<double>(sampling.n), w = static_cast<double>(width);
    return of_sample * n * n / 2 + (of_point + of_product * w * w) * static_cast<double>(options.n_points);
}

/// The time of a function's transforms and of a point, in nanoseconds on one core with AVX-512; fitted to
/// bench/points.py.
double nanoseconds(const PointOptions& options, const Sampling& sampling, std::int64_t width) {
    if (options.device.kind() == Device::Kind::cuda) return nanoseconds_on_cuda(options, sampling, width);
    constexpr double of_flop = 0.045, of_sample = 0.5;
    const auto n = static_cast<double>(sampling.n), w = static_cast<double>(width);
    const double circles = static_cast<double>(options.mmax + 1) / 2 + n / 4;
    const double vectors = std::floor((w + 6) / 4);  // of four, aligned
    return circles * of_flop * fft::cost(sampling.n) + of_sample * n * n / 2 +
           (8 + 0.34 * w * vectors) * static_cast<double>(options.n_points);
}

bool is_good_length(std::int64_t n) {
    return n % 8 == 0 && fft::good_length(n) == n;
}

}  // namespace

std::vector<SampleChoice> sample_choices(const PointOptions& options) {
    struct Costed {
        SampleChoice choice;
        double cost;
    };
    std::vector<Costed> found;
    const std::int64_t frequencies = 2 * (options.lmax + 1);
    // A circle is at least twice as long as the window, whose rows beyond the poles are then copies of
    // others.
    const std::int64_t least = std::max<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(least_oversampling * static_cast<double>(frequencies))), 16);
    const std::int64_t most = std::max<std::int64_t>(
        static_cast<std::int64_t>(most_oversampling * static_cast<double>(frequencies)), 8 * max_width);
    // Kernels of GPUs take samples in pairs.
    const std::int64_t step = options.device.kind() == Device::Kind::cuda ? 2 : 1;
    for (std::int64_t n = (least + 7) / 8 * 8; n <= most; n += 8) {
        if (!is_good_length(n)) continue;
        const Sampling sampling{options.lmax, n};
        const std::int64_t least_width = std::max<std::int64_t>(
            2, width_for(options.error * largest_window_share, sampling.oversampling()));
        const std::int64_t needed = (least_width + step - 1) / step * step;
        // One more leaves more of the error to rounding.
        for (std::int64_t width = needed; width <= std::min(needed + step, max_width); width += step)
            if (2 * (width + 2) <= n)
                found.push_back({{sampling, width}, nanoseconds(options, sampling, width)});
    }
    std::sort(found.begin(), found.end(), [](const Costed& a, const Costed& b) { return a.cost < b.cost; });
    std::vector<SampleChoice> choices;
    choices.reserve(found.size());
    for (const Costed& each : found) choices.push_back(each.choice);
    return choices;
}

void check_named_error(double error) {
    if (!(error >= least_named_error && error <= largest_named_error))
        throw InvalidArgument("error", error,
                              fmt::format("must be from {} to {}", least_named_error, largest_named_error));
}

}  // namespace zonal::points
