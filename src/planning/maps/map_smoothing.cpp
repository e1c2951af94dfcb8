#include "zonal/planning/map_smoothing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/constants.hpp"
#include "planning/maps/map_certified.hpp"
#include "planning/maps/map_choice.hpp"
#include "planning/maps/map_harmonic.hpp"
#include "planning/maps/map_sums.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace planning {
namespace {

/// Returns the way that the caller names, without planning.
Way given_way(const MapPart& what) {
    const auto& options = what.options;
    const bool sums = options.method != ConvolutionMethod::harmonic;
    Way way{
        options.method,
        options.reference.value_or(sums ? ConvolutionReference::discrete : ConvolutionReference::continuous),
        options.device, options.lmax};
    if (sums && way.reference == ConvolutionReference::continuous)
        throw InvalidArgument(
            fmt::format("reference = continuous: method = {} is the sum over the pixels: must be discrete",
                        to_string(options.method)));
    if (sums) way.spectra = input_spectra(what);
    return way;
}

SmoothedPart smooth_part(const MapPart& what, Way way, SmoothedPart part, SkyMap& out) {
    part.method = way.method;
    part.reference = way.reference;
    part.normalization = what.normalization;
    if (way.method != ConvolutionMethod::harmonic || way.choice) part.error_bound = what.error();
    const auto n_rows = static_cast<std::size_t>(what.map.rows().extent(0));
    part.masked_pixels.resize(n_rows);
    part.unseen_pixels.resize(n_rows);
    if (what.options.mask_rule.fill_masked) out.make_full_sky();
    if (way.method == ConvolutionMethod::harmonic) {
        if (!way.choice) way.analysis = given_analysis(what.options, way.reference);
        smooth_in_harmonic_space(what, way, out, part);
        return part;
    }
    smooth_by_sums(what, way, out, part);
    return part;
}

std::vector<std::int64_t> rows_of(const SkyMap& map, bool is_spin) {
    std::vector<std::int64_t> rows;
    for (const auto& group : map.groups())
        for (std::int64_t k = 0; k < group.n_rows; ++k) {
            const bool is_scalar = group.fields == Fields::scalars || (group.fields == Fields::iqu && k == 0);
            if (is_scalar != is_spin) rows.push_back(group.first_row + k);
        }
    return rows;
}

void check(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    const auto n_kernels = std::ssize(kernel.kernels), n_rows = map.rows().extent(0);
    if (n_kernels > 1 && n_kernels != n_rows)
        throw InvalidArgument(
            fmt::format("kernels: {}: must be one, or one for each of the map's {} rows", n_kernels, n_rows));
    if (kernel.has_window() && !kernel.window.fwhm && !kernel.window.beam && !kernel.is_ratio())
        throw InvalidArgument("window: nothing is given: needs a fwhm, a beam or a pixel window");
    if (options.error && !(*options.error > 0 && *options.error < 1))
        throw InvalidArgument(fmt::format("error = {}: must be above 0 and below 1", *options.error));
    if (options.input_spectrum && options.method == ConvolutionMethod::harmonic)
        throw InvalidArgument("input_spectrum: not with method = harmonic, which cuts no kernel");
    if (options.cut) checked_width("cut", *options.cut);
    if (options.theta_cut != 0) checked_width("theta_cut", options.theta_cut);
    if (options.cut && is_planned(options))
        throw InvalidArgument(
            fmt::format("cut: not with method = {}, which cuts kernels where the error allows: must be empty",
                        to_string(options.method)));
    if (options.cut && options.error)
        throw InvalidArgument("cut and error exclude each other: error says where the kernel is cut");
    if (options.theta_cut != 0 && options.method != ConvolutionMethod::split)
        throw InvalidArgument("theta_cut: only with method = split");
    const auto most = default_smoothing_lmax(map.whole_grid());
    if (options.lmax > most)
        throw InvalidArgument(
            fmt::format("lmax = {}: must be at most {} for {}", options.lmax, most, map.header().source));
    if (options.lmax >= 0 && options.lmax < 2 && map.polarized())
        throw InvalidArgument(fmt::format("lmax = {}: must be at least 2 for the Q and U of {}", options.lmax,
                                          map.header().source));
}

/// Says whether only harmonic space, with a window, can do what is asked for.
bool needs_window(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    const bool may_be_harmonic =
        options.method == ConvolutionMethod::automatic || options.method == ConvolutionMethod::harmonic;
    return may_be_harmonic && !why_harmonic_only(map, kernel, options).empty();
}

/// Smooths one part of a map. way: planned by a spectrum, if the part has one. All such ways are planned
/// before any work that takes long.
SmoothedPart smooth_one(const MapPart& what, bool is_window, std::optional<Way> way, SmoothedPart part,
                        SkyMap& out) {
    if (way) return smooth_part(what, std::move(*way), std::move(part), out);
    if (what.certifies() || (is_window && is_planned(what.options)))
        return smooth_certified(what, is_window, std::move(part), out);
    return smooth_part(what, given_way(what), std::move(part), out);
}

/// Plans the way of a part whose errors are those expected for a spectrum; nothing for other parts.
std::optional<Way> way_of_spectrum(const MapPart& what, bool is_window, SmoothedPart& part) {
    const bool is_harmonic = what.options.method == ConvolutionMethod::harmonic;
    if (!is_harmonic && what.options.method != ConvolutionMethod::automatic)
        check_sums(what, what.options.method);
    if (what.certifies() || is_window || !is_planned(what.options)) return std::nullopt;
    return plan_way(what, part);
}

/// The report of a map that goes one way.
SmoothedPart part_of_all(const SkyMap& map) {
    SmoothedPart part;
    part.fields = map.groups()[0].fields;
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) part.rows.push_back(row);
    return part;
}

