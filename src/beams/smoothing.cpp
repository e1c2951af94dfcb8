#include "zonal/beams/smoothing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "beams/beam_convolver.hpp"
#include "beams/sky_spectra.hpp"
#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace beams {
namespace {

std::int64_t check_turned(const TurnedBeam& beam) {
    if (!beam.layout.has_all_orders()) throw InvalidArgument("layout", "must have all orders up to its mmax");
    if (beam.alm.extent(0) != 1 && beam.alm.extent(0) != 3)
        throw InvalidArgument(
            "beam", fmt::format("has {} components: must have 1 (T) or 3 (T, E, B)", beam.alm.extent(0)));
    sht::check_extent("beam", beam.alm, 1, "coefficient", beam.layout.size());
    sht::check_host("beam", beam.alm);
    if (beam.kmax < -1 || beam.kmax > beam.layout.mmax())
        throw InvalidArgument(
            "kmax", beam.kmax,
            fmt::format("must be from 0 to that of the beam, {}, or -1 for it", beam.layout.mmax()));
    if (!std::isfinite(beam.psi)) throw InvalidArgument("psi", beam.psi, "must be finite");
    for (std::int64_t c = 0; c < beam.alm.extent(0); ++c)
        for (std::int64_t i = 0; i < beam.alm.extent(1); ++i)
            if (const Complex b = beam.alm(c, i); !std::isfinite(b.real()) || !std::isfinite(b.imag()))
                throw InvalidArgument(fmt::format("beam[{}, {}]", c, i), "must be finite");
    return beam.kmax == -1 ? beam.layout.mmax() : beam.kmax;
}

/// Orders of the beam up to lmax, turned about its axis by psi: b_lk exp(-i k psi).
EffectiveBeam turned_orders(const TurnedBeam& beam, std::int64_t first_order, std::int64_t last_order,
                            std::int64_t lmax) {
    const AlmLayout layout(lmax, std::min(last_order, lmax));
    Array<Complex, 2> alm({beam.alm.extent(0), layout.size()});
    for (std::int64_t k = first_order; k <= layout.mmax(); ++k) {
        const Complex turn =
            std::polar(1.0, -std::remainder(static_cast<double>(k) * beam.psi, 2 * std::numbers::pi));
        for (std::int64_t c = 0; c < alm.extent(0); ++c)
            for (std::int64_t l = std::max<std::int64_t>(k, c == 0 ? 0 : 2); l <= lmax; ++l) {
                const Complex b = beam.alm(c, beam.layout.index(l, k));
                alm(c, layout.index(l, k)) = k == 0 ? Complex(b.real()) : turn * b;
            }
    }
    return {0, Modulation::none, layout, std::move(alm)};
}

void scan_orders(const Grid& grid, const AlmLayout& layout, const View<const Complex, 2>& sky,
                 const EffectiveBeam& beam, const View<double, 1>& signal, const GridScanOptions& options) {
    std::fill_n(signal.data(), signal.size(), 0.0);
    const int threads = core::resolve_threads(options.threads);
    for (std::int64_t k = 0; k <= beam.layout.mmax(); ++k) {
        if (!beam.has(k)) continue;
        const std::int64_t components = k == 0 ? 1 : 2;
        Array<Complex, 3> alm({1, components, layout.size()});
        field_of_sky<double>(layout, threads, beam, k, sky, alm.view()[0]);
        const auto plan = kept_plan(grid, {.lmax = layout.lmax(),
                                           .mmax = layout.mmax(),
                                           .spin = static_cast<int>(k),
                                           .threads = options.threads,
                                           .device = options.device});
        Array<double, 3> map({1, components, signal.size()});
        const auto orders = static_cast<double>(beam.layout.mmax() + 1);
        plan->synthesize<double>(alm.view(), map.view(),
                                 sht::part_of(options.progress, static_cast<double>(k) / orders,
                                              static_cast<double>(k + 1) / orders));
        const double factor = k == 0 ? 1 : 2;  // the beam is turned by psi: Q_k alone is left
        for (std::int64_t p = 0; p < signal.size(); ++p) signal[p] += factor * map(0, 0, p);
    }
}

View<const Complex, 2> rows_from(const Array<Complex, 2>& alm, std::int64_t first, std::int64_t count) {
    return {alm.data() + first * alm.extent(1), {count, alm.extent(1)}};
}

/// The header of a map of what a detector measures, with the name and unit of this row.
MapFile header_of_signal(const SkyMap& map) {
    MapFile header = map.header();
    MapColumn column = map.column(map.intensity_row());
    column.name = "SIGNAL";
    column.stokes = Stokes::none;
    header.columns = {std::move(column)};
    header.polarization_convention = PolarizationConvention::absent;
    return header;
}

}  // namespace
}  // namespace beams

