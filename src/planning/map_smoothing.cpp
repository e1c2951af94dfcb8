#include "zonal/planning/map_smoothing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/constants.hpp"
#include "planning/map_choice.hpp"
#include "planning/map_sums.hpp"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace planning {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Groups that share a window.
std::vector<FieldGroup> groups_of_one_window(const SkyMap& map, std::size_t n_windows) {
    if (n_windows == 1) return map.groups();
    std::vector<FieldGroup> groups;
    groups.reserve(n_windows);
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) groups.push_back({Fields::scalars, row, 1});
    return groups;
}

SmoothingOptions harmonic_options(const MapPart& what, const Way& way, std::int64_t lmax) {
    const auto& options = what.options;
    SmoothingOptions smoothing;
    smoothing.lmax = lmax;
    smoothing.iterations = way.analysis.iterations;
    smoothing.tolerance = way.analysis.tolerance;
    smoothing.ring_weights = options.ring_weights;
    smoothing.pixel_weights = options.pixel_weights;
    smoothing.mask_mode = options.mask_rule.mode;
    smoothing.mask_threshold = options.mask_rule.threshold;
    smoothing.fill_masked = options.mask_rule.fill_masked;
    smoothing.threads = options.threads;
    smoothing.device = resolve_device(way.device);
    return smoothing;
}

void take(const SmoothingReport& report, const FieldGroup& group, SmoothedPart& part) {
    std::copy(report.masked_pixels.begin(), report.masked_pixels.end(),
              part.masked_pixels.begin() + group.first_row);
    std::copy(report.unseen_pixels.begin(), report.unseen_pixels.end(),
              part.unseen_pixels.begin() + group.first_row);
    merge(report, part.analysis);
}

void check_harmonic(const MapPart& what, const SkyMap& out) {
    const auto& [map, kernel, options, normalization] = what;
    if (kernel.is_ratio() && (!kernel.has_window() || options.cut))
        throw InvalidArgument("window: un-smoothing and pixel windows need a window that is not cut");
    const bool has_pixel_window = kernel.window.pixel_window_in || kernel.window.pixel_window_out;
    if (has_pixel_window && (map.nside() == 0 || out.nside() == 0))
        throw InvalidArgument(
            fmt::format("window: pixel windows are for HEALPix, and {} is not", map.header().source));
    if (!what.has_spin()) return;
    if (options.cut)
        throw InvalidArgument(
            fmt::format("cut: {} has Q and U, whose window of a cut kernel harmonic space does not know; "
                        "method = pixel-sum does",
                        map.header().source));
}

void smooth_in_harmonic_space(const MapPart& what, const Way& way, SkyMap& out, SmoothedPart& part) {
    const auto& map = what.map;
    check_harmonic(what, out);
    const auto most = default_smoothing_lmax(map.grid());
    const auto lmax = way.lmax >= 0 ? way.lmax : std::min(most, default_smoothing_lmax(out.grid()));
    const auto windows = harmonic_windows(what.kernel, what.options, what.normalizes(), lmax, part.kernels);
    auto smoothing = harmonic_options(what, way, lmax);
    part.device = smoothing.device;
    part.tolerance = smoothing.tolerance;
    const auto n_rows = static_cast<double>(map.rows().extent(0));
    const auto start = std::chrono::steady_clock::now();
    for (const auto& group : groups_of_one_window(map, windows.size())) {
        const auto& window = windows[windows.size() == 1 ? 0 : static_cast<std::size_t>(group.first_row)];
        const auto begin = static_cast<double>(group.first_row), share = static_cast<double>(group.n_rows);
        smoothing.progress = sht::part_of(what.options.progress, begin / n_rows, (begin + share) / n_rows);
        const auto report =
            zonal::smooth<double>(map.grid(), map.rows(group), group.fields, what.options.mask, window,
                                  out.grid(), out.rows(group), smoothing);
        part.lmax = report.lmax;
        take(report, group, part);
    }
    part.seconds = seconds_since(start);
}

/// As the caller says, without a plan.
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

/// Iterations lead to the continuous reference; the discrete one has none.
PlannedAnalysis given_analysis(const MapSmoothingOptions& options, ConvolutionReference reference) {
    if (options.iterations && options.tolerance > 0)
        throw InvalidArgument("tolerance: must be 0 where iterations are given");
    if (reference == ConvolutionReference::continuous)
        return {options.tolerance > 0 ? 0 : options.iterations.value_or(3), options.tolerance};
    if (options.iterations.value_or(0) > 0 || options.tolerance > 0)
        throw InvalidArgument(
            "reference = discrete: is the sum over the pixels, and iterations and tolerance lead to the "
            "continuous one");
    return {};
}

