#include "zonal/sky/map_analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "core/parallel.hpp"
#include "sht/analysis/mask_dipole.hpp"
#include "sht/progress_part.hpp"
#include "sht/transform.hpp"
#include "sky/sky_patch.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace {

/// Rows that one plan transforms at once.
struct Batch {
    int spin;
    std::int64_t first_row;
    std::int64_t n_rows;
};

std::vector<Batch> batches(const SkyMap& map) {
    std::vector<Batch> result;
    for (const auto& group : map.groups()) {
        const auto first = group.first_row, n = group.n_rows;
        if (group.fields == Fields::scalars) result.push_back({0, first, n});
        if (group.fields == Fields::iqu) result.push_back({0, first, 1});
        if (group.fields != Fields::scalars) result.push_back({2, first + n - 2, 2});
    }
    return result;
}

/// The rows of a batch as [batch, component, element].
template <class T>
View<T, 3> batch_view(View<T, 2> rows, const Batch& batch) {
    const std::int64_t components = batch.spin == 0 ? 1 : 2;
    return {rows.data() + batch.first_row * rows.extent(1),
            {batch.n_rows / components, components, rows.extent(1)}};
}

Progress progress_of(const Progress& whole, const Batch& batch, const SkyMap& map) {
    const auto n_rows = static_cast<double>(map.rows().extent(0));
    return sht::part_of(whole, static_cast<double>(batch.first_row) / n_rows,
                        static_cast<double>(batch.first_row + batch.n_rows) / n_rows);
}

template <class Options>
std::shared_ptr<const ShtPlan> make_plan(const SkyMap& map, const AlmLayout& layout, int spin,
                                         const Options& options) {
    return map.part()->transform({.lmax = layout.lmax(),
                                  .mmax = layout.mmax(),
                                  .spin = spin,
                                  .threads = options.threads,
                                  .device = options.device});
}

AlmLayout layout_for(const SkyMap& map, const MapAnalysisOptions& options) {
    const auto most = default_smoothing_lmax(map.whole_grid());
    if (options.lmax > most)
        throw InvalidArgument(
            "lmax", options.lmax,
            fmt::format("must be at most {}{} for the analysis of {}", map.nside() > 0 ? "3*nside-1 = " : "",
                        most, map.whole_grid().name()));
    return map.part()->layout(options.lmax, options.mmax);
}

/// The first pixel of the whole map that a patch does not have; one beyond the last where it has all.
std::int64_t first_outside(const SkyPart& patch) {
    const auto& first = patch.pixels().front();
    return first.first > 0 ? 0 : first.end;
}

MonopoleDipole remove_monopole_dipole(SkyMap& map, const MapAnalysisOptions& options) {
    if (!options.remove) return {};
    const auto row = map.intensity_row();
    if (row < 0)
        throw InvalidArgument(
            fmt::format("{}: has no intensity column to fit a monopole to", map.header().source));
    const auto intensity = map.rows()[row];
    const auto part = map.part();
    Array<double, 2> sums;
    part->together("the fit of a monopole",
                   [&] { sums = sht::monopole_dipole_sums<double>(map.grid(), intensity, options.mask); });
    const auto fit = sht::fit_to_sums(part->sum_rings(sums.view()), *options.remove);
    subtract_monopole_dipole<double>(map.grid(), fit, intensity);
    return fit;
}

AnalysisReport analyze_rows(const SkyMap& map, const MapAnalysisOptions& options, MapAlm& result) {
    AnalysisOptions analysis{.iterations = options.tolerance > 0 ? 0 : options.iterations,
                             .tolerance = options.tolerance,
                             .max_iterations = options.max_iterations,
                             .ring_weights = options.ring_weights,
                             .pixel_weights = options.pixel_weights};
    AnalysisReport report;
    for (const auto& batch : batches(map)) {
        if (batch.spin > result.layout.lmax()) continue;  // E and B have no degrees below 2: their alm are 0
        analysis.progress = progress_of(options.progress, batch, map);
        merge(analyze<double>(*make_plan(map, result.layout, batch.spin, options),
                              batch_view(map.rows(), batch), batch_view(result.alm.view(), batch), analysis),
              report);
    }
    return report;
}

