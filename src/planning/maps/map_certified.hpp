#pragma once

#include "planning/maps/map_choice.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

/// Smooths the fields of a part so that the certified error of each map is at most the error that was asked
/// for. It plans with the gain of white noise and smooths; if the maps have a smaller gain, it does both once
/// more with the gain that it has measured. The part that it returns tells what was done. Throws ErrorNotKept
/// where the error is not certified, unless keep_missed is set.
///
/// needs_window: only harmonic space, with a window, can do what is asked for. Otherwise the part's fields
/// are all of one spin.
SmoothedPart smooth_certified(const MapPart& what, bool needs_window, SmoothedPart part, SkyMap& out);

/// Returns the reference that the result of a part stands for.
ConvolutionReference reference_of(const MapPart& what, bool needs_window);

}  // namespace zonal::planning
