#pragma once

#include <vector>

#include "options/smooth_options.hpp"
#include "shell/session.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::cli {

/// What the report names from the files that the options give.
struct SmoothingInput {
    std::vector<double> energies;  ///< of the kernels, MeV; empty: they have none
    std::string costs;             ///< fingerprint of the costs that were planned by
};

/// Adds to the report what was done, and its notes: a single part at the top level, two parts under "parts".
void report_smoothing(const SmoothOptions& options, const SmoothedMap& smoothed, const SmoothingInput& given,
                      Session& session);

/// FWHM and so on, and how the map was smoothed; Q and U that went another way than I have cards of their own
/// (METHODQU).
std::vector<io::HeaderCard> smoothing_cards(const SmoothOptions& options, const SmoothedMap& smoothed,
                                            const Session& session);

/// The cards of the options alone, for alm.
std::vector<io::HeaderCard> option_cards(const SmoothOptions& options, const Session& session);

}  // namespace zonal::cli
