#include "planning/maps/map_harmonic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/stopwatch.hpp"
#include "planning/certificate/map_certificate.hpp"
#include "planning/certificate/rounding_bound.hpp"
#include "planning/certificate/window_norms.hpp"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"

namespace zonal::planning {
namespace {

/// Returns groups of fields that share a window.
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
    if (const auto& sky = what.map.shared_part())
        smoothing.part = sky->layout().lmax() == lmax ? sky : sky->up_to(lmax);
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
            fmt::format("cut: {} has Q and U, and harmonic space has no window of their cut kernel; method = "
                        "pixel-sum applies it",
                        map.header().source));
}

/// Bounds what iterations and rounding may have left, for any map, on the grid of the result: their norms
/// times the window's largest value.
ErrorBound bound_of_window(const MapPart& what, const Grid& grid_out, double largest,
                           const SmoothingReport& report) {
    const auto& grid = what.map.whole_grid();
    const double out = largest_eigenvalue(grid_out, report.lmax), in = largest_eigenvalue(grid, report.lmax);
    const double weight =
        largest_weight(what.options.ring_weights, what.options.pixel_weights, what.map.part());
    ErrorBound bound;
    bound.quadrature = largest * analysis_norm(grid, report.lmax, report, weight) * std::sqrt(out / in);
    bound.rounding = rounding_of_transforms(report.lmax, report.iterations) * largest * std::sqrt(out * in);
    return bound;
}

/// The certificates of a group of fields: of its rows of spin 0, and of Q and U. The result may take the
/// place of the map.
class GroupCertificates {
  public:
    /// Before the map is smoothed.
    GroupCertificates(const MapPart& what, const FieldGroup& group)
        : what_(what),
          n_spin_(group.fields == Fields::scalars ? 0 : 2),
          n_scalars_(group.n_rows - n_spin_),
          first_(group.first_row),
          scalars_(rms_of(first_, n_scalars_, 1)),
          spin_(rms_of(first_ + n_scalars_, n_spin_, 2)) {}

    /// Afterwards.
    void add(const Beam& window, const SmoothingReport& report, const SkyMap& out, SmoothedPart& part) const {
        add_rows(first_, n_scalars_, scalars_, largest_of({window.temperature}, 0, report.lmax), report, out,
                 part);
        add_rows(first_ + n_scalars_, n_spin_, spin_,
                 largest_of({window.gradient, window.curl}, 0, report.lmax), report, out, part);
    }

  private:
    std::vector<double> rms_of(std::int64_t first, std::int64_t n_rows, int n_components) const {
        if (n_rows == 0) return {};
        ConvolutionOptions factors;
        factors.ring_weights = what_.options.ring_weights;
        factors.pixel_weights = what_.options.pixel_weights;
        return rms_of_input<double>(what_.map.grid(), n_components, factors,
                                    what_.map.rows().slice(first, n_rows), what_.options.mask,
                                    what_.options.threads, what_.map.part());
    }
    void add_rows(std::int64_t first, std::int64_t n_rows, const std::vector<double>& rms_in, double largest,
                  const SmoothingReport& report, const SkyMap& out, SmoothedPart& part) const {
        if (n_rows == 0) return;
        const auto bound = bound_of_window(what_, out.whole_grid(), largest, report);
        if (!std::isfinite(bound.total())) return;
        const auto all = certificates_of<double>(bound, rms_in, out.grid(), out.rows().slice(first, n_rows),
                                                 what_.options.threads, what_.map.part());
        part.certificates.insert(part.certificates.end(), all.begin(), all.end());
    }

    const MapPart& what_;
    std::int64_t n_spin_, n_scalars_, first_;
    std::vector<double> scalars_, spin_;  ///< rms of the map
};

}  // namespace

PlannedAnalysis given_analysis(const MapSmoothingOptions& options, ConvolutionReference reference) {
    if (options.iterations && options.tolerance > 0)
        throw InvalidArgument("tolerance: must be 0 where iterations are given");
    if (reference == ConvolutionReference::continuous)
        return {options.tolerance > 0 ? 0 : options.iterations.value_or(3), options.tolerance};
    if (options.iterations.value_or(0) > 0 || options.tolerance > 0)
        throw InvalidArgument(
            "reference = discrete: is the sum over the pixels; iterations and tolerance lead to the "
            "continuous reference");
    return {};
}

std::int64_t default_lmax(const Grid& grid, const Grid& grid_out) {
    return std::min(default_smoothing_lmax(grid), default_smoothing_lmax(grid_out));
}

void smooth_in_harmonic_space(const MapPart& what, const Way& way, SkyMap& out, SmoothedPart& part) {
    const auto& map = what.map;
    check_harmonic(what, out);
    const auto lmax = way.lmax >= 0 ? way.lmax : default_lmax(map.whole_grid(), out.whole_grid());
    const auto windows = harmonic_windows(what.kernel, what.options, what.normalizes(), lmax, part.kernels);
    auto smoothing = harmonic_options(what, way, lmax);
    part.device = smoothing.device;
    part.tolerance = smoothing.tolerance;
    const auto n_rows = static_cast<double>(map.rows().extent(0));
    const bool has_bound = way.reference == ConvolutionReference::continuous &&
                           what.options.mask_rule.mode != MaskMode::renormalize;
    const core::Stopwatch watch;
    for (const auto& group : groups_of_one_window(map, windows.size())) {
        const auto& window = windows[windows.size() == 1 ? 0 : static_cast<std::size_t>(group.first_row)];
        const auto begin = static_cast<double>(group.first_row), share = static_cast<double>(group.n_rows);
        smoothing.progress = sht::part_of(what.options.progress, begin / n_rows, (begin + share) / n_rows);
        const auto certificates = has_bound ? std::optional<GroupCertificates>({what, group}) : std::nullopt;
        const auto report =
            zonal::smooth<double>(map.grid(), map.rows(group), group.fields, what.options.mask, window,
                                  out.grid(), out.rows(group), smoothing);
        part.lmax = report.lmax;
        take(report, group, part);
        if (certificates) certificates->add(window, report, std::as_const(out), part);
    }
    part.seconds = watch.seconds();
}

}  // namespace zonal::planning
