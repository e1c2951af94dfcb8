#include "zonal/convolution.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "radial/bands/banded_convolver.hpp"
#include "radial/bands/latitude_bands.hpp"
#include "radial/pixel_sum/pixel_sum.hpp"
#include "radial/ring_fft/ring_fft.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::radial {

/// With accuracy and threads resolved; the device is as it was.
inline PixelConvolutionOptions resolve_numbers(const PixelConvolutionOptions& options) {
    constexpr double least_accuracy = 1e-14, worst_accuracy = 1e-2;
    PixelConvolutionOptions resolved = options;
    if (options.accuracy == 0)
        resolved.accuracy = default_accuracy(options.precision);
    else if (!(options.accuracy >= least_accuracy && options.accuracy <= worst_accuracy))
        throw InvalidArgument(
            "accuracy", options.accuracy,
            fmt::format("must be 0 (by the precision) or from {} to {}", least_accuracy, worst_accuracy));
    resolved.threads = core::resolve_threads(options.threads);
    return resolved;
}

/// Whether the bytes that two views span meet: a convolution does not work in place.
template <class T, int N>
bool overlap(const View<const T, N>& a, const View<T, N>& b) {
    if (a.size() == 0 || b.size() == 0) return false;
    const auto span = [](const auto& view) {
        const auto first = reinterpret_cast<std::uintptr_t>(view.data());
        std::int64_t last_element = 0;
        for (int axis = 0; axis < N; ++axis) last_element += (view.extent(axis) - 1) * view.stride(axis);
        const auto last = reinterpret_cast<std::uintptr_t>(view.data() + last_element);
        return std::pair(std::min(first, last), std::max(first, last) + sizeof(T));
    };
    const auto [a_first, a_end] = span(a);
    const auto [b_first, b_end] = span(b);
    return a_first < b_end && b_first < a_end;
}

/// maps, convolved: [map, (component,) pixel]. Throws InvalidArgument.
template <class T, int N>
void check_maps(const View<const T, N>& maps, std::int64_t n_pixels, const View<T, N>& convolved,
                std::int64_t n_pixels_out, Device device) {
    if (maps.extent(0) != convolved.extent(0))
        throw InvalidArgument("maps and convolved", fmt::format("batch lengths {} and {} differ",
                                                                maps.extent(0), convolved.extent(0)));
    const auto check = [&](const char* name, const auto& view, std::int64_t n) {
        if constexpr (N == 3) sht::check_extent(name, view, 1, "component", 2);
        sht::check_extent(name, view, N - 1, "pixel", n);
        sht::check_contiguous(name, view);
        if (view.space() != MemorySpace::host && device.kind() != Device::Kind::cuda)
            throw InvalidArgument(name, "is in device memory: a CPU plan needs host memory");
        if (view.size() > 0 && view.data() == nullptr) throw InvalidArgument(name, "null pointer");
    };
    check("maps", maps, n_pixels);
    check("convolved", convolved, n_pixels_out);
    if (overlap(maps, convolved)) throw InvalidArgument("convolved", "overlaps maps: must be another array");
}

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
std::int64_t KernelConvolutionPlan<Kernel>::workspace_bytes(std::int64_t n_maps) const {
    return implementation_->convolver->workspace_bytes(n_maps);
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
    if (n_maps < 1) throw InvalidArgument("n_maps", n_maps, "must be at least 1");
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