std::string unit_of(const SkyMap& map) {
    return map.column(0).unit;
}

/// Areas of each ring: all, and what SkyFraction has of it.
Array<double, 2> areas_of_rings(const Grid& grid, View<const double, 1> mask, int threads) {
    Array<double, 2> areas({grid.n_rings(), 4});
    core::parallel_for(grid.n_rings(), core::resolve_threads(threads), [&](std::int64_t r, int) {
        const Ring& ring = grid.rings()[r];
        SkyFraction sum;
        for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel) {
            sum.used += mask[pixel] != 0 ? 1 : 0;
            sum.mean += mask[pixel];
            sum.mean_square += mask[pixel] * mask[pixel];
        }
        areas(r, 0) = ring.weight * static_cast<double>(ring.n_pixels);
        areas(r, 1) = ring.weight * sum.used;
        areas(r, 2) = ring.weight * sum.mean;
        areas(r, 3) = ring.weight * sum.mean_square;
    });
    return areas;
}

SkyFraction fraction_of(const std::vector<double>& areas) {
    return {areas[1] / areas[0], areas[2] / areas[0], areas[3] / areas[0]};
}

}  // namespace

SkyFraction sky_fraction(const Grid& grid, View<const double, 1> mask, int threads) {
    return fraction_of(sht::sum_rows(areas_of_rings(grid, mask, threads).view()));
}

void find_known(const SkyMap& map, View<const double, 1> mask, View<double, 2> known, int threads) {
    const auto n_pixels = map.grid().n_pixels();
    if (mask.size() != 0 && mask.size() != n_pixels)
        throw InvalidArgument("mask", fmt::format("{} pixels, the map has {}", mask.size(), n_pixels));
    for (const auto& group : map.groups()) {
        const std::int64_t spins = group.fields == Fields::scalars ? 0 : 2, scalars = group.n_rows - spins;
        const View<const double, 2> rows = map.rows(group);
        const auto of_group = known.slice(group.first_row, group.n_rows);
        find_known<double>(rows.slice(0, scalars), mask, false, of_group.slice(0, scalars), threads);
        find_known<double>(rows.slice(scalars, spins), mask, true, of_group.slice(scalars, spins), threads);
    }
}

void require_all_known(const SkyMap& map, View<const double, 2> known) {
    const auto part = map.part();
    for (std::int64_t row = 0; row < known.extent(0); ++row) {
        std::int64_t bad = 0, first = 0;
        for (std::int64_t pixel = 0; pixel < known.extent(1); ++pixel)
            if (known(row, pixel) != 1 && bad++ == 0) first = part->whole_pixel(pixel);
        if (const auto* patch = part->patch(); patch && patch->n_outside() > 0) {
            first = bad > 0 ? std::min(first, first_outside(*patch)) : first_outside(*patch);
            bad += patch->n_outside();
        }
        if (bad > 0)
            throw InvalidArgument(fmt::format(
                "column {}: {} pixels{} are UNSEEN or masked, the first is pixel {} in ring order",
                map.row_name(row), bad, map.is_whole() || map.is_patch() ? "" : " of this rank", first));
    }
}

void apply_mask(SkyMap& map, View<const double, 1> mask, MaskMode mode, View<double, 2> weights,
                int threads) {
    find_known(map, mask, weights, threads);
    if (mode == MaskMode::error) require_all_known(map, weights);
    multiply_by_known<double>(weights, map.rows(), threads);
}

