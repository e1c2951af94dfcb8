#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/rotation.hpp"

namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

double difference(const RotationMatrix& a, const RotationMatrix& b) {
    double largest = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) largest = larger(largest, std::abs(a[i][j] - b[i][j]));
    return largest;
}

TEST(CoordinateRotation, AgreesWithHealpy) {
    // healpy 1.20.1, Rotator(coord=...).mat
    const RotationMatrix galactic_to_ecliptic{
        {{-0.05487563486628312, 0.49410952885789716, -0.8676660868040493},
         {-0.9938213523891737, -0.11099097203832778, -0.0003516551470140832},
         {-0.09647685853808478, 0.8622857865103741, 0.49714730025296094}}};
    const RotationMatrix galactic_to_equatorial{
        {{-0.054875539395714594, 0.49410945362336384, -0.8676661356858704},
         {-0.8734371047274336, -0.44482959429881663, -0.1980763896109499},
         {-0.4838349917703226, 0.7469822487020499, 0.4559837945175692}}};
    const RotationMatrix ecliptic_to_equatorial{
        {{0.9999999999999906, -8.651314600163712e-08, -9.838583464995654e-08},
         {4.02386553932528e-08, 0.9174821682916503, -0.3977769109272801},
         {1.2468018087495808e-07, 0.3977769109272727, 0.9174821682916464}}};
    using enum CoordinateSystem;
    // Healpy's own matrices are orthogonal to 1e-14.
    EXPECT_LE(difference(coordinate_rotation(galactic, ecliptic), galactic_to_ecliptic), 2e-14);
    EXPECT_LE(difference(coordinate_rotation(galactic, equatorial), galactic_to_equatorial), 2e-14);
    EXPECT_LE(difference(coordinate_rotation(ecliptic, equatorial), ecliptic_to_equatorial), 2e-14);
}

TEST(CoordinateRotation, IsUndoneByItsInverse) {
    using enum CoordinateSystem;
    const RotationMatrix one{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (const auto from : {galactic, ecliptic, equatorial}) {
        EXPECT_EQ(difference(coordinate_rotation(from, from), one), 0);
        for (const auto to : {galactic, ecliptic, equatorial}) {
            const auto there = coordinate_rotation(from, to), back = coordinate_rotation(to, from);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) EXPECT_NEAR(there[i][j], back[j][i], 4 * eps);
        }
    }
}

TEST(EulerAngles, GiveTheirMatrixBack) {
    for (const EulerAngles& angles :
         {EulerAngles{0.3, 1.1, 0.2}, EulerAngles{-3, 3, 2}, EulerAngles{0, 0, 0}, EulerAngles{0.4, 0, 0.3},
          EulerAngles{1, pi, 2}, EulerAngles{1, 1e-9, 2}, EulerAngles{1, -2, 2},
          EulerAngles{1, pi - 1e-9, 2}}) {
        const auto matrix = rotation_matrix(angles);
        const auto found = euler_angles(matrix);
        EXPECT_GE(found.theta, 0);
        EXPECT_LE(found.theta, pi);
        EXPECT_LE(difference(rotation_matrix(found), matrix), 8 * eps)
            << angles.psi << " " << angles.theta << " " << angles.phi;
    }
}

TEST(EulerAngles, TakeMatricesOfSevenDigits) {
    const auto stretched = [](double by) { return RotationMatrix{{{1, 0, 0}, {0, 1 + by, 0}, {0, 0, 1}}}; };
    EXPECT_NO_THROW(euler_angles(stretched(0.45e-6)));  // R R^T differs by twice that
    EXPECT_THROW(euler_angles(stretched(0.6e-6)), InvalidArgument);
    EXPECT_THROW(euler_angles(stretched(-0.6e-6)), InvalidArgument);
}

TEST(CoordinateRotation, NeedsKnownSystems) {
    using enum CoordinateSystem;
    EXPECT_THROW(coordinate_rotation(unknown, galactic), InvalidArgument);
    EXPECT_THROW(coordinate_rotation(galactic, unknown), InvalidArgument);
}

TEST(EulerAngles, RejectMatricesThatAreNoRotation) {
    EXPECT_THROW(euler_angles({{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}}), InvalidArgument);
    EXPECT_THROW(euler_angles({{{1, 0.1, 0}, {0, 1, 0}, {0, 0, 1}}}), InvalidArgument);
    EXPECT_THROW(euler_angles({{{std::nan(""), 0, 0}, {0, 1, 0}, {0, 0, 1}}}), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
