#include <cmath>
#include <numbers>
#include <numeric>

#include "radial/pixel_sum/stages.hpp"
#include "radial/pixel_sum/weights.hpp"

namespace zonal::radial {
namespace {

/// A ring's pixels times its weight, and `halo` more on either side, round and round.
template <class T, class Map>
void load_row(const SumRing& ring, View<const Map, 1> map, std::int64_t halo, core::AlignedVector<T>& row) {
    const std::int64_t n = ring.n_pixels;
    row.resize(static_cast<std::size_t>(n + 2 * halo));
    const Map* const pixels = map.data() + ring.first_pixel;
    const T weight = static_cast<T>(ring.weight);
    std::int64_t k = (n - halo % n) % n;
    for (T& value : row) {
        value = weight * static_cast<T>(pixels[k]);
        k = k + 1 == n ? 0 : k + 1;
    }
}

/// Adds to sums[k] of every pixel k of the output ring; gcd(n, n') pixels share each weight.
template <class T>
void add_row(const SumRing& out, const SumRing& in, const PairTaps& taps, const SumKernel& kernel,
             const T* row, std::int64_t halo, T* sums, core::AlignedVector<T>& weights) {
    const std::int64_t copies = std::gcd(out.n_pixels, in.n_pixels);
    const std::int64_t step_out = out.n_pixels / copies, step_in = in.n_pixels / copies;
    const double pixels_per_radian = static_cast<double>(in.n_pixels) / (2 * std::numbers::pi);
    weights.resize(static_cast<std::size_t>(taps.n_taps));
    for (std::int64_t k = 0; k < step_out; ++k) {
        const double phi =
            out.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(out.n_pixels);
        const double x = (phi - in.phi_0) * pixels_per_radian, below = std::floor(x);
        taps.evaluate(kernel, x - below, weights.data());
        const std::int64_t n = in.n_pixels;
        std::int64_t first = (static_cast<std::int64_t>(below) - taps.left) % n;
        if (first < 0) first += n;
        for (std::int64_t copy = 0; copy < copies; ++copy) {
            const T* const pixels = row + halo + first;
            T sum = 0;
            for (std::int64_t j = 0; j < taps.n_taps; ++j)
                sum += weights[static_cast<std::size_t>(j)] * pixels[j];
            sums[k + copy * step_out] += sum;
            first = first + step_in >= n ? first + step_in - n : first + step_in;
        }
    }
}

}  // namespace

template <class T, class Map>
void add_general_ring(const SumPass<Map>& pass, std::int64_t output, SumScratch<T>& scratch) {
    const PixelSumSchedule& schedule = pass.schedule;
    const SumRing& out = schedule.outputs()[output];
    const std::vector<std::int64_t> inputs = schedule.near(output, PairKind::general);
    for (std::int64_t map = 0; map < pass.in.extent(0); ++map) {
        scratch.sums.assign(static_cast<std::size_t>(out.n_pixels), T(0));
        for (const std::int64_t input : inputs) {
            if (pass.is_spread(map, input, PairKind::general)) continue;
            const SumRing& in = schedule.inputs()[input];
            const PairTaps taps(out, in, schedule.kernel().limit());
            load_row(in, pass.in[map], taps.n_taps, scratch.rows);
            add_row(out, in, taps, pass.kernel, scratch.rows.data(), taps.n_taps, scratch.sums.data(),
                    scratch.weights);
        }
        Map* const pixels = &pass.out(map, out.first_pixel);
        for (std::int64_t k = 0; k < out.n_pixels; ++k)
            pixels[k] = static_cast<Map>(pixels[k] + scratch.sums[static_cast<std::size_t>(k)]);
    }
}

template void add_general_ring(const SumPass<float>&, std::int64_t, SumScratch<float>&);
template void add_general_ring(const SumPass<float>&, std::int64_t, SumScratch<double>&);
template void add_general_ring(const SumPass<double>&, std::int64_t, SumScratch<float>&);
template void add_general_ring(const SumPass<double>&, std::int64_t, SumScratch<double>&);

}  // namespace zonal::radial
