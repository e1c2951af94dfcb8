#include "zonal/planning/map_smoothing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "planning/certificate/map_certificate.hpp"
#include "planning/maps/fields_smoothing.hpp"
#include "planning/request.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// out: may be the map.
std::vector<SmoothedPart> smooth_into(const SkyMap& map, const planning::MapKernel& kernel,
                                      const MapSmoothingOptions& options, SkyMap& out) {
    // All that can be wrong with the request is found before any work that takes long.
    const auto requests = planning::requests_of(map, kernel, options);
    if (options.mask_rule.fill_masked) out.make_full_sky();
    std::vector<SmoothedPart> parts;
    parts.reserve(requests.size());
    for (const auto& request : requests) parts.push_back(planning::smooth_fields(request, out));
    return parts;
}

SmoothedMap smooth_copy(const SkyMap& map, const planning::MapKernel& kernel,
                        const MapSmoothingOptions& options) {
    SmoothedMap result{SkyMap(map, options.pixels_out.value_or(map.header().pixelization)), {}};
    result.parts = smooth_into(map, kernel, options, result.map);
    return result;
}

/// Says whether the map may be needed a second time, with the gain that was measured. Analyses go on until
/// the error is certified, so that the continuous reference needs no second plan.
bool may_be_planned_again(const SkyMap& map, const planning::MapKernel& kernel,
                          const MapSmoothingOptions& options) {
    const auto requests = planning::requests_of(map, kernel, options);
    return std::any_of(requests.begin(), requests.end(), [](const auto& fields) {
        return fields.must_keep() && !fields.is_given() &&
               fields.rows.front().request.reference == ConvolutionReference::discrete;
    });
}

SmoothedMap smooth_in_place(SkyMap&& map, const planning::MapKernel& kernel,
                            const MapSmoothingOptions& options) {
    const bool has_other_pixels = options.pixels_out && *options.pixels_out != map.header().pixelization;
    if (has_other_pixels || may_be_planned_again(map, kernel, options))
        return smooth_copy(map, kernel, options);
    SmoothedMap result{std::move(map), {}};
    result.parts = smooth_into(result.map, kernel, options, result.map);
    return result;
}

planning::MapKernel kernels_of(const std::vector<RadialKernel>& kernels) {
    if (kernels.empty()) throw InvalidArgument("kernels", "none is given: must be one, or one for each row");
    return {{}, kernels};
}

}  // namespace

std::string to_string(Normalization normalization) {
    switch (normalization) {
        case Normalization::pixel:
            return "pixel";
        case Normalization::none:
            return "none";
        default:
            return "window";
    }
}

Extent extent_for(const MapSmoothingOptions& options) {
    using enum ConvolutionMethod;
    const bool are_sums = options.method == automatic || planning::is_sum(options.method);
    const bool is_whole = options.mask_rule.fill_masked || options.pixels_out ||
                          !options.ring_weights.empty() || options.pixel_weights.size() > 0;
    return are_sums && !is_whole ? Extent::own_pixels : Extent::whole_sky;
}

double SmoothedPart::certified_error() const {
    return planning::largest_error(certificates);
}

bool SmoothedPart::is_certified() const {
    return error_bound && certified_error() <= *error_bound;
}

std::string SmoothedPart::stands_for() const {
    if (reference == ConvolutionReference::discrete) return "the sum over the map's pixels";
    return fmt::format("the answer for l <= {}", lmax);
}

namespace {

std::string how(const SmoothedPart& part) {
    auto text = to_string(part.method);
    if (part.method == ConvolutionMethod::harmonic)
        text += fmt::format(", lmax {}, {} iteration{}", part.lmax, part.analysis.iterations,
                            part.analysis.iterations == 1 ? "" : "s");
    else
        text += fmt::format(", {} precision", part.precision == Precision::float32 ? "single" : "double");
    return text + fmt::format(", on {}", to_string(part.device));
}

std::string certificate(const SmoothedPart& part) {
    const double error = part.certified_error();
    auto text = std::isfinite(error) ? fmt::format("certified {:.2g} of {}", error, part.stands_for())
                                     : fmt::format("no bound of the error of {}", part.stands_for());
    if (part.error_bound && !(error <= *part.error_bound))
        text += fmt::format(", more than the {:g} asked for", *part.error_bound);
    if (!part.notes.empty()) text += fmt::format(", which depends on lmax by about {:.1g}", part.lmax_effect);
    return text;
}

}  // namespace

std::string SmoothedPart::summary() const {
    return how(*this) + ": " + certificate(*this);
}

std::string SmoothedPart::text() const {
    auto text =
        fmt::format("Rows {}: {}.\nError: {}.\n", fmt::join(rows, ", "), how(*this), certificate(*this));
    std::int64_t masked = 0;
    for (const auto pixels : masked_pixels) masked = std::max(masked, pixels);
    if (masked > 0) text += fmt::format("Masked or UNSEEN: up to {} pixels.\n", masked);
    for (const auto& kernel : kernels)
        if (kernel.scale != 1) text += fmt::format("The kernel was multiplied by {:.6g}.\n", kernel.scale);
    for (const auto& note : notes) text += fmt::format("Note: {}.\n", note);
    return text +
           fmt::format("Time: {:.3g} s, of these {:.2g} s for the certificate; planning took {:.2g} s.",
                       seconds, certificate_seconds, planning_seconds);
}

SmoothedMap smooth(const SkyMap& map, const SmoothingWindow& window, const MapSmoothingOptions& options) {
    return smooth_copy(map, {window, {}}, options);
}

SmoothedMap smooth(SkyMap&& map, const SmoothingWindow& window, const MapSmoothingOptions& options) {
    return smooth_in_place(std::move(map), {window, {}}, options);
}

SmoothedMap convolve(const SkyMap& map, const std::vector<RadialKernel>& kernels,
                     const MapSmoothingOptions& options) {
    return smooth_copy(map, kernels_of(kernels), options);
}

SmoothedMap convolve(SkyMap&& map, const std::vector<RadialKernel>& kernels,
                     const MapSmoothingOptions& options) {
    return smooth_in_place(std::move(map), kernels_of(kernels), options);
}

}  // namespace zonal
