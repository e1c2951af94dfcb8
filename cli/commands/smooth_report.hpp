#pragma once

#include <vector>

#include "options/smooth_options.hpp"
#include "shell/session.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::cli {

/// What the files behind the options hold that the report names.
struct SmoothingInput {
    std::vector<double> energies;  ///< of the kernels, MeV; empty: they have none
    std::string costs;             ///< fingerprint of the costs that were planned by
};

/// Adds what was done to the report, with its notes: of one part at the top, of two under "parts".
void report_smoothing(const SmoothOptions& options, const SmoothedMap& smoothed, const SmoothingInput& given,
                      Session& session);

/// FWHM and so on, and how the map was smoothed; Q and U that went another way than I have cards of their own
/// (METHODQU).
std::vector<io::HeaderCard> smoothing_cards(const SmoothOptions& options, const SmoothedMap& smoothed,
                                            const Session& session);

/// The cards of the options alone, for alm.
std::vector<io::HeaderCard> option_cards(const SmoothOptions& options, const Session& session);

}  // namespace zonal::cli
