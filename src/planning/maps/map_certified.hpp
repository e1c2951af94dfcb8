#pragma once

#include "planning/maps/map_choice.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

/// Smooths the fields of a part so that the certificate of each map is at most the error that was asked for:
/// plans with the gain that noise has, smooths, and does both once more with the gain that was measured where
/// the maps have less. Tells what was done in the part that it returns. Throws ErrorNotKept where the error
/// is not certified, unless keep_missed is set.
///
/// needs_window: the part is smoothed with a window in harmonic space, which alone can do what is asked for.
/// The part's fields are of one spin otherwise.
SmoothedPart smooth_certified(const MapPart& what, bool needs_window, SmoothedPart part, SkyMap& out);

/// Returns what the result of a part stands for.
ConvolutionReference reference_of(const MapPart& what, bool needs_window);

}  // namespace zonal::planning
