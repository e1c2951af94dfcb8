#include "zonal/distributed/convolution.hpp"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "radial/part_sums.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Returns the options with the threads and the device of this rank's part.
PixelConvolutionOptions options_of(const DistributedSky& sky, PixelConvolutionOptions options) {
    options.threads = sky.threads();
    options.device = sky.part()->device(Device::automatic());
    return options;
}

/// What the ranks must have in common, as text: numbers to the last bit, of the kernel some of its values.
std::string text_of(const RadialKernel& kernel) {
    std::string text = fmt::format("support {:a}, values", kernel.support());
    for (const double share : {0.0, 0.3, 0.7})
        text += fmt::format(" {:a}", kernel.profile(share * kernel.support()));
    return text;
}
std::string text_of(const PolarizationKernel& kernel) {
    std::string text = fmt::format("Q and U, support {:a}", kernel.support());
    for (const auto* part : {kernel.plus(), kernel.minus()})
        if (part != nullptr) text += ", " + text_of(*part);
    return text;
}

}  // namespace

template <class Kernel>
struct DistributedConvolutionPlan<Kernel>::Implementation {
    using Sums = radial::PartSums<KernelConvolutionPlan<Kernel>>;

    Implementation(const DistributedSky& sky_of_maps, const Kernel& kernel,
                   const PixelConvolutionOptions& given)
        : sky(sky_of_maps), part(sky.part()), options(options_of(sky, given)) {
        const bool is_sum = options.method == PixelMethod::pixel_sum,
                   is_single = options.precision == Precision::float32;
        part->together(fmt::format("a convolution by {} in {}, accuracy {}, with a kernel of {}",
                                   is_sum ? "pixel_sum" : "ring_fft", is_single ? "float32" : "float64",
                                   options.accuracy, text_of(kernel)),
                       [&] {
                           if (!options.devices.empty())
                               throw InvalidArgument(
                                   "devices",
                                   fmt::format("has {} devices: must be empty, as each rank has the "
                                               "device of its sky",
                                               options.devices.size()));
                       });
        auto halo = part->halo(kernel.support());
        part->together("a plan of a convolution",
                       [&] { sums.emplace(*part, std::move(halo), kernel, options); });
    }

    const DistributedSky sky;
    const std::shared_ptr<const SkyPart> part;
    const PixelConvolutionOptions options;
    std::optional<Sums> sums;
    typename Sums::Workspaces workspaces;
    HaloMemory memory;
};

template <class Kernel>
DistributedConvolutionPlan<Kernel>::DistributedConvolutionPlan(const DistributedSky& sky,
                                                               const Kernel& kernel,
                                                               const PixelConvolutionOptions& options)
    : implementation_(std::make_unique<Implementation>(sky, kernel, options)) {}
template <class Kernel>
DistributedConvolutionPlan<Kernel>::~DistributedConvolutionPlan() = default;
template <class Kernel>
DistributedConvolutionPlan<Kernel>::DistributedConvolutionPlan(DistributedConvolutionPlan&&) noexcept =
    default;
template <class Kernel>
DistributedConvolutionPlan<Kernel>& DistributedConvolutionPlan<Kernel>::operator=(
    DistributedConvolutionPlan&&) noexcept = default;

template <class Kernel>
const DistributedSky& DistributedConvolutionPlan<Kernel>::sky() const {
    return implementation_->sky;
}
template <class Kernel>
const PixelConvolutionOptions& DistributedConvolutionPlan<Kernel>::options() const {
    return implementation_->options;
}

template <class Kernel>
template <class T>
void DistributedConvolutionPlan<Kernel>::convolve(ConstView<T, rank> maps, View<T, rank> convolved,
                                                  const Progress& progress) {
    auto& own = *implementation_;
    own.sums->template convolve<T>(maps, convolved, own.workspaces, own.memory, progress);
}

template class DistributedConvolutionPlan<RadialKernel>;
template void DistributedConvolutionPlan<RadialKernel>::convolve(View<const float, 2>, View<float, 2>,
                                                                 const Progress&);
template void DistributedConvolutionPlan<RadialKernel>::convolve(View<const double, 2>, View<double, 2>,
                                                                 const Progress&);
template class DistributedConvolutionPlan<PolarizationKernel>;
template void DistributedConvolutionPlan<PolarizationKernel>::convolve(View<const float, 3>, View<float, 3>,
                                                                       const Progress&);
template void DistributedConvolutionPlan<PolarizationKernel>::convolve(View<const double, 3>, View<double, 3>,
                                                                       const Progress&);

}  // namespace zonal
