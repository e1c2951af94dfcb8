#pragma once

#include <cstdint>

#include "zonal/device.hpp"
#include "zonal/view.hpp"

/// What points may be.
namespace zonal::points {

/// Beyond it a phi has no digits of its angle that mean anything.
inline constexpr double largest_phi = 1e9;

/// Throws BackendUnavailable where a GPU is asked for by what is made of points on the CPU alone, such as
/// "BeamCube".
void check_cpu(Device device, const char* what);
/// Throws InvalidArgument unless both have one length and are on the host or in `also`.
void check_arrays(View<const double, 1> theta, View<const double, 1> phi,
                  MemorySpace also = MemorySpace::host);
/// Throws InvalidArgument where the point of this number is outside the range of theta or phi.
void check_angle(double theta, double phi, std::int64_t number);
/// The same for the first such point of all.
void check_angles(View<const double, 1> theta, View<const double, 1> phi);

/// The same for a point that a deflection of t, p along e_theta and e_phi moves.
void check_displacement(double theta, double phi, double t, double p, std::int64_t number);

}  // namespace zonal::points
