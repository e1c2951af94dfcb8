#include "radial/cuda_work.hpp"

#include "radial/pixel_sum/schedule.hpp"
#include "radial/ring_fft/ring_fft.hpp"

namespace zonal::radial {
namespace {

SumKernel sum_kernel(const RadialKernel& kernel, double accuracy) {
    return {kernel, accuracy};
}
SumKernel sum_kernel(const PolarizationKernel& kernel, double accuracy) {
    return {kernel.plus(), kernel.minus(), accuracy};
}

/// Each component is summed for each.
template <class Kernel>
PixelConvolutionWork pixel_sum_work(const Grid& grid, const Kernel& kernel, const Grid& grid_out,
                                    double accuracy) {
    constexpr int components = KernelConvolutionPlan<Kernel>::rank - 1;
    const PixelSumSchedule schedule(grid, sum_kernel(kernel, accuracy), grid_out, accuracy);
    PixelConvolutionWork work;
    for (int part = 0; part < components * components; ++part) add(schedule.work(), work);
    return work;
}

}  // namespace

template <class Kernel>
PixelConvolutionWork cuda_work(const Grid& grid, const Kernel& kernel, const Grid& grid_out,
                               PixelMethod method, double accuracy) {
    if (method == PixelMethod::pixel_sum) return pixel_sum_work(grid, kernel, grid_out, accuracy);
    const RingFftGeometry geometry(grid, kernel, grid_out, accuracy);
    const auto [direct, others] = ways_of_rings(geometry);
    if (direct.empty()) return geometry.work();
    auto work = pixel_sum_work(grid, kernel, grid_out.subset(direct), accuracy);
    if (!others.empty()) add(RingFftGeometry(grid, kernel, grid_out.subset(others), accuracy).work(), work);
    return work;
}

template PixelConvolutionWork cuda_work(const Grid&, const RadialKernel&, const Grid&, PixelMethod, double);
template PixelConvolutionWork cuda_work(const Grid&, const PolarizationKernel&, const Grid&, PixelMethod,
                                        double);

}  // namespace zonal::radial
