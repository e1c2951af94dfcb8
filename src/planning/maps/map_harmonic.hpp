#pragma once

#include "planning/maps/map_choice.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

/// Returns how the analysis of options without a plan ends: iterations lead to the continuous reference, the
/// discrete one has none. Throws InvalidArgument where they contradict each other.
PlannedAnalysis given_analysis(const MapSmoothingOptions& options, ConvolutionReference reference);

/// Returns the lowest of the degrees that both grids resolve.
std::int64_t default_lmax(const Grid& grid, const Grid& grid_out);

/// Smooths the fields of a part with its window, in harmonic space, and tells in `part` what was done: where
/// the reference is continuous and the grid lets it, with certificates.
void smooth_in_harmonic_space(const MapPart& what, const Way& way, SkyMap& out, SmoothedPart& part);

}  // namespace zonal::planning
