#include "zonal/polarization_convolution.hpp"

#include <fmt/format.h>

#include "radial/banded_convolver.hpp"
#include "radial/pixel_sum_passes.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

using radial::KernelPart;

PixelConvolutionOptions resolve(const PixelConvolutionOptions& options) {
    radial::require_no_bands(options);
    PixelConvolutionOptions resolved = options;
    if (options.accuracy == 0)
        resolved.accuracy = options.precision == Precision::single_ ? 3e-8 : 1e-12;
    else if (!(options.accuracy >= 1e-14 && options.accuracy <= 1e-2))
        throw InvalidArgument(fmt::format("accuracy = {}: must be 0 (by the precision) or from 1e-14 to 1e-2",
                                          options.accuracy));
    resolved.method = PixelMethod::pixel_sum;
    resolved.threads = core::resolve_threads(options.threads);
    if (options.device.kind() == Device::Kind::cuda)
        throw BackendUnavailable("device = " + to_string(options.device) +
                                 ": polarization is convolved on the CPU only");
    resolved.device = Device::cpu();
    return resolved;
}

template <class T>
void check_fields(const char* name, View<T, 3> maps, std::int64_t n_pixels) {
    sht::check_host(name, maps);
    sht::check_extent(name, maps, 1, "component", 2);
    sht::check_extent(name, maps, 2, "pixel", n_pixels);
    sht::check_contiguous(name, maps);
}

/// Component c of [map, component, pixel].
template <class T>
View<T, 2> component(View<T, 3> maps, std::int64_t c) {
    return {
        maps.data() + c * maps.stride(1), {maps.extent(0), maps.extent(2)}, {maps.stride(0), maps.stride(2)}};
}

}  // namespace

struct PolarizationConvolutionPlan::Implementation {
    Implementation(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                   const PixelConvolutionOptions& requested)
        : options(resolve(requested)),
          schedule(grid, radial::SumKernel(kernel.plus(), kernel.minus(), options.accuracy), grid_out,
                   options.accuracy) {}

    template <class Sum, class T>
    void convolve(View<const T, 3> maps, View<T, 3> convolved, const Progress& progress) const {
        struct Part {
            KernelPart part;
            int out, in;
        };
        constexpr Part parts[] = {
            {KernelPart::qq, 0, 0}, {KernelPart::qu, 0, 1}, {KernelPart::uq, 1, 0}, {KernelPart::uu, 1, 1}};
        std::vector<radial::SumScratch<Sum>> scratch;
        radial::PassRunner<Sum> runner(schedule, 4, options.threads, scratch, progress);
        for (const Part& part : parts)
            runner.run(radial::SumPass<T>{schedule, schedule.kernel().with_part(part.part),
                                          component(maps, part.in), component(convolved, part.out),
                                          part.in == 1, part.out == 1, part.in == 1});
    }

    const PixelConvolutionOptions options;
    const radial::PixelSumSchedule schedule;
};

PolarizationConvolutionPlan::PolarizationConvolutionPlan(const Grid& grid, const PolarizationKernel& kernel,
                                                         const Grid& grid_out,
                                                         const PixelConvolutionOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, kernel, grid_out, options)) {}
PolarizationConvolutionPlan::~PolarizationConvolutionPlan() = default;
PolarizationConvolutionPlan::PolarizationConvolutionPlan(PolarizationConvolutionPlan&&) noexcept = default;
PolarizationConvolutionPlan& PolarizationConvolutionPlan::operator=(PolarizationConvolutionPlan&&) noexcept =
    default;

template <class T>
void PolarizationConvolutionPlan::convolve(View<const T, 3> maps, View<T, 3> convolved,
                                           const Progress& progress) const {
    check_fields("maps", maps, implementation_->schedule.inputs().n_map_pixels());
    check_fields("convolved", convolved, implementation_->schedule.outputs().n_map_pixels());
    sht::check_extent("convolved", convolved, 0, "map", maps.extent(0));
    if (implementation_->options.precision == Precision::single_)
        implementation_->convolve<float>(maps, convolved, progress);
    else
        implementation_->convolve<double>(maps, convolved, progress);
}

template void PolarizationConvolutionPlan::convolve(View<const float, 3>, View<float, 3>,
                                                    const Progress&) const;
template void PolarizationConvolutionPlan::convolve(View<const double, 3>, View<double, 3>,
                                                    const Progress&) const;

}  // namespace zonal
