#pragma once

#include "planning/maps/map_choice.hpp"

namespace zonal::planning {

/// Throws InvalidArgument if counts are to be kept of Q and U.
void check_counts(const MapPart& what);

/// Throws InvalidArgument for what a method that sums over pixels cannot do.
void check_sums(const MapPart& what, ConvolutionMethod method);

/// Smooths the fields of a part by sums over pixels or a split. out: has the map's pixels. part: gets
/// kernels, errors and what was done. Throws InvalidArgument for what only harmonic space can do.
void smooth_by_sums(const MapPart& what, const Way& way, SkyMap& out, SmoothedPart& part);

}  // namespace zonal::planning
