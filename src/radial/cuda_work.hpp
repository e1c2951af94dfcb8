#pragma once

#include "zonal/convolution.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::radial {

/// Counts what KernelConvolutionPlan<Kernel>::work() says on one CUDA device that holds the maps, without
/// making the plan, whose weights take seconds and gigabytes for wide kernels. Kernel: RadialKernel or
/// PolarizationKernel.
template <class Kernel>
PixelConvolutionWork cuda_work(const Grid& grid, const Kernel& kernel, const Grid& grid_out,
                               PixelMethod method, double accuracy);

}  // namespace zonal::radial
