#include "engine/masked_analysis.hpp"

#include <fmt/core.h>

#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

void report_masked(const MaskedAnalysis& options, const SkyMap& map, const MapAlm& alm,
                   const MapAnalysisReport& result, Session& session) {
    auto& report = session.report;
    if (options.remove_monopole || options.remove_dipole)
        report["removed_monopole"] = result.removed.monopole;
    if (options.remove_dipole) report["removed_dipole_xyz"] = result.removed.dipole;
    for (std::size_t row = 0; row < result.sky_fraction.size(); ++row) {
        const auto& fraction = result.sky_fraction[row];
        report["f_sky"].push_back({{"name", map.row_name(static_cast<std::int64_t>(row))},
                                   {"used", fraction.used},
                                   {"mean", fraction.mean},
                                   {"mean_square", fraction.mean_square}});
    }
    report_analysis(result.analysis, options.choice, session);
    report["lmax"] = alm.layout.lmax();
    report["mmax"] = alm.layout.mmax();
}

}  // namespace

void add_masked_analysis_options(CLI::App& app, MaskedAnalysis& options) {
    add_map_input(app, options.input);
    add_analysis_options(app, options.choice, WithMmax::yes);
    add_mask_options(app, options.mask, MaskModes::zero_or_error);
    app.add_flag("--remove-monopole", options.remove_monopole,
                 "fit the monopole of I outside the mask and subtract it")
        ->group("Mask");
    app.add_flag("--remove-dipole", options.remove_dipole, "the same with monopole and dipole together")
        ->group("Mask");
}

MapAlm analyze_masked(const MaskedAnalysis& options, const SkyMap& map, const RunOptions& run,
                      Session& session) {
    const auto mask = read_mask(options.mask, map, session);
    if ((options.remove_monopole || options.remove_dipole) && map.intensity_row() < 0)
        throw UsageError(fmt::format("--remove-{}: {} has no intensity column",
                                     options.remove_dipole ? "dipole" : "monopole", map.header().source));
    const auto weights = find_weights(options.choice, map, run, session);
    auto how = map_analysis_options(options.choice, map, weights, run, session.progress("analysis"));
    how.mask = mask.view();
    how.mask_mode = options.mask.mode;
    if (options.remove_dipole)
        how.remove = FitTerms::monopole_and_dipole;
    else if (options.remove_monopole)
        how.remove = FitTerms::monopole;
    try {
        auto [alm, report] = analyze(map, how);
        report_masked(options, map, alm, report, session);
        return std::move(alm);
    } catch (const InvalidArgument& error) {  // of the pixels: the options are checked
        throw IoError(fmt::format("{}: {}", map.header().source, error.what()));
    }
}

std::vector<io::HeaderCard> parameter_cards(const MaskedAnalysis& options, const SkyMap& map,
                                            const Session& session) {
    std::vector<io::HeaderCard> cards;
    if (map.nside() > 0) cards.push_back({"MAPNSIDE", map.nside(), "nside of the map"});
    cards.push_back({"ITER", session.report["iterations"].get<std::int64_t>(), "iterations of the analysis"});
    if (options.choice.tolerance > 0)
        cards.push_back({"TOLERANC", options.choice.tolerance, "of the analysis"});
    if (!options.mask.file.empty()) cards.push_back({"MASKFILE", header_text(options.mask.file), "mask"});
    cards.push_back(
        {"FSKY", session.report["f_sky"][0]["used"].get<double>(), "fraction of sky used, not divided out"});
    if (options.remove_dipole || options.remove_monopole)
        cards.push_back({"MONOPOLE", session.report["removed_monopole"].get<double>(), "taken away before"});
    return cards;
}

}  // namespace zonal::cli
