#include "radial/pixel_sum/spread.hpp"

#include <algorithm>

#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "radial/pixel_sum/kernels.hpp"
#include "radial/pixel_sum/stages.hpp"

namespace zonal::radial {

template <class T, class Map>
void add_spread_ring(const SumPass<Map>& pass, std::int64_t output, SumScratch<T>& scratch) {
    const PixelSumSchedule& schedule = pass.schedule;
    const SumRing& out = schedule.outputs()[output];
    const SumLoops<T>& loops = sum_loops<T>();
    const auto n = static_cast<std::size_t>(out.n_pixels);
    const auto [first_input, end_input] = schedule.inputs().near(out.theta, pass.kernel.theta_end());
    const core::InterruptionPoll poll;
    for (std::int64_t map = 0; map < pass.in.extent(0); ++map) {
        bool is_empty = true;
        for (std::int64_t input = first_input; input < end_input; ++input) {
            const auto pixels = pass.filled->of(map, input);
            if (pixels.empty() || schedule.pair_half_width(output, input) < 0 ||
                !pass.filled->are_few(map, input, schedule.kind(output, input)))
                continue;
            poll();
            if (is_empty) scratch.sums.assign(2 * n + 1, T(0));  // two turns, for the last pixel's taps
            is_empty = false;
            const SumRing& in = schedule.inputs()[input];
            const Map* const values = &pass.in(map, in.first_pixel);
            visit_spread(out, in, pass.kernel, pixels, scratch.weights,
                         [&](std::int64_t pixel, std::int64_t first, const T* weights, std::int64_t n_taps) {
                             const T value = static_cast<T>(in.weight) * static_cast<T>(values[pixel]);
                             loops.add_multiple(value, weights, n_taps, scratch.sums.data() + first);
                         });
        }
        if (is_empty) continue;
        Map* const convolved = &pass.out(map, out.first_pixel);
        const T* const sums = scratch.sums.data();
        scratch.sums[n] += sums[2 * n];
        for (std::size_t k = 0; k < n; ++k)
            convolved[k] = static_cast<Map>(convolved[k] + (sums[k] + sums[n + k]));
    }
}

template void add_spread_ring(const SumPass<float>&, std::int64_t, SumScratch<float>&);
template void add_spread_ring(const SumPass<float>&, std::int64_t, SumScratch<double>&);
template void add_spread_ring(const SumPass<double>&, std::int64_t, SumScratch<float>&);
template void add_spread_ring(const SumPass<double>&, std::int64_t, SumScratch<double>&);

std::vector<double> sums_over_output(const Grid& grid, const RadialKernel& radial_kernel,
                                     const Grid& grid_out, double accuracy, const std::vector<bool>& wanted,
                                     int threads) {
    const SumKernel kernel(radial_kernel, accuracy);
    const SumRings inputs(grid), outputs(grid_out);
    std::vector<double> sums(wanted.size());
    core::parallel_for(inputs.size(), threads, [&](std::int64_t input, int) {
        const SumRing& in = inputs[input];
        std::vector<std::int64_t> pixels;
        for (std::int64_t k = 0; k < in.n_pixels; ++k)
            if (wanted[static_cast<std::size_t>(in.first_pixel + k)]) pixels.push_back(k);
        if (pixels.empty()) return;
        core::AlignedVector<double> memory;
        const core::InterruptionPoll poll;
        const auto [first_output, end_output] = outputs.near(in.theta, kernel.theta_end());
        for (std::int64_t output = first_output; output < end_output; ++output) {
            const SumRing& out = outputs[output];
            if (half_width(chord_of_longitude(out, in), kernel.limit()) < 0) continue;
            poll();
            visit_spread(out, in, kernel, pixels, memory,
                         [&](std::int64_t pixel, std::int64_t, const double* weights, std::int64_t n_taps) {
                             double& sum = sums[static_cast<std::size_t>(in.first_pixel + pixel)];
                             for (std::int64_t j = 0; j < n_taps; ++j) sum += weights[j];
                         });
        }
    });
    return sums;
}

}  // namespace zonal::radial
