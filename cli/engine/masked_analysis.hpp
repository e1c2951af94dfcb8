#pragma once

#include <CLI/App.hpp>
#include <vector>

#include "options/analysis_options.hpp"
#include "options/map_input.hpp"
#include "options/mask_options.hpp"

namespace zonal::cli {

/// What map2alm and anafast do to a map before they look at its alm: choose columns, fit and take away
/// monopole and dipole outside the mask, mask, analyse.
struct MaskedAnalysis {
    MapInput input;
    MaskOptions mask;
    bool remove_monopole = false;
    bool remove_dipole = false;
    AnalysisChoice choice;
};
void add_masked_analysis_options(CLI::App& app, MaskedAnalysis& options);

/// zonal::analyze by these options. Reports f_sky and what was taken away.
MapAlm analyze_masked(const MaskedAnalysis& options, const SkyMap& map, const RunOptions& run,
                      Session& session);

std::vector<io::HeaderCard> parameter_cards(const MaskedAnalysis& options, const SkyMap& map,
                                            const Session& session);

}  // namespace zonal::cli
