#include "zonal/convolution.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "core/parallel.hpp"
#include "radial/banded_convolver.hpp"
#include "radial/latitude_bands.hpp"
#include "radial/pixel_sum.hpp"
#include "radial/ring_fft.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

constexpr double least_accuracy = 1e-14, worst_accuracy = 1e-2;

PixelConvolutionOptions resolve(const PixelConvolutionOptions& options) {
    PixelConvolutionOptions resolved = options;
    if (options.accuracy == 0)
        resolved.accuracy = options.precision == Precision::single_ ? 3e-8 : 1e-12;
    else if (!(options.accuracy >= least_accuracy && options.accuracy <= worst_accuracy))
        throw InvalidArgument(fmt::format("accuracy = {}: must be 0 (by the precision) or from {} to {}",
                                          options.accuracy, least_accuracy, worst_accuracy));
    resolved.threads = core::resolve_threads(options.threads);
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
    return on_cuda(options) ? radial::make_cuda_pixel_sum(grid, kernel, grid_out, options)
                            : radial::make_cpu_pixel_sum(grid, kernel, grid_out, options);
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

template <class T>
void check_maps(const char* name, const View<T, 2>& maps, std::int64_t n_pixels, Device device) {
    if (maps.extent(1) != n_pixels)
        throw InvalidArgument(
            fmt::format("{}: axis 1 (pixel) has length {}: must be {}", name, maps.extent(1), n_pixels));
    if (maps.extent(1) > 1 && maps.stride(1) != 1)
        throw InvalidArgument(
            fmt::format("{}: stride of the last axis = {}: must be 1 (contiguous)", name, maps.stride(1)));
    if (maps.space() != MemorySpace::host && device.kind() != Device::Kind::cuda)
        throw InvalidArgument(fmt::format("{}: is in device memory: a CPU plan needs host memory", name));
    if (maps.size() > 0 && maps.data() == nullptr)
        throw InvalidArgument(fmt::format("{}: null pointer", name));
}

/// Whether the bytes that two views span meet: a convolution does not work in place.
template <class T>
bool overlap(const View<const T, 2>& a, const View<T, 2>& b) {
    if (a.size() == 0 || b.size() == 0) return false;
    const auto span = [](const auto& view) {
        const auto first = reinterpret_cast<std::uintptr_t>(view.data());
        const auto last = reinterpret_cast<std::uintptr_t>(&view(view.extent(0) - 1, view.extent(1) - 1));
        return std::pair(std::min(first, last), std::max(first, last) + sizeof(T));
    };
    const auto [a_first, a_end] = span(a);
    const auto [b_first, b_end] = span(b);
    return a_first < b_end && b_first < a_end;
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
    if (maps.extent(0) != convolved.extent(0))
        throw InvalidArgument(fmt::format("maps and convolved: batch lengths {} and {} differ",
                                          maps.extent(0), convolved.extent(0)));
    check_maps("maps", maps, grid().n_pixels(), options().device);
    check_maps("convolved", convolved, grid_out().n_pixels(), options().device);
    if (overlap(maps, convolved)) throw InvalidArgument("convolved: overlaps maps: must be another array");
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
