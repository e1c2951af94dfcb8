#pragma once

#include <complex>
#include <cstdint>

#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// Where points of the sphere go along a tangent field, as photons do that a gravitational lens deflects.
namespace zonal {

/// Where a point has gone, rad: colatitude, longitude in [0, 2 pi), and the angle by which the geodesic's
/// direction against the meridian has changed, psi - psi' (from -pi to pi). A field of spin s there is seen
/// in the axes of the point where the way began as exp(i s rotation) times its value.
struct DeflectedPoint {
    double theta, phi, rotation;
};

/// The end of the geodesic that leaves (theta, phi) along d = (d_theta, d_phi), of length |d|; all in rad
/// (Challinor & Lewis 2005, without its divisions). Exact for any length, also across a pole.
DeflectedPoint deflect(double theta, double phi, double d_theta, double d_phi);

/// The same for all pixels of a grid. deflection: [pixel, 2 (d_theta, d_phi)]. deflected: [pixel, 2 (theta,
/// phi) or 3 (and rotation)], which may be the same memory where it has as many columns; pixels in no ring
/// are left as they are. step: [ring], longitude from one pixel to the next, where it is not 2 pi / n_pixels;
/// else empty. threads: 0 means available_cpus(). Throws InvalidArgument for other shapes.
template <class T>
void deflect(const Grid& grid, ConstView<double, 1> step, ConstView<T, 2> deflection, View<T, 2> deflected,
             int threads = 0);

/// Multiplies values of a field of this spin by exp(i spin rotation), [point] each.
template <class T>
void turn(int spin, ConstView<T, 1> rotation, View<std::complex<T>, 1> values, int threads = 0);

}  // namespace zonal
