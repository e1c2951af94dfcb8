#include "zonal/convolution.hpp"

#include <fmt/core.h>

#include "radial/planned_convolver.hpp"
#include "zonal/error.hpp"

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

class PixelConvolutionPlan::Implementation {
  public:
    Implementation(const Grid& grid_in, const RadialKernel& kernel, const Grid& grid_of_output,
                   const PixelConvolutionOptions& requested)
        : grid(grid_in),
          grid_out(grid_of_output),
          options(radial::resolve(requested)),
          convolver(radial::make_convolver<2>(grid, kernel, grid_out, options)) {}

    const Grid grid, grid_out;
    const PixelConvolutionOptions options;
    const std::unique_ptr<const radial::Convolver> convolver;
};

PixelConvolutionPlan::PixelConvolutionPlan(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                           const PixelConvolutionOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, kernel, grid_out, options)) {}
PixelConvolutionPlan::~PixelConvolutionPlan() = default;
PixelConvolutionPlan::PixelConvolutionPlan(PixelConvolutionPlan&&) noexcept = default;
PixelConvolutionPlan& PixelConvolutionPlan::operator=(PixelConvolutionPlan&&) noexcept = default;

const Grid& PixelConvolutionPlan::grid() const {
    return implementation_->grid;
}
const Grid& PixelConvolutionPlan::grid_out() const {
    return implementation_->grid_out;
}
const PixelConvolutionOptions& PixelConvolutionPlan::options() const {
    return implementation_->options;
}
std::int64_t PixelConvolutionPlan::workspace_bytes() const {
    return implementation_->convolver->workspace_bytes(1);
}
std::vector<PixelConvolutionShare> PixelConvolutionPlan::shares() const {
    return radial::shares_of(*implementation_->convolver, grid(), grid_out(), options().device);
}
PixelConvolutionWork PixelConvolutionPlan::work() const {
    return implementation_->convolver->work();
}

PixelConvolutionWorkspace PixelConvolutionPlan::make_workspace(std::int64_t n_maps) const {
    if (n_maps < 1) throw InvalidArgument(fmt::format("n_maps = {}: must be at least 1", n_maps));
    return PixelConvolutionWorkspace(implementation_->convolver->make_workspace(n_maps));
}

template <class T>
void PixelConvolutionPlan::convolve(View<const T, 2> maps, View<T, 2> convolved,
                                    PixelConvolutionWorkspace& workspace, const Progress& progress) const {
    radial::check_maps(maps, grid().n_pixels(), convolved, grid_out().n_pixels(), options().device);
    if (maps.extent(0) == 0) return;
    implementation_->convolver->convolve(maps, convolved, workspace.storage(), progress);
}

template <class T>
void PixelConvolutionPlan::convolve(View<const T, 2> maps, View<T, 2> convolved,
                                    const Progress& progress) const {
    PixelConvolutionWorkspace workspace = make_workspace(std::max<std::int64_t>(1, maps.extent(0)));
    convolve<T>(maps, convolved, workspace, progress);
}

template void PixelConvolutionPlan::convolve(View<const float, 2>, View<float, 2>, const Progress&) const;
template void PixelConvolutionPlan::convolve(View<const double, 2>, View<double, 2>, const Progress&) const;
template void PixelConvolutionPlan::convolve(View<const float, 2>, View<float, 2>, PixelConvolutionWorkspace&,
                                             const Progress&) const;
template void PixelConvolutionPlan::convolve(View<const double, 2>, View<double, 2>,
                                             PixelConvolutionWorkspace&, const Progress&) const;

}  // namespace zonal
