#pragma once

#include "planning/maps/map_choice.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

/// Returns how the analysis ends if nothing is planned: with iterations for the continuous reference, without
/// any for the discrete one. Throws InvalidArgument for options that contradict this.
PlannedAnalysis given_analysis(const MapSmoothingOptions& options, ConvolutionReference reference);

/// Returns the highest degree that both grids resolve.
std::int64_t default_lmax(const Grid& grid, const Grid& grid_out);

/// Smooths the fields of a part with its window, in harmonic space, and tells in `part` what was done. It
/// adds certificates where the reference is continuous and the grid has bounds.
void smooth_in_harmonic_space(const MapPart& what, const Way& way, SkyMap& out, SmoothedPart& part);

}  // namespace zonal::planning
