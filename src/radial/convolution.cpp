#include "zonal/convolution.hpp"

#include <fmt/format.h>

#include "radial/banded_convolver.hpp"
#include "radial/convolution_checks.hpp"
#include "radial/latitude_bands.hpp"
#include "radial/pixel_sum.hpp"
#include "radial/ring_fft.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

PixelConvolutionOptions resolve(const PixelConvolutionOptions& options) {
    PixelConvolutionOptions resolved = radial::resolve_numbers(options);
    resolved.device = radial::resolve_devices(options);
    return resolved;
}

bool on_cuda(const PixelConvolutionOptions& options) {
    return options.device.kind() == Device::Kind::cuda;
}

/// On one device.
std::unique_ptr<const radial::Convolver> make_whole(const Grid& grid, const RadialKernel& kernel,
                                                    const Grid& grid_out,
                                                    const PixelConvolutionOptions& options) {
    if (options.method == PixelMethod::ring_fft)
        return radial::make_ring_fft(grid, kernel, grid_out, options);
    return radial::make_pixel_sum(grid, kernel, grid_out, options);
}

std::unique_ptr<const radial::Convolver> make_convolver(const Grid& grid, const RadialKernel& kernel,
                                                        const Grid& grid_out,
                                                        const PixelConvolutionOptions& options) {
    if (!on_cuda(options)) return make_whole(grid, kernel, grid_out, options);
    return radial::make_cuda_convolver(
        grid, kernel.support(), grid_out, options,
        [&](const Grid& rings, const Grid& rings_out, const PixelConvolutionOptions& on_device) {
            return make_whole(rings, kernel, rings_out, on_device);
        });
}

}  // namespace

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
          options(resolve(requested)),
          convolver(make_convolver(grid, kernel, grid_out, options)) {}

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
    auto shares = implementation_->convolver->shares();
    if (!shares.empty()) return shares;
    const std::int64_t copies =
        on_cuda(options()) ? radial::bytes_of_copies(grid().n_pixels(), grid_out().n_pixels()) : 0;
    return {{options().device, 1, workspace_bytes() + copies}};
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