void scan_grid(const Grid& grid, const AlmLayout& layout, View<const std::complex<double>, 2> sky,
               const TurnedBeam& beam, View<double, 1> signal, const GridScanOptions& options) {
    const std::int64_t kmax = beams::check_turned(beam);
    if (!layout.has_all_orders()) throw InvalidArgument("layout", "must have all orders up to its mmax");
    if (beam.layout.lmax() < layout.lmax())
        throw InvalidArgument("beam", fmt::format("ends at l = {}: must go on to that of the sky, {}",
                                                  beam.layout.lmax(), layout.lmax()));
    sht::check_extent("sky", sky, 0, "component", beam.alm.extent(0));
    sht::check_extent("sky", sky, 1, "coefficient", layout.size());
    sht::check_host("sky", sky);
    sht::check_extent("signal", signal, 0, "pixel", grid.n_pixels());
    sht::check_host("signal", signal);
    if (signal.stride(0) != 1) throw InvalidArgument("signal", "must be contiguous");
    beams::scan_orders(grid, layout, sky, beams::turned_orders(beam, 0, kmax, layout.lmax()), signal,
                       options);
}

BeamSmoothedMap smooth_with_beam(SkyMap map, const TurnedBeam& beam, const BeamSmoothingOptions& options) {
    const std::int64_t kmax = beams::check_turned(beam);
    if (!map.is_whole())
        throw InvalidArgument("map", "is a part of a sky: must be a whole one, with UNSEEN pixels");
    const bool polarized = beam.alm.extent(0) == 3;
    if (polarized && !(map.polarized() && map.intensity_row() >= 0 && map.rows().extent(0) == 3))
        throw InvalidArgument("beam",
                              fmt::format("has T, E and B: {} must have I, Q and U, and no other field",
                                          map.header().source.empty() ? "the map" : map.header().source));
    if (!polarized && map.polarized())
        throw InvalidArgument("beam",
                              fmt::format("has T alone, and {} has Q and U: must have E and B for these",
                                          map.header().source.empty() ? "the map" : map.header().source));
    const auto lmax =
        options.analysis.lmax >= 0 ? options.analysis.lmax : default_smoothing_lmax(map.whole_grid());
    if (beam.layout.lmax() < lmax)
        throw InvalidArgument(
            "beam", fmt::format("ends at l = {}: must go on to lmax = {}", beam.layout.lmax(), lmax));
    const std::int64_t n_pixels = map.rows().extent(1), n_rows = map.rows().extent(0);
    Array<double, 2> known({n_rows, n_pixels});
    find_known(map, options.analysis.mask, known.view(), options.analysis.threads);
    MapAnalysisOptions how = options.analysis;
    how.lmax = lmax;
    how.progress = sht::part_of(options.analysis.progress, 0, 0.5);
    AnalyzedMap analyzed = analyze_in_place(map, how);
    const AlmLayout& layout = analyzed.alm.layout;
    const beams::EffectiveBeam used = beams::turned_orders(beam, 0, kmax, lmax),
                               rest = beams::turned_orders(beam, kmax + 1, beam.layout.mmax(), lmax);
    BeamSmoothedMap result{polarized ? SkyMap(beams::header_of_signal(map)) : std::move(map), lmax,
                           used.layout.mmax(), std::move(analyzed.report)};
    const std::int64_t components = beam.alm.extent(0), n_signals = n_rows / components;
    for (std::int64_t i = 0; i < n_signals; ++i) {
        const auto sky = beams::rows_from(analyzed.alm.alm, i * components, components);
        const auto signal = result.map.rows()[i];
        beams::scan_orders(
            result.map.grid(), layout, sky, used, signal,
            {options.analysis.threads, options.analysis.device,
             sht::part_of(options.analysis.progress,
                          0.5 + 0.5 * static_cast<double>(i) / static_cast<double>(n_signals),
                          0.5 + 0.5 * static_cast<double>(i + 1) / static_cast<double>(n_signals))});
        if (kmax < beam.layout.mmax()) {
            const beams::SkySpectra spectra(layout, sky);
            const double kept = spectra.mean_square(used), left = spectra.mean_square(rest);
            if (left > 0) result.left_out = std::max(result.left_out, std::sqrt(left / kept));
        }
        if (!options.fill_masked)
            for (std::int64_t p = 0; p < n_pixels; ++p)
                for (std::int64_t c = 0; c < components; ++c)
                    if (known(i * components + c, p) == 0) signal[p] = unseen_value;
    }
    return result;
}

}  // namespace zonal
