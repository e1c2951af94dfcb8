#pragma once

#include "zonal/view.hpp"

/// What points may be.
namespace zonal::points {

/// Beyond it a phi has no digits of its angle that mean anything.
inline constexpr double largest_phi = 1e9;

/// Throws InvalidArgument unless both are on the host and have one length.
void check_arrays(View<const double, 1> theta, View<const double, 1> phi);
/// Throws InvalidArgument for the first point that is nowhere.
void check_angles(View<const double, 1> theta, View<const double, 1> phi);

}  // namespace zonal::points
