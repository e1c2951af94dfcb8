#include "zonal/sky/resampling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sht/progress_part.hpp"
#include "sky/resampling/fields.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// The pixels of a partial sky have other numbers in another order or grid.
void keep_partial(const SkyMap& from, SkyMap& to) {
    if (from.header().partial() && !to.header().partial()) to.make_partial_sky();
}

std::int64_t resolve_lmax(const SkyMap& map, const Grid& to, const ResamplingOptions& options) {
    const auto lmax = options.analysis.lmax >= 0
                          ? options.analysis.lmax
                          : std::min(default_smoothing_lmax(map.grid()), default_smoothing_lmax(to));
    if (map.polarized() && lmax < 2)
        throw InvalidArgument("lmax", lmax,
                              fmt::format("must be at least 2 for the Q and U of {}", map.header().source));
    return lmax;
}

/// Names the columns, which the fields of a group do not know.
void require_all_known(const SkyMap& map, const ResamplingOptions& options) {
    if (options.analysis.mask_mode != MaskMode::error) return;
    Array<double, 2> known(map.rows().extents());
    find_known(map, {}, known.view(), options.analysis.threads);
    zonal::require_all_known(map, std::as_const(known).view());
}

void merge(ResamplingReport part, ResamplingReport& whole) {
    merge(part.analysis, whole.analysis);
    whole.interpolated |= part.interpolated;
    whole.bound = std::max(whole.bound, part.bound);
    whole.mean_error = std::max(whole.mean_error, part.mean_error);
}

}  // namespace

ResampledMap resample(const SkyMap& map, const Pixelization& pixels, const ResamplingOptions& options) {
    ResampledMap result{SkyMap(map, pixels), {}, {}};
    auto& out = result.map;
    if (options.rotation) {  // the pixels of a partial sky go elsewhere
        out.make_full_sky();
        out.header().coordinates = CoordinateSystem::unknown;
    }
    auto how = options;
    how.analysis.lmax = resolve_lmax(map, out.grid(), options);
    require_all_known(map, options);
    double done = 0;
    for (const auto& group : map.groups()) {
        const double share = static_cast<double>(group.n_rows) / static_cast<double>(map.rows().extent(0));
        how.analysis.progress = sht::part_of(options.analysis.progress, done, done + share);
        done += share;
        auto report = resample(map.grid(), map.rows(group), group.fields, out.grid(), out.rows(group), how);
        if (!report.analysis.note.empty()) result.notes.push_back(report.analysis.note);
        if (&group == &map.groups().front())
            result.report = std::move(report);
        else
            merge(std::move(report), result.report);
    }
    if (!options.rotation) keep_partial(map, out);
    return result;
}

ResampledMap rotate(const SkyMap& map, const EulerAngles& angles, ResamplingOptions options) {
    options.rotation = angles;
    return resample(map, map.header().pixelization, options);
}

double bytes_of_resampling(const SkyMap& map, const Pixelization& pixels, const ResamplingOptions& options) {
    const auto to = make_grid(pixels);
    const auto lmax = resolve_lmax(map, to, options);
    double most = 0, before = 0;
    for (const auto& group : map.groups()) {
        most = std::max(most, before + sky::bytes_of_resampling(map.grid(), group.n_rows, group.fields, to,
                                                                lmax, options));
        before += 8 * static_cast<double>(group.n_rows) * static_cast<double>(to.n_pixels());
    }
    return most;
}

double bytes_of_resampling(const SkyMap& map, std::int64_t n_points, const ResamplingOptions& options,
                           bool derivatives) {
    const auto lmax = options.analysis.lmax >= 0 ? options.analysis.lmax : default_smoothing_lmax(map.grid());
    const AlmLayout layout(lmax);
    double most = 0;
    for (const auto& group : map.groups())
        most = std::max(
            most, 16 * static_cast<double>(group.n_rows * layout.size()) +
                      std::max(sky::bytes_of_field_analysis(map.grid(), group.n_rows, group.fields, lmax,
                                                            options.analysis),
                               bytes_of_evaluation(layout, group.fields, group.n_rows, n_points,
                                                   {.error = options.error,
                                                    .threads = options.analysis.threads,
                                                    .device = options.analysis.device},
                                                   derivatives) +
                                   8 * static_cast<double>(group.n_rows * n_points * (derivatives ? 3 : 1))));
    return most;
}

SkyMap reorder(SkyMap map, const Pixelization& pixels) {
    if (!same_pixels(map.header().pixelization, pixels))
        throw InvalidArgument("pixels", to_string(pixels),
                              fmt::format("must be those of {}, {}", map.header().source,
                                          to_string(map.header().pixelization)));
    set_pixels(map.header(), pixels);
    return map;
}

}  // namespace zonal
