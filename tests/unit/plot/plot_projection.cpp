#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "plot/projection.hpp"

namespace zonal::plot {
namespace {

using std::numbers::pi;

/// Angle between two directions, rad.
double distance(Direction a, Direction b) {
    const double dlat = std::sin((a.theta - b.theta) / 2);
    const double dlon = std::sin((a.phi - b.phi) / 2);
    return 2 * std::asin(std::sqrt(dlat * dlat + std::sin(a.theta) * std::sin(b.theta) * dlon * dlon));
}

TEST(PlotProjection, MollweideInverseUndoesForward) {
    for (const double centre_lat : {0.0, 35.0, -90.0}) {
        const SkyProjection projection(Projection::mollweide, 110, centre_lat);
        for (double lat = -87; lat < 90; lat += 6)
            for (double lon = 1; lon < 360; lon += 13) {
                const Direction direction = from_degrees(lon, lat);
                const auto plane = projection.forward(direction);
                ASSERT_TRUE(plane);
                // Near the view's poles d(lat)/dy grows as 1/cos(lat), and psi's own rounding does: each to
                // 20 at 87 degrees.
                EXPECT_LT(distance(projection.inverse(*plane), direction), 20 * 20 * 0x1p-52)
                    << lon << " " << lat;
            }
    }
}

TEST(PlotProjection, GnomonicInverseUndoesForward) {
    const SkyProjection projection(Projection::gnomonic, 350, 60);
    for (double lat = 30; lat <= 90; lat += 5)
        for (double lon = 300; lon < 400; lon += 7) {
            const Direction direction = from_degrees(lon, lat);
            const auto plane = projection.forward(direction);
            ASSERT_TRUE(plane);
            EXPECT_LT(distance(projection.inverse(*plane), direction), 1e-14) << lon << " " << lat;
        }
    EXPECT_FALSE(projection.forward(from_degrees(170, -60)));  // the antipode
}

TEST(PlotProjection, MollweideIsWhereItsDefinitionSays) {
    const SkyProjection projection(Projection::mollweide, 0, 0);
    // x = -2 lambda / pi cos psi, y = sin psi, 2 psi + sin 2 psi = pi sin lat; psi = 30 degrees by hand
    const double lat = std::asin((pi / 3 + std::sqrt(3.0) / 2) / pi) * 180 / pi;
    const auto plane = projection.forward(from_degrees(90, lat));
    EXPECT_NEAR(plane->x, -std::sqrt(3.0) / 2, 2e-15);
    EXPECT_NEAR(plane->y, 0.5, 2e-15);
    EXPECT_NEAR(projection.forward(from_degrees(0, 90))->y, 1, 1e-15);
    EXPECT_NEAR(projection.forward(from_degrees(0, -90))->y, -1, 1e-15);
}

TEST(PlotProjection, GnomonicOffsetsAreTangents) {
    const SkyProjection projection(Projection::gnomonic, 20, 0);
    EXPECT_NEAR(projection.forward(from_degrees(30, 0))->x, -std::tan(pi / 18), 1e-15);
    EXPECT_NEAR(projection.forward(from_degrees(20, 10))->y, std::tan(pi / 18), 1e-15);
}

TEST(PlotProjection, LongitudeGrowsLeftwardsAndNorthIsUp) {
    for (const Projection kind : {Projection::mollweide, Projection::gnomonic}) {
        const SkyProjection projection(kind, 200, 0);
        EXPECT_LT(projection.forward(from_degrees(210, 0))->x, 0);
        EXPECT_GT(projection.forward(from_degrees(190, 0))->x, 0);
        EXPECT_GT(projection.forward(from_degrees(200, 10))->y, 0);
    }
}

TEST(PlotProjection, CentreIsAtTheOrigin) {
    for (const double lat : {-90.0, -30.0, 0.0, 45.0, 90.0}) {
        const SkyProjection projection(Projection::mollweide, -75, lat);
        EXPECT_LT(distance(projection.inverse({0, 0}), from_degrees(285, lat)), 1e-15);
    }
}

TEST(PlotProjection, PointsBesideTheEllipseTakeItsEdge) {
    const SkyProjection projection(Projection::mollweide, 0, 0);
    EXPECT_LT(distance(projection.inverse({-2.1, 0}), from_degrees(180, 0)), 1e-15);
    EXPECT_LT(distance(projection.inverse({2.1, 0}), from_degrees(180, 0)), 1e-15);
    EXPECT_EQ(projection.inverse({0, 1.2}).theta, 0);
}

TEST(PlotProjection, LongitudeIsBelowATurn) {
    const SkyProjection projection(Projection::mollweide, 360, 0);
    for (const double x : {-2.0, -1e-17, 0.0, 1e-17, 1e-16, 2.0}) {
        const double phi = projection.inverse({x, 0.3}).phi;
        EXPECT_GE(phi, 0);
        EXPECT_LT(phi, 2 * pi);
    }
}

TEST(PlotProjection, WrapsDegreesToHalfOpenInterval) {
    EXPECT_EQ(wrap_degrees(180), 180);
    EXPECT_EQ(wrap_degrees(-180), 180);
    EXPECT_EQ(wrap_degrees(190), -170);
    EXPECT_EQ(wrap_degrees(-730), -10);
}

}  // namespace
}  // namespace zonal::plot
