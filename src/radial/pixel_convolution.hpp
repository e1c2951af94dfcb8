#pragma once

#include <memory>

#include "zonal/convolution.hpp"

namespace zonal {

/// What a method keeps between calls.
struct PixelConvolutionWorkspace::Storage {
    virtual ~Storage() = default;
    /// The CPU's throw InvalidArgument.
    virtual void use_stream(void* cuda_stream) = 0;

    PixelConvolutionSeconds seconds;
};

}  // namespace zonal

namespace zonal::radial {

/// One method on one kind of device; arrays have been checked. The storage is one that make_workspace made,
/// or another plan's: then InvalidArgument is thrown unless it will do.
class PixelConvolution {
  public:
    virtual ~PixelConvolution() = default;

    virtual void convolve(View<const float, 2> maps, View<float, 2> convolved,
                          PixelConvolutionWorkspace::Storage& storage, const Progress& progress) const = 0;
    virtual void convolve(View<const double, 2> maps, View<double, 2> convolved,
                          PixelConvolutionWorkspace::Storage& storage, const Progress& progress) const = 0;

    virtual std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t n_maps) const = 0;
    virtual std::int64_t workspace_bytes() const = 0;
    virtual PixelConvolutionWork work() const = 0;
};

/// options: resolved, their device of the kind and their method as the function's name says.
std::unique_ptr<const PixelConvolution> make_ring_fft_cpu(const Grid& grid, const RadialKernel& kernel,
                                                          const Grid& grid_out,
                                                          const PixelConvolutionOptions& options);
std::unique_ptr<const PixelConvolution> make_ring_fft_cuda(const Grid& grid, const RadialKernel& kernel,
                                                           const Grid& grid_out,
                                                           const PixelConvolutionOptions& options);
std::unique_ptr<const PixelConvolution> make_pixel_sum_cpu(const Grid& grid, const RadialKernel& kernel,
                                                           const Grid& grid_out,
                                                           const PixelConvolutionOptions& options);
std::unique_ptr<const PixelConvolution> make_pixel_sum_cuda(const Grid& grid, const RadialKernel& kernel,
                                                            const Grid& grid_out,
                                                            const PixelConvolutionOptions& options);

}  // namespace zonal::radial
