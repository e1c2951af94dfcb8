#include "planning/maps/map_kernels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "zonal/error.hpp"

namespace zonal::planning {
namespace {

/// The factor by which a kernel is multiplied.
double scale_of(const RadialKernel& kernel, bool normalize) {
    constexpr double least_integral = 1e-9;  // below this it is rounding
    if (!normalize) return 1;
    const double integral = kernel.window(0)[0];
    if (!(std::abs(integral) > least_integral))
        throw InvalidArgument(
            "normalization", "window",
            fmt::format("the kernel's integral is {:.3g}: must be none, which applies the kernel as it is",
                        integral));
    return 1 / integral;
}

FieldsKernel scaled(const RadialKernel& kernel, std::optional<PolarizationKernel> polarization,
                    double scale) {
    const AppliedKernel applied{polarization ? polarization->support() : kernel.support(),
                                kernel.window(0)[0], scale};
    return {scale == 1 ? kernel : kernel.scaled(scale), std::move(polarization), applied};
}

std::vector<double> times(std::vector<double> window, double scale) {
    for (double& value : window) value *= scale;
    return window;
}

FieldsKernel of_window(const SmoothingWindow& window, bool has_spin, std::int64_t lmax, bool normalize) {
    if (lmax < 0 && !window.beam) {  // whose integral is 1
        const auto kernel = RadialKernel::gaussian(window.fwhm.value());
        return scaled(kernel,
                      has_spin ? std::optional(PolarizationKernel::gaussian(*window.fwhm)) : std::nullopt, 1);
    }
    const auto beam = evaluate(window, lmax < 0 ? window.beam->lmax() : lmax);
    const auto kernel = RadialKernel::from_window(beam.temperature);
    const double scale = scale_of(kernel, normalize);
    std::optional<PolarizationKernel> polarization;
    if (has_spin) polarization.emplace(times(beam.gradient, scale), times(beam.curl, scale));
    return scaled(kernel, std::move(polarization), scale);
}

}  // namespace

std::int64_t MapKernel::end_of_window() const {
    std::int64_t end = -1;
    if (window.extension != Extension::none) return end;
    for (const auto* beam :
         {&window.beam, &window.beam_in, &window.pixel_window_in, &window.pixel_window_out})
        if (*beam) end = end < 0 ? (*beam)->lmax() : std::min(end, (*beam)->lmax());
    return end;
}

std::vector<FieldsKernel> kernels_of(const MapKernel& kernel, bool has_spin, std::int64_t lmax,
                                     bool normalize) {
    if (kernel.has_window()) return {of_window(kernel.window, has_spin, lmax, normalize)};
    std::vector<FieldsKernel> all;
    for (const auto& given : kernel.kernels) {
        const double scale = scale_of(given, normalize);
        std::optional<PolarizationKernel> polarization;
        if (has_spin) {  // its window serves E and B as it stands
            const auto window = times(given.window(lmax), scale);
            polarization.emplace(window, window);
        }
        all.push_back(scaled(given, std::move(polarization), scale));
    }
    return all;
}

}  // namespace zonal::planning
