#include <cmath>
#include <span>

#include "core/interruption.hpp"
#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/kernels.hpp"
#include "radial/pixel_sum/stages.hpp"
#include "radial/pixel_sum/weights.hpp"

// The weights that single pixels of an input ring have in the pixels of an output ring.
namespace zonal::radial {
namespace {

/// Calls use(pixel, first, weights, n_taps) for some pixels of an input ring, ascending: the output pixels
/// first, first + 1, .., round and round, take the pixel's value times these weights. 0 <= first <
/// out.n_pixels, n_taps <= out.n_pixels + 2. memory: of the weights.
template <class T, class Use>
void visit_spread(const SumRing& out, const SumRing& in, const SumKernel& kernel,
                  std::span<const std::int64_t> pixels, core::AlignedVector<T>& memory, const Use& use) {
    // The taps are the output's pixels around the input's, whose longitudes then differ by phi' - phi: odd
    // parts have the other sign.
    PairTaps taps(in, out, kernel.limit());
    taps.geometry = pair_geometry(out, in);
    memory.resize(static_cast<std::size_t>(taps.n_taps));
    const double offset = (in.phi_0 - out.phi_0) / taps.pixel, begin = std::floor(offset);
    const std::int64_t shift = modulo(static_cast<std::int64_t>(begin) - taps.left, out.n_pixels);
    const std::int64_t multiple = out.n_pixels % in.n_pixels == 0 ? out.n_pixels / in.n_pixels : 0;
    std::int64_t made = -1;  // weights depend on `rest` alone
    for (const std::int64_t pixel : pixels) {
        const std::int64_t whole = multiple > 0 ? pixel * multiple : pixel * out.n_pixels / in.n_pixels;
        const std::int64_t rest = pixel * out.n_pixels - whole * in.n_pixels;
        const double x = static_cast<double>(rest) / static_cast<double>(in.n_pixels) + (offset - begin);
        const std::int64_t carry = x >= 1 ? 1 : 0;
        if (rest != made) {
            taps.evaluate(kernel, x - static_cast<double>(carry), memory.data());
            if (kernel.is_odd())
                for (T& weight : memory) weight = -weight;
            made = rest;
        }
        use(pixel, wrapped(whole + carry + shift, out.n_pixels), memory.data(), taps.n_taps);
    }
}

}  // namespace

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

}  // namespace zonal::radial