SmoothedPart smooth_part(const MapPart& what, Way way, SmoothedPart part, SkyMap& out) {
    part.method = way.method;
    part.reference = way.reference;
    part.normalization = what.normalization;
    part.error_bound = what.options.error;
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

/// Whether the fields of spin 0 and Q and U each take the way that is fastest for them.
bool has_parts(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    if (options.method != ConvolutionMethod::automatic && options.method != ConvolutionMethod::split)
        return false;
    if (options.method == ConvolutionMethod::automatic && !why_harmonic_only(map, kernel, options).empty())
        return false;
    return map.has_both_spins();
}

void check(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    const auto n_kernels = std::ssize(kernel.kernels), n_rows = map.rows().extent(0);
    if (n_kernels > 1 && n_kernels != n_rows)
        throw InvalidArgument(
            fmt::format("kernels: {}: must be one, or one for each of the map's {} rows", n_kernels, n_rows));
    if (kernel.has_window() && !kernel.window.fwhm && !kernel.window.beam && !kernel.is_ratio())
        throw InvalidArgument("window: nothing is given: needs a fwhm, a beam or a pixel window");
    if (!(options.error > 0 && options.error < 1))
        throw InvalidArgument(fmt::format("error = {}: must be above 0 and below 1", options.error));
    if (options.cut && !(*options.cut > 0 && *options.cut <= core::pi))
        throw InvalidArgument(fmt::format("cut = {}: must be above 0 and at most pi (rad)", *options.cut));
    const auto most = default_smoothing_lmax(map.grid());
    if (options.lmax > most)
        throw InvalidArgument(
            fmt::format("lmax = {}: must be at most {} for {}", options.lmax, most, map.header().source));
    if (options.lmax >= 0 && options.lmax < 2 && map.polarized())
        throw InvalidArgument(fmt::format("lmax = {}: must be at least 2 for the Q and U of {}", options.lmax,
                                          map.header().source));
}

SmoothedMap smooth(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    check(map, kernel, options);
    const bool is_harmonic = options.method == ConvolutionMethod::harmonic;
    const bool is_planned =
        options.method == ConvolutionMethod::automatic || options.method == ConvolutionMethod::split;
    const auto normalization =
        options.normalization.value_or(is_harmonic ? Normalization::none : Normalization::window);
    if (!has_parts(map, kernel, options)) {
        SmoothedMap result{SkyMap(map, options.pixels_out.value_or(map.header().pixelization)), {}};
        const MapPart what{map, kernel, options, normalization};
        SmoothedPart part;
        part.fields = map.groups()[0].fields;
        for (std::int64_t row = 0; row < map.rows().extent(0); ++row) part.rows.push_back(row);
        if (!is_harmonic && options.method != ConvolutionMethod::automatic) check_sums(what, options.method);
        const auto way = is_planned ? plan_way(what, part) : given_way(what);
        result.parts.push_back(smooth_part(what, way, std::move(part), result.map));
        return result;
    }
    if (options.plan)
        throw InvalidArgument(
            fmt::format("plan: keeps one way, and {} has I and Q, U, which may go two", map.header().source));
    SmoothedMap result{map, {}};
    if (options.mask_rule.fill_masked) result.map.make_full_sky();
    std::vector<SkyMap> maps;
    std::vector<Way> ways;
    for (const bool is_spin : {false, true}) {  // all of them, before what may take long
        auto& part = result.parts.emplace_back();
        part.rows = rows_of(map, is_spin);
        part.fields = is_spin ? Fields::qu : Fields::scalars;
        maps.emplace_back(map, part.fields, part.rows);
        const MapPart what{maps.back(), kernel, options, normalization};
        if (options.method == ConvolutionMethod::split) check_sums(what, options.method);
        ways.push_back(plan_way(what, part));
    }
    for (std::size_t i = 0; i < maps.size(); ++i) {
        auto& part = result.parts[i];
        SkyMap out(maps[i], maps[i].header().pixelization);
        part = smooth_part({maps[i], kernel, options, normalization}, ways[i], std::move(part), out);
        for (std::size_t k = 0; k < part.rows.size(); ++k) {
            const auto row = std::as_const(out).rows()[static_cast<std::int64_t>(k)];
            std::copy_n(row.data(), row.size(), result.map.rows()[part.rows[k]].data());
        }
    }
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

SmoothedMap convolve(const SkyMap& map, const std::vector<RadialKernel>& kernels,
                     const MapSmoothingOptions& options) {
    if (kernels.empty()) throw InvalidArgument("kernels: none is given: must be one, or one for each row");
    return planning::smooth(map, {{}, kernels}, options);
}

}  // namespace zonal