Normalization normalization_of(const MapSmoothingOptions& options) {
    const bool is_harmonic = options.method == ConvolutionMethod::harmonic;
    return options.normalization.value_or(is_harmonic ? Normalization::none : Normalization::window);
}

SmoothedMap smooth(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    check(map, kernel, options);
    const auto normalization = normalization_of(options);
    const bool is_window = needs_window(map, kernel, options);
    const MapPart whole{map, kernel, options, normalization};
    // The fields of spin 0 and Q and U each take the way that is fastest for them.
    const bool has_parts = map.has_both_spins() && !is_window && (whole.certifies() || is_planned(options));
    SmoothedMap result{SkyMap(map, options.pixels_out.value_or(map.header().pixelization)), {}};
    if (!has_parts) {
        auto part = part_of_all(map);
        auto way = way_of_spectrum(whole, is_window, part);
        result.parts.push_back(smooth_one(whole, is_window, std::move(way), std::move(part), result.map));
        return result;
    }
    if (options.plan)
        throw InvalidArgument(fmt::format(
            "plan: a plan keeps one way, and {} has I and Q, U, which may go two", map.header().source));
    if (options.mask_rule.fill_masked) result.map.make_full_sky();
    std::vector<SkyMap> maps;
    std::vector<std::optional<Way>> ways;
    for (const bool is_spin : {false, true}) {
        auto& part = result.parts.emplace_back();
        part.rows = rows_of(map, is_spin);
        part.fields = is_spin ? Fields::qu : Fields::scalars;
        maps.emplace_back(map, part.fields, part.rows);
        ways.push_back(way_of_spectrum({maps.back(), kernel, options, normalization}, is_window, part));
    }
    for (std::size_t i = 0; i < maps.size(); ++i) {
        auto& part = result.parts[i];
        SkyMap out(maps[i], maps[i].header().pixelization);
        part = smooth_one({maps[i], kernel, options, normalization}, is_window, std::move(ways[i]),
                          std::move(part), out);
        for (std::size_t k = 0; k < part.rows.size(); ++k) {
            const auto row = std::as_const(out).rows()[static_cast<std::int64_t>(k)];
            std::copy_n(row.data(), row.size(), result.map.rows()[part.rows[k]].data());
        }
    }
    return result;
}

/// Smooths in the map's own memory where only harmonic space needs the map, which lets go of it after the
/// analysis.
SmoothedMap smooth_in_place(SkyMap&& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    const bool is_in_place =
        options.method == ConvolutionMethod::harmonic && !options.error &&
        options.pixels_out.value_or(map.header().pixelization) == map.header().pixelization;
    if (!is_in_place) return smooth(std::as_const(map), kernel, options);
    check(map, kernel, options);
    SmoothedMap result{std::move(map), {}};
    const MapPart what{result.map, kernel, options, normalization_of(options)};
    result.parts.push_back(smooth_part(what, given_way(what), part_of_all(result.map), result.map));
    return result;
}

}  // namespace
}  // namespace planning

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

SmoothedMap smooth(const SkyMap& map, const SmoothingWindow& window, const MapSmoothingOptions& options) {
    return planning::smooth(map, {window, {}}, options);
}

SmoothedMap smooth(SkyMap&& map, const SmoothingWindow& window, const MapSmoothingOptions& options) {
    return planning::smooth_in_place(std::move(map), {window, {}}, options);
}

SmoothedMap convolve(const SkyMap& map, const std::vector<RadialKernel>& kernels,
                     const MapSmoothingOptions& options) {
    if (kernels.empty()) throw InvalidArgument("kernels: none is given: must be one, or one for each row");
    return planning::smooth(map, {{}, kernels}, options);
}

}  // namespace zonal
