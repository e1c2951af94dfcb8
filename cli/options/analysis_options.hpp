#pragma once

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/mask_options.hpp"
#include "shell/session.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/weights.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/resampling.hpp"

namespace zonal::cli {

/// --lmax, --mmax, --iter, --tolerance, --weights: how maps become alm.
struct AnalysisChoice {
    std::optional<std::int64_t> lmax;
    std::optional<std::int64_t> mmax;
    std::optional<std::int64_t> iterations;
    double tolerance = 0;
    std::string weights = "none";

    /// Any but --lmax and --mmax, which alm files take too.
    bool given_for_maps() const { return iterations || tolerance > 0 || weights != "none"; }
    bool given() const { return lmax || mmax || given_for_maps(); }
    /// 3 without --iter and --tolerance, 0 with --tolerance. Throws UsageError when both are given.
    int iteration_count() const;
    /// --lmax, or 3 nside - 1 (CAR: what its rings allow), which is also the most. Throws UsageError.
    std::int64_t lmax_for(const SkyMap& map) const;
    /// The same for a HEALPix map of which only the header has been read.
    std::int64_t lmax_for(const MapFile& header) const;
    /// --lmax, or what the alm of the file go up to, which is also the most. Throws UsageError.
    std::int64_t lmax_of(const std::string& path, const AlmLayout& layout) const;
    /// --mmax, or lmax. Throws UsageError for mmax > lmax.
    std::int64_t mmax_for(std::int64_t lmax) const;
};

/// Reads this rank's part of a map that the ranks of the job will analyse together.
SkyMap read_sky_part(const std::string& path, const MapInput& input, const AnalysisChoice& choice,
                     const RunOptions& run, Session& session);

enum class WithMmax { no, yes };
/// default_lmax, default_iterations: what --help says of them.
void add_analysis_options(CLI::App& app, AnalysisChoice& choice, WithMmax with_mmax,
                          const std::string& default_lmax = "3 nside - 1",
                          const std::string& default_iterations = "3");

/// io::find_weights, with its notes and how a computation went in the report.
io::FoundWeights weights_for(const std::string& choice, std::int64_t nside, int threads, Session& session);
void report_weights(const healpix::QuadratureWeights& computed, Session& session);

/// Weights of the pixels that --weights asks for; both empty for none.
struct PixelWeights {
    std::vector<double> ring;   ///< [ring]
    std::vector<double> pixel;  ///< [pixel], ring order
};
PixelWeights find_weights(const AnalysisChoice& choice, const SkyMap& map, const RunOptions& run,
                          Session& session);

/// What the library's analysis of a map takes, with the weights that it refers to. stage: of the bar.
struct MapAnalysis : MapAnalysisOptions {
    MapAnalysis(const AnalysisChoice& choice, const SkyMap& map, const RunOptions& run,
                const std::string& stage, Session& session);
    MapAnalysis(const MapAnalysis&) = delete;
    MapAnalysis& operator=(const MapAnalysis&) = delete;

  private:
    PixelWeights weights_;
};

/// Adds iterations and what they reached of one analysis (AnalysisReport, SmoothingReport) to what the report
/// holds of those before it: the worst of all counts.
template <class Report>
void report_analysis(const Report& result, const AnalysisChoice& choice, Session& session) {
    auto& report = session.report;
    report["iterations"] = std::max(result.iterations, report.value("iterations", 0));
    if (choice.tolerance > 0) {
        report["residual"] = std::max(result.residual, report.value("residual", 0.0));
        report["converged"] = result.reached_tolerance && report.value("converged", true);
    } else if (result.iterations > 0) {
        report["last_update"] = std::max(result.last_update, report.value("last_update", 0.0));
    }
    const bool is_missed = choice.tolerance > 0 && !result.reached_tolerance;
    if (!result.note.empty()) is_missed ? session.warn(result.note) : session.note(result.note);
}
/// The same, with lmax and mmax. That --tolerance was not reached is a miss.
void report_analysis(const AnalysisReport& result, const AlmLayout& layout, const AnalysisChoice& choice,
                     Session& session);

/// What a resampling assumed and reached: its analysis, how much of the map that leaves out, and, where
/// values were interpolated, their errors.
void report_resampling(const ResamplingReport& result, const AnalysisChoice& choice, Session& session);

/// What map2alm and anafast do to a map before they look at its alm: choose columns, fit and take away
/// monopole and dipole outside the mask, mask, analyse.
struct MaskedAnalysis {
    MapInput input;
    MaskOptions mask;
    bool remove_monopole = false;
    bool remove_dipole = false;
    AnalysisChoice choice;

    /// Any that alm files do not take.
    bool given_for_maps() const;
};
void add_masked_analysis_options(CLI::App& app, MaskedAnalysis& options);

/// Reads a map of one sky. Throws UsageError for several.
SkyMap read_one_sky(const std::string& path, const MaskedAnalysis& options, const RunOptions& run,
                    Session& session);

/// Its alm: analyze_in_place. Reports f_sky and what was taken away; the cards of the result say how it was
/// analysed.
io::AlmFile analyze_masked(SkyMap& map, const MaskedAnalysis& options, const RunOptions& run,
                           Session& session);

}  // namespace zonal::cli
