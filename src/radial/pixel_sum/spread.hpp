#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/weights.hpp"

/// The weights that single pixels of an input ring have in the pixels of an output ring.
namespace zonal::radial {

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

/// The sums of the weights of some pixels over all pixels of grid_out, with the rings' weights left out, in
/// 1/sr: [grid.n_pixels()], 0 for those that are not wanted. wanted: [grid.n_pixels()].
std::vector<double> sums_over_output(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                     double accuracy, const std::vector<bool>& wanted, int threads);

}  // namespace zonal::radial
