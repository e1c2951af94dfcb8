#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "zonal/alm.hpp"
#include "zonal/progress.hpp"
#include "zonal/sky/header.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// A 3 x 3 matrix, rows first, with x' = R x. It is orthogonal with determinant 1.
using RotationMatrix = std::array<std::array<double, 3>, 3>;

/// The rotation R = R_z(phi) R_y(theta) R_z(psi): first by psi about z, then theta about y, then phi about z,
/// each counter-clockwise seen from the axis' end, in rad. These are the angles of healpy.rotate_alm(alm,
/// psi, theta, phi).
struct EulerAngles {
    double psi = 0;
    double theta = 0;
    double phi = 0;
};

RotationMatrix rotation_matrix(const EulerAngles& angles);

/// Returns the angles of a rotation matrix, theta in [0, pi]. If theta is 0 or pi, only a sum or difference
/// of the others is defined, and psi = 0. Throws InvalidArgument unless R R^T = 1 to 1e-6 and det R = 1.
EulerAngles euler_angles(const RotationMatrix& rotation);

/// Returns the matrix that turns a direction's vector in coordinates `from` to its vector in `to`. Equatorial
/// and ecliptic are those of J2000. Throws InvalidArgument for unknown ones.
RotationMatrix coordinate_rotation(CoordinateSystem from, CoordinateSystem to);

/// Options of a rotation.
struct RotationOptions {
    int threads = 0;  ///< 0: available_cpus()
    Progress progress = {};
};

/// Rotates fields: g(n) = f(R^-1 n), R that of the angles. With the angles of coordinate_rotation(from, to),
/// the alm in `from` become those in `to`.
///
/// alm: [components, layout.size()], in place, with mmax = lmax (a rotation fills all orders). T, E and B
/// rotate alike, and many components cost little more than one; Q and U turn with their axes. It takes
/// O(lmax^3) operations, and O(lmax) memory per thread.
template <class T>
void rotate_alm(const AlmLayout& layout, const EulerAngles& angles, View<std::complex<T>, 2> alm,
                const RotationOptions& options = {});

/// The same from alm: [components, from.size()] into rotated: [components, to.size()], which have memory of
/// their own or are the same array. Both layouts have all orders up to their mmax, and one lmax. Orders of
/// alm above from.mmax() count as 0, and those above to.mmax() of the rotated field are left out.
template <class T>
void rotate_alm(const AlmLayout& from, ConstView<std::complex<T>, 2> alm, const EulerAngles& angles,
                const AlmLayout& to, View<std::complex<T>, 2> rotated, const RotationOptions& options = {});

}  // namespace zonal
