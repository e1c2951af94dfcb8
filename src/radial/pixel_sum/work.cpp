#include "radial/pixel_sum/work.hpp"

#include <algorithm>

#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/weights.hpp"

namespace zonal::radial {
namespace {

/// Rings that are looked at.
constexpr std::int64_t n_outputs = 12, n_inputs = 6;

std::int64_t stride_of(std::int64_t n, std::int64_t n_samples) {
    return std::max<std::int64_t>(1, n / n_samples);
}

template <class T>
double values_per_tap(const PixelSumSchedule& schedule, std::int64_t output) {
    const SumRing& out = schedule.outputs()[output];
    const auto inputs = schedule.near(output, PairKind::square);
    const std::int64_t n_pixels = n_distinct(out), stride = stride_of(std::ssize(inputs), n_inputs);
    PairTableScratch<T> scratch;
    double values = 0, n_taps = 0;
    for (std::int64_t i = stride / 2; i < std::ssize(inputs); i += stride) {
        const PairTaps taps(out, schedule.inputs()[inputs[i]], schedule.kernel().limit());
        const auto table = make_pair_table(taps, schedule.kernel(), schedule.tolerance(), n_pixels, scratch);
        values += table.n_values;
        if (table.n_pieces == 0) values += static_cast<double>(n_pixels * taps.n_taps);
        n_taps += static_cast<double>(taps.n_taps);
    }
    return values / n_taps;
}

template <class T>
double of_square_rings(const PixelSumSchedule& schedule) {
    std::vector<std::int64_t> outputs;
    for (std::int64_t output = 0; output < schedule.outputs().size(); ++output) {
        const bool is_second = schedule.is_paired(output) && schedule.outputs()[output].mirror < output;
        if (!is_second && schedule.weights_inside(output, PairKind::square) > 0) outputs.push_back(output);
    }
    const std::int64_t stride = stride_of(std::ssize(outputs), n_outputs);
    double values = 0, per_tap = 0;
    for (std::int64_t i = 0; i < std::ssize(outputs); ++i) {
        if (i % stride == 0)
            per_tap = values_per_tap<T>(schedule, outputs[std::min(i + stride / 2, std::ssize(outputs) - 1)]);
        values += per_tap * schedule.weights_inside(outputs[i], PairKind::square);
    }
    return values;
}

}  // namespace

// Equal rings take half of their taps, which lie symmetrically; others one for each pixel, at most.
template <class T>
double count_weight_values(const PixelSumSchedule& schedule) {
    double values = of_square_rings<T>(schedule);
    for (std::int64_t output = 0; output < schedule.outputs().size(); ++output)
        values += 0.5 * schedule.weights_inside(output, PairKind::equal) +
                  static_cast<double>(schedule.outputs()[output].n_pixels) *
                      schedule.weights_inside(output, PairKind::general);
    return values;
}

template double count_weight_values<float>(const PixelSumSchedule&);
template double count_weight_values<double>(const PixelSumSchedule&);

}  // namespace zonal::radial
