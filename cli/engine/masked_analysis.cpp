#include "engine/masked_analysis.hpp"

#include <fmt/core.h>

#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"

namespace zonal::cli {
namespace {

/// Fits outside mask and UNSEEN, subtracts everywhere.
void remove_monopole_dipole(const MaskedAnalysis& options, View<const double, 1> mask, SkyMap& map,
                            Session& session) {
    if (!options.remove_monopole && !options.remove_dipole) return;
    const auto row = map.intensity_row();
    if (row < 0)
        throw UsageError(fmt::format("--remove-{}: {} has no intensity column",
                                     options.remove_dipole ? "dipole" : "monopole", map.header().source));
    const auto intensity = map.rows()[row];
    const auto terms = options.remove_dipole ? FitTerms::monopole_and_dipole : FitTerms::monopole;
    try {
        const auto fit = fit_monopole_dipole<double>(map.grid(), intensity, mask, terms);
        subtract_monopole_dipole<double>(map.grid(), fit, intensity);
        session.report["removed_monopole"] = fit.monopole;
        if (options.remove_dipole) session.report["removed_dipole_xyz"] = fit.dipole;
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", map.header().source, error.what()));
    }
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

MapAlm analyze_masked(const MaskedAnalysis& options, SkyMap& map, const RunOptions& run, Session& session) {
    options.choice.mmax_for(options.choice.lmax_for(map));
    const auto mask = read_mask(options.mask, map, session);
    remove_monopole_dipole(options, mask.view(), map, session);
    Array<double, 2> weights(map.rows().extents());
    apply_mask(options.mask, map.header().source, mask.view(), map, weights.view());
    for (std::int64_t row = 0; row < weights.extent(0); ++row) {
        const auto fraction = sky_fraction(map.grid(), weights.view()[row]);
        session.report["f_sky"].push_back({{"name", map.row_name(row)},
                                           {"used", fraction.used},
                                           {"mean", fraction.mean},
                                           {"mean_square", fraction.mean_square}});
    }
    stop_if_interrupted();
    return analyze_map(map, options.choice, run, session);
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