double bytes_of_analysis(const SkyMap& map, const MapAnalysisOptions& options) {
    const auto layout = layout_for(map, options);
    const double pixels = 8 * static_cast<double>(map.grid().n_pixels());
    const double coefficients = 16 * static_cast<double>(layout.size());
    const double rows = static_cast<double>(map.rows().extent(0));
    double most = rows * pixels;  // what is known of the map
    for (const auto& batch : batches(map)) {
        if (batch.spin > layout.lmax()) continue;
        const auto plan = make_plan(map, layout, batch.spin, options);
        const AnalysisOptions how{.iterations = options.iterations,
                                  .tolerance = options.tolerance,
                                  .ring_weights = options.ring_weights,
                                  .pixel_weights = options.pixel_weights};
        most = std::max(
            most, rows * coefficients + bytes_of_analysis(*plan, batch.n_rows / plan->map_components(), how));
    }
    return most;
}

AnalyzedMap analyze(SkyMap map, const MapAnalysisOptions& options) {
    return analyze_in_place(map, options);
}

AnalyzedMap analyze_in_place(SkyMap& map, const MapAnalysisOptions& options) {
    if (options.mask_mode == MaskMode::renormalize)
        throw InvalidArgument("mask_mode", "renormalize", "an analysis takes zero or error");
    AnalyzedMap result;
    result.alm.layout = layout_for(map, options);
    result.report.removed = remove_monopole_dipole(map, options);
    {
        const auto part = map.part();
        Array<double, 2> weights(map.rows().extents());
        part->together("a mask", [&] {
            apply_mask(map, options.mask, options.mask_mode, weights.view(), options.threads);
        });
        for (std::int64_t row = 0; row < weights.extent(0); ++row) {
            const auto areas = areas_of_rings(map.grid(), weights.view()[row], options.threads);
            result.report.sky_fraction.push_back(fraction_of(part->sum_rings(areas.view())));
            if (options.mask.size() > 0) require_known(result.report.sky_fraction.back().used);
        }
    }
    result.alm.alm = Array<std::complex<double>, 2>({map.rows().extent(0), result.alm.layout.size()});
    result.report.analysis = analyze_rows(map, options, result.alm);
    return result;
}

void synthesize(const MapAlm& alm, SkyMap& map, const MapSynthesisOptions& options) {
    if (alm.alm.extent(0) != map.rows().extent(0))
        throw InvalidArgument(
            "alm", fmt::format("{} rows, the map has {}", alm.alm.extent(0), map.rows().extent(0)));
    for (const auto& batch : batches(map)) {
        if (batch.spin > alm.layout.lmax()) continue;
        make_plan(map, alm.layout, batch.spin, options)
            ->template synthesize<double>(batch_view(alm.alm.view(), batch), batch_view(map.rows(), batch),
                                          progress_of(options.progress, batch, map));
    }
}

double bytes_of_synthesis(const Grid& grid, bool polarized, const AlmLayout& layout,
                          const MapSynthesisOptions& options) {
    double most = 0;
    for (const int spin : {0, 2}) {
        if (spin > 0 && (!polarized || spin > layout.lmax())) continue;
        const auto plan = WholeSky(grid).transform({.lmax = layout.lmax(),
                                                    .mmax = layout.mmax(),
                                                    .spin = spin,
                                                    .threads = options.threads,
                                                    .device = options.device});
        most = std::max(most, static_cast<double>(sht::host_workspace_bytes(*plan, 1)));
    }
    return most;
}

std::vector<Spectrum> anafast(SkyMap map, const MapAnalysisOptions& options) {
    require_one_sky(map);
    const auto unit = squared_unit(unit_of(map));
    const auto analyzed = analyze(std::move(map), options);
    auto result = spectra<double>(analyzed.alm.layout, analyzed.alm.alm.view());
    for (auto& spectrum : result) spectrum.unit = unit;
    return result;
}

std::vector<Spectrum> anafast(SkyMap first, SkyMap second, const MapAnalysisOptions& options) {
    require_one_sky(first);
    require_one_sky(second);
    const auto unit = product_unit(unit_of(first), unit_of(second));
    const auto a = analyze(std::move(first), options), b = analyze(std::move(second), options);
    auto result = spectra<double>(a.alm.layout, a.alm.alm.view(), b.alm.alm.view());
    for (auto& spectrum : result) spectrum.unit = unit;
    return result;
}

}  // namespace zonal
