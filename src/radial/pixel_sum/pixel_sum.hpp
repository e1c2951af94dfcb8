#pragma once

#include "radial/convolver.hpp"
#include "zonal/polarization_convolution.hpp"

/// The sum over the pixels within the kernel's support, ring pair by ring pair. The distance of two pixels
/// depends on their rings and on the difference of their longitudes only, so where
///   - both rings have n pixels, one set of weights serves all pixels: a FIR filter along the ring;
///   - both have the symmetries of a square (4-fold rotation, reflection; HEALPix), 8 pixels share each
///     weight, and 16 where the grid's southern rings mirror northern ones;
///   - else gcd(n, n') pixels share it.
/// What is inside: chord^2 <= chord^2 of the support, within rounding (kernels/sum_kernel.hpp).
namespace zonal::radial {

/// options: with threads and device resolved. For all of them: grid and grid_out may be any grids; sums over
/// rings are done in options.precision whatever the maps' type.
std::unique_ptr<const Convolver> make_cpu_pixel_sum(const Grid& grid, const RadialKernel& kernel,
                                                    const Grid& grid_out,
                                                    const PixelConvolutionOptions& options);
std::unique_ptr<const Convolver> make_cuda_pixel_sum(const Grid& grid, const RadialKernel& kernel,
                                                     const Grid& grid_out,
                                                     const PixelConvolutionOptions& options);

/// Q and U.
std::unique_ptr<const PolarizationConvolver> make_cpu_pixel_sum(const Grid& grid,
                                                                const PolarizationKernel& kernel,
                                                                const Grid& grid_out,
                                                                const PixelConvolutionOptions& options);
std::unique_ptr<const PolarizationConvolver> make_cuda_pixel_sum(const Grid& grid,
                                                                 const PolarizationKernel& kernel,
                                                                 const Grid& grid_out,
                                                                 const PixelConvolutionOptions& options);

/// On options.device.
template <class Kernel>
auto make_pixel_sum(const Grid& grid, const Kernel& kernel, const Grid& grid_out,
                    const PixelConvolutionOptions& options) {
    return options.device.kind() == Device::Kind::cuda ? make_cuda_pixel_sum(grid, kernel, grid_out, options)
                                                       : make_cpu_pixel_sum(grid, kernel, grid_out, options);
}

}  // namespace zonal::radial
