#include "zonal/sky/rotation.hpp"

#include <fmt/core.h>

#include <cmath>

#include "zonal/error.hpp"

namespace zonal {
namespace {

RotationMatrix product(const RotationMatrix& a, const RotationMatrix& b) {
    RotationMatrix result{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) result[i][j] += a[i][k] * b[k][j];
    return result;
}

RotationMatrix transpose(const RotationMatrix& a) {
    RotationMatrix result{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) result[i][j] = a[j][i];
    return result;
}

void check_rotation(const RotationMatrix& r) {
    const auto identity = product(r, transpose(r));
    double defect = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) defect = std::max(defect, std::abs(identity[i][j] - (i == j ? 1 : 0)));
    const double determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                               r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                               r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    constexpr double tolerance = 1e-6;  // of a matrix typed with seven digits
    if (!(defect <= tolerance && determinant > 0))
        throw InvalidArgument("rotation", fmt::format("R R^T differs from 1 by {:.2g}, determinant {:.6g}: "
                                                      "must be an orthogonal matrix with determinant 1",
                                                      defect, determinant));
}

// From equatorial coordinates (FK5, equinox J2000) to others: rows are the axes of the other system.
//
// Galactic: pole at right ascension 192.8594812065348 deg, declination 27.12825118085622 deg, longitude of
// the celestial pole 122.9319185680026 deg: the definition of 1958 (Blaauw et al. 1960) carried from B1950 to
// J2000, as astropy's Galactic and FK5 frames have it.
// clang-format off
constexpr RotationMatrix galactic_from_equatorial{{
    {-0.05487553939571458, -0.8734371047274333, -0.48383499177032246},
    {0.4941094536233637, -0.4448295942988167, 0.7469822487020499},
    {-0.8676661356858699, -0.19807638961094992, 0.4559837945175692}}};
// Ecliptic: mean ecliptic and equinox of J2000 of IAU 2006, obliquity 84381.406 arcsec; the small elements are the
// turns of FK5 and of the mean equator against ICRS. astropy's FK5 and BarycentricMeanEcliptic.
constexpr RotationMatrix ecliptic_from_equatorial{{
    {0.99999999999999056, 4.0238655393252800e-08, 1.2468018087495808e-07},
    {-8.6513146001637118e-08, 0.91748216829165030, 0.39777691092727269},
    {-9.8385834649956543e-08, -0.39777691092728013, 0.91748216829164642}}};
// clang-format on
constexpr RotationMatrix identity_matrix{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

const RotationMatrix& from_equatorial(CoordinateSystem coordinates) {
    switch (coordinates) {
        case CoordinateSystem::galactic:
            return galactic_from_equatorial;
        case CoordinateSystem::ecliptic:
            return ecliptic_from_equatorial;
        case CoordinateSystem::equatorial:
            return identity_matrix;
        case CoordinateSystem::unknown:
            break;
    }
    throw InvalidArgument("coordinates", "must be galactic, ecliptic or equatorial");
}
}  // namespace

RotationMatrix rotation_matrix(const EulerAngles& angles) {
    const double cos_psi = std::cos(angles.psi), sin_psi = std::sin(angles.psi);
    const double cos_theta = std::cos(angles.theta), sin_theta = std::sin(angles.theta);
    const double cos_phi = std::cos(angles.phi), sin_phi = std::sin(angles.phi);
    const RotationMatrix first{{{cos_psi, -sin_psi, 0}, {sin_psi, cos_psi, 0}, {0, 0, 1}}};
    const RotationMatrix second{{{cos_theta, 0, sin_theta}, {0, 1, 0}, {-sin_theta, 0, cos_theta}}};
    const RotationMatrix third{{{cos_phi, -sin_phi, 0}, {sin_phi, cos_phi, 0}, {0, 0, 1}}};
    return product(third, product(second, first));
}

// R = R_z(phi) R_y(theta) R_z(psi): third column (cos phi sin theta, sin phi sin theta, cos theta), third row
// (-sin theta cos psi, sin theta sin psi, cos theta).
EulerAngles euler_angles(const RotationMatrix& r) {
    check_rotation(r);
    const double sin_theta = std::hypot(r[0][2], r[1][2]);
    // Below rounding the axes coincide: at theta = 0 R is a turn by phi + psi, at pi by phi - psi.
    if (sin_theta < 1e-15) {
        const bool upright = r[2][2] > 0;
        return {0, upright ? 0 : std::acos(-1.0),
                upright ? std::atan2(r[1][0], r[0][0]) : std::atan2(-r[0][1], r[1][1])};
    }
    return {std::atan2(r[2][1], -r[2][0]), std::atan2(sin_theta, r[2][2]), std::atan2(r[1][2], r[0][2])};
}

RotationMatrix coordinate_rotation(CoordinateSystem from, CoordinateSystem to) {
    if (from == to) return identity_matrix;
    return product(from_equatorial(to), transpose(from_equatorial(from)));
}

}  // namespace zonal
