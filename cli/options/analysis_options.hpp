#pragma once

#include <CLI/App.hpp>
#include <algorithm>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "shell/session.hpp"
#include "zonal/alm.hpp"
#include "zonal/analysis.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// --lmax, --mmax, --iter, --tolerance, --weights: how maps become alm.
struct AnalysisChoice {
    std::optional<std::int64_t> lmax;
    std::optional<std::int64_t> mmax;
    std::optional<std::int64_t> iterations;
    double tolerance = 0;
    std::string weights = "none";

    bool given() const { return lmax || mmax || iterations || tolerance > 0 || weights != "none"; }
    /// 3 without --iter and --tolerance, 0 with --tolerance. Throws UsageError when both are given.
    int iteration_count() const;
    /// --lmax, or 3 nside - 1 (CAR: what its rings allow), which is also the most. Throws UsageError.
    std::int64_t lmax_for(const SkyMap& map) const;
    /// --mmax, or lmax. Throws UsageError for mmax > lmax.
    std::int64_t mmax_for(std::int64_t lmax) const;
};

enum class WithMmax { no, yes };
void add_analysis_options(CLI::App& app, AnalysisChoice& choice, WithMmax with_mmax);

/// Weights of the pixels that --weights asks for; both empty for none.
struct PixelWeights {
    std::vector<double> ring;   ///< [ring]
    std::vector<double> pixel;  ///< [pixel], ring order
};
PixelWeights find_weights(const AnalysisChoice& choice, const SkyMap& map, const RunOptions& run,
                          Session& session);

/// Adds iterations, residual and convergence of one analysis (AnalysisReport, SmoothingReport) to what the
/// report holds of those before it: the worst of all counts.
template <class Report>
void report_analysis(const Report& result, const AnalysisChoice& choice, Session& session) {
    auto& report = session.report;
    report["iterations"] = std::max(result.iterations, report.value("iterations", 0));
    if (choice.tolerance > 0) report["residual"] = std::max(result.residual, report.value("residual", 0.0));
    if (result.iterations > 0 || choice.tolerance > 0)  // else there was nothing to converge
        report["converged"] = result.converged && report.value("converged", true);
    if (!result.note.empty()) session.note(result.note);
}

/// alm of all fields of a map, [row, layout.size()]: T, E, B (or E, B) for the polarized group, then one of
/// each spin-0 field. UNSEEN must have been replaced before. Adds lmax, iterations and so on to the report.
struct MapAlm {
    AlmLayout layout{0};
    Array<std::complex<double>, 2> alm;
};
MapAlm analyze_map(const SkyMap& map, const AnalysisChoice& choice, const RunOptions& run, Session& session);

/// The opposite, onto all rows of the map.
void synthesize_map(const MapAlm& alm, const RunOptions& run, Session& session, SkyMap& map);

}  // namespace zonal::cli
