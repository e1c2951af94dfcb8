#include "radial/pixel_sum/filters.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "radial/pixel_sum/weights.hpp"

namespace zonal::radial {
namespace {

/// d phi of tap j in pixels is j, or j + 1/2 where the rings lie half a pixel apart.
double first_distance(int half_out, int half_in) {
    return half_out == half_in ? 0 : 0.5;
}

/// Number of taps of a pair of rings whose largest difference of longitudes inside is half_width_pixels.
std::int64_t n_taps_of(double half_width_pixels, double first, std::int64_t n_pixels) {
    const double width = std::min(half_width_pixels, 0.5 * static_cast<double>(n_pixels));
    return width < first ? 0 : static_cast<std::int64_t>(width - first) + 1;
}

}  // namespace

Aligned align(double reference_phi, const SumRing& ring) {
    const std::int64_t n = ring.n_pixels;
    const std::int64_t shift = half_pixels_between(reference_phi, ring.phi_0, n).shift;
    const int half = static_cast<int>(((shift % 2) + 2) % 2);
    const std::int64_t rotation = (half - shift) / 2 % n;
    return {half, rotation < 0 ? rotation + n : rotation};
}

std::vector<FilterBlock> filter_blocks(const PixelSumSchedule& schedule, const RingBand& band) {
    std::vector<FilterBlock> blocks;
    for (const int half : {0, 1}) {
        std::int64_t size = filter_rings;
        for (const std::int64_t output : band.outputs) {
            if (align(schedule.reference_phi(output), schedule.outputs()[output]).half != half) continue;
            if (size == filter_rings) {
                blocks.push_back({half, {}});
                size = 0;
            }
            blocks.back().outputs.push_back(output);
            ++size;
        }
    }
    return blocks;
}

template <class T>
FilterTaps append_taps(const PixelSumSchedule& schedule, const SumKernel& kernel, const FilterBlock& block,
                       std::int64_t input, int half_in, core::AlignedVector<T>& weights) {
    const SumRing& in = schedule.inputs()[input];
    const double pixel = 2 * std::numbers::pi / static_cast<double>(in.n_pixels);
    const double first = first_distance(block.half, half_in),
                 opposite = 0.5 * static_cast<double>(in.n_pixels);
    FilterTaps taps{0, 0, 0, static_cast<std::int64_t>(weights.size())};
    if (block.half < half_in) taps.left = -1;
    if (block.half > half_in) taps.right = 1;
    for (std::size_t r = 0; r < block.outputs.size(); ++r) {
        const PairGeometry pair = pair_geometry(schedule.outputs()[block.outputs[r]], in);
        const double longitude = half_width(pair.chord, kernel.limit());
        // pi / pixel may be rounded to less than half of the ring, and the antipodal pixel would be lost.
        const double width = longitude >= std::numbers::pi ? opposite : longitude / pixel;
        const std::int64_t n_taps = width < 0 ? 0 : n_taps_of(width, first, in.n_pixels);
        if (n_taps > taps.n_taps) {
            taps.n_taps = n_taps;
            weights.resize(static_cast<std::size_t>(taps.first_weight + n_taps * filter_rings), T(0));
        }
        const auto distance = [&](std::int64_t j) { return first + static_cast<double>(j); };
        visit_values(
            kernel, pair, n_taps, [&](std::int64_t j) { return distance(j) * pixel; },
            [&](std::int64_t j, double value) {
                const double share = distance(j) == 0 || distance(j) == opposite ? 0.5 : 1;
                weights[static_cast<std::size_t>(taps.first_weight + j * filter_rings) + r] =
                    static_cast<T>(share * value);
            });
    }
    return taps;
}

template FilterTaps append_taps(const PixelSumSchedule&, const SumKernel&, const FilterBlock&, std::int64_t,
                                int, core::AlignedVector<float>&);
template FilterTaps append_taps(const PixelSumSchedule&, const SumKernel&, const FilterBlock&, std::int64_t,
                                int, core::AlignedVector<double>&);

std::vector<std::int64_t> filter_inputs(const PixelSumSchedule& schedule, const RingBand& band) {
    std::vector<std::int64_t> inputs;
    for (const std::int64_t output : band.outputs) {
        const std::vector<std::int64_t> near = schedule.near(output, PairKind::equal);
        inputs.insert(inputs.end(), near.begin(), near.end());
    }
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    return inputs;
}

}  // namespace zonal::radial
