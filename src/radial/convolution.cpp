#include "zonal/convolution.hpp"

#include <fmt/core.h>

#include "radial/planned_convolver.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal {

PixelConvolutionWorkspace::PixelConvolutionWorkspace(std::unique_ptr<Storage> storage)
    : storage_(std::move(storage)) {}
PixelConvolutionWorkspace::~PixelConvolutionWorkspace() = default;
PixelConvolutionWorkspace::PixelConvolutionWorkspace(PixelConvolutionWorkspace&&) noexcept = default;
PixelConvolutionWorkspace& PixelConvolutionWorkspace::operator=(PixelConvolutionWorkspace&&) noexcept =
    default;

PixelConvolutionSeconds PixelConvolutionWorkspace::seconds() const {
    return storage_->seconds;
}

void PixelConvolutionWorkspace::use_stream(void* cuda_stream) {
    storage_->use_stream(cuda_stream);
}

template <class Kernel>
struct KernelConvolutionPlan<Kernel>::Implementation {
    Implementation(const Grid& grid_in, const Kernel& kernel, const Grid& grid_of_output,
                   const PixelConvolutionOptions& requested)
        : grid(grid_in),
          grid_out(grid_of_output),
          options(radial::resolve(requested)),
          convolver(radial::make_convolver<rank>(grid, kernel, grid_out, options)) {}

    const Grid grid, grid_out;
    const PixelConvolutionOptions options;
    const std::unique_ptr<const radial::BasicConvolver<rank>> convolver;
};

template <class Kernel>
KernelConvolutionPlan<Kernel>::KernelConvolutionPlan(const Grid& grid, const Kernel& kernel,
                                                     const Grid& grid_out,
                                                     const PixelConvolutionOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, kernel, grid_out, options)) {}
template <class Kernel>
KernelConvolutionPlan<Kernel>::~KernelConvolutionPlan() = default;
template <class Kernel>
KernelConvolutionPlan<Kernel>::KernelConvolutionPlan(KernelConvolutionPlan&&) noexcept = default;
template <class Kernel>
KernelConvolutionPlan<Kernel>& KernelConvolutionPlan<Kernel>::operator=(KernelConvolutionPlan&&) noexcept =
    default;

template <class Kernel>
const Grid& KernelConvolutionPlan<Kernel>::grid() const {
    return implementation_->grid;
}
template <class Kernel>
const Grid& KernelConvolutionPlan<Kernel>::grid_out() const {
    return implementation_->grid_out;
}
template <class Kernel>
const PixelConvolutionOptions& KernelConvolutionPlan<Kernel>::options() const {
    return implementation_->options;
}
template <class Kernel>
std::int64_t KernelConvolutionPlan<Kernel>::workspace_bytes() const {
    return implementation_->convolver->workspace_bytes(1);
}
template <class Kernel>
std::vector<PixelConvolutionShare> KernelConvolutionPlan<Kernel>::shares() const {
    return radial::shares_of(*implementation_->convolver, grid(), grid_out(), options().device);
}
template <class Kernel>
PixelConvolutionWork KernelConvolutionPlan<Kernel>::work() const {
    return implementation_->convolver->work();
}

template <class Kernel>
PixelConvolutionWorkspace KernelConvolutionPlan<Kernel>::make_workspace(std::int64_t n_maps) const {
    if (n_maps < 1) throw InvalidArgument(fmt::format("n_maps = {}: must be at least 1", n_maps));
    return PixelConvolutionWorkspace(implementation_->convolver->make_workspace(n_maps));
}

template <class Kernel>
template <class T>
void KernelConvolutionPlan<Kernel>::convolve(ConstView<T, rank> maps, View<T, rank> convolved,
                                             PixelConvolutionWorkspace& workspace,
                                             const Progress& progress) const {
    radial::check_maps<T, rank>(maps, grid().n_pixels(), convolved, grid_out().n_pixels(), options().device);
    if (maps.extent(0) == 0) return;
    implementation_->convolver->convolve(maps, convolved, workspace.storage(), progress);
}

template <class Kernel>
template <class T>
void KernelConvolutionPlan<Kernel>::convolve(ConstView<T, rank> maps, View<T, rank> convolved,
                                             const Progress& progress) const {
    PixelConvolutionWorkspace workspace = make_workspace(std::max<std::int64_t>(1, maps.extent(0)));
    convolve<T>(maps, convolved, workspace, progress);
}

template class KernelConvolutionPlan<RadialKernel>;
template void KernelConvolutionPlan<RadialKernel>::convolve(View<const float, 2>, View<float, 2>,
                                                            const Progress&) const;
template void KernelConvolutionPlan<RadialKernel>::convolve(View<const float, 2>, View<float, 2>,
                                                            PixelConvolutionWorkspace&,
                                                            const Progress&) const;
template void KernelConvolutionPlan<RadialKernel>::convolve(View<const double, 2>, View<double, 2>,
                                                            const Progress&) const;
template void KernelConvolutionPlan<RadialKernel>::convolve(View<const double, 2>, View<double, 2>,
                                                            PixelConvolutionWorkspace&,
                                                            const Progress&) const;
template class KernelConvolutionPlan<PolarizationKernel>;
template void KernelConvolutionPlan<PolarizationKernel>::convolve(View<const float, 3>, View<float, 3>,
                                                                  const Progress&) const;
template void KernelConvolutionPlan<PolarizationKernel>::convolve(View<const float, 3>, View<float, 3>,
                                                                  PixelConvolutionWorkspace&,
                                                                  const Progress&) const;
template void KernelConvolutionPlan<PolarizationKernel>::convolve(View<const double, 3>, View<double, 3>,
                                                                  const Progress&) const;
template void KernelConvolutionPlan<PolarizationKernel>::convolve(View<const double, 3>, View<double, 3>,
                                                                  PixelConvolutionWorkspace&,
                                                                  const Progress&) const;

}  // namespace zonal
