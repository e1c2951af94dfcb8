#pragma once

#include <vector>

#include "radial/bands/banded_convolver.hpp"
#include "radial/bands/latitude_bands.hpp"
#include "radial/convolution_checks.hpp"
#include "radial/pixel_sum/pixel_sum.hpp"
#include "radial/ring_fft/ring_fft.hpp"

/// What plans of one field and of Q and U make of their options.
namespace zonal::radial {

inline PixelConvolutionOptions resolve(const PixelConvolutionOptions& options) {
    PixelConvolutionOptions resolved = resolve_numbers(options);
    resolved.device = resolve_devices(options);
    return resolved;
}

/// On one device.
template <class Kernel>
auto make_whole(const Grid& grid, const Kernel& kernel, const Grid& grid_out,
                const PixelConvolutionOptions& options) {
    return options.method == PixelMethod::ring_fft ? make_ring_fft(grid, kernel, grid_out, options)
                                                   : make_pixel_sum(grid, kernel, grid_out, options);
}

/// options: resolved.
template <int Rank, class Kernel>
std::unique_ptr<const BasicConvolver<Rank>> make_convolver(const Grid& grid, const Kernel& kernel,
                                                           const Grid& grid_out,
                                                           const PixelConvolutionOptions& options) {
    if (options.device.kind() != Device::Kind::cuda) return make_whole(grid, kernel, grid_out, options);
    return make_cuda_convolver<Rank>(
        grid, kernel.support(), grid_out, options,
        [&](const Grid& rings, const Grid& rings_out, const PixelConvolutionOptions& on_device) {
            return make_whole(rings, kernel, rings_out, on_device);
        });
}

template <int Rank>
std::vector<PixelConvolutionShare> shares_of(const BasicConvolver<Rank>& convolver, const Grid& grid,
                                             const Grid& grid_out, Device device) {
    auto shares = convolver.shares();
    if (!shares.empty()) return shares;
    constexpr int components = Rank - 1;
    const std::int64_t copies =
        device.kind() == Device::Kind::cuda
            ? bytes_of_copies(components * grid.n_pixels(), components * grid_out.n_pixels())
            : 0;
    return {{device, 1, convolver.workspace_bytes(1) + copies}};
}

}  // namespace zonal::radial
