#include "zonal/polarization_convolution.hpp"

#include <fmt/core.h>

#include "radial/planned_convolver.hpp"

namespace zonal {

struct PolarizationConvolutionPlan::Implementation {
    Implementation(const Grid& grid_in, const PolarizationKernel& kernel, const Grid& grid_of_output,
                   const PixelConvolutionOptions& requested)
        : grid(grid_in),
          grid_out(grid_of_output),
          options(radial::resolve(requested)),
          convolver(radial::make_convolver<3>(grid, kernel, grid_out, options)) {}

    const Grid grid, grid_out;
    const PixelConvolutionOptions options;
    const std::unique_ptr<const radial::PolarizationConvolver> convolver;
};

PolarizationConvolutionPlan::PolarizationConvolutionPlan(const Grid& grid, const PolarizationKernel& kernel,
                                                         const Grid& grid_out,
                                                         const PixelConvolutionOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, kernel, grid_out, options)) {}
PolarizationConvolutionPlan::~PolarizationConvolutionPlan() = default;
PolarizationConvolutionPlan::PolarizationConvolutionPlan(PolarizationConvolutionPlan&&) noexcept = default;
PolarizationConvolutionPlan& PolarizationConvolutionPlan::operator=(PolarizationConvolutionPlan&&) noexcept =
    default;

const Grid& PolarizationConvolutionPlan::grid() const {
    return implementation_->grid;
}
const Grid& PolarizationConvolutionPlan::grid_out() const {
    return implementation_->grid_out;
}
const PixelConvolutionOptions& PolarizationConvolutionPlan::options() const {
    return implementation_->options;
}
std::int64_t PolarizationConvolutionPlan::workspace_bytes() const {
    return implementation_->convolver->workspace_bytes(1);
}
std::vector<PixelConvolutionShare> PolarizationConvolutionPlan::shares() const {
    return radial::shares_of(*implementation_->convolver, grid(), grid_out(), options().device);
}
PixelConvolutionWork PolarizationConvolutionPlan::work() const {
    return implementation_->convolver->work();
}

PixelConvolutionWorkspace PolarizationConvolutionPlan::make_workspace(std::int64_t n_maps) const {
    if (n_maps < 1) throw InvalidArgument(fmt::format("n_maps = {}: must be at least 1", n_maps));
    return PixelConvolutionWorkspace(implementation_->convolver->make_workspace(n_maps));
}

template <class T>
void PolarizationConvolutionPlan::convolve(View<const T, 3> maps, View<T, 3> convolved,
                                           PixelConvolutionWorkspace& workspace,
                                           const Progress& progress) const {
    radial::check_maps(maps, grid().n_pixels(), convolved, grid_out().n_pixels(), options().device);
    if (maps.extent(0) == 0) return;
    implementation_->convolver->convolve(maps, convolved, workspace.storage(), progress);
}

template <class T>
void PolarizationConvolutionPlan::convolve(View<const T, 3> maps, View<T, 3> convolved,
                                           const Progress& progress) const {
    PixelConvolutionWorkspace workspace = make_workspace(std::max<std::int64_t>(1, maps.extent(0)));
    convolve<T>(maps, convolved, workspace, progress);
}

template void PolarizationConvolutionPlan::convolve(View<const float, 3>, View<float, 3>,
                                                    const Progress&) const;
template void PolarizationConvolutionPlan::convolve(View<const double, 3>, View<double, 3>,
                                                    const Progress&) const;
template void PolarizationConvolutionPlan::convolve(View<const float, 3>, View<float, 3>,
                                                    PixelConvolutionWorkspace&, const Progress&) const;
template void PolarizationConvolutionPlan::convolve(View<const double, 3>, View<double, 3>,
                                                    PixelConvolutionWorkspace&, const Progress&) const;

}  // namespace zonal
