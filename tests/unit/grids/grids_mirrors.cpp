#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "zonal/grid.hpp"

// Southern rings that mirror northern ones to rounding.
namespace zonal {
namespace {

TEST(MirrorSouthernRings, GivesTheSineAndCosineOfTheNorthernRing) {
    std::vector<Ring> rings;
    for (const double theta :
         {2.2, 0.3, std::numbers::pi - 0.3, 1e-9, std::numbers::pi - 1e-9, 1.0, std::numbers::pi / 2})
        rings.push_back(make_ring(theta, 0, 1, 4, 4 * static_cast<std::int64_t>(rings.size())));
    const auto before = rings;
    mirror_southern_rings(rings);
    for (const auto& [north, south] : {std::pair{1, 2}, {3, 4}}) {
        EXPECT_EQ(rings[south].cos_theta, -rings[north].cos_theta);
        EXPECT_EQ(rings[south].sin_theta, rings[north].sin_theta);
        EXPECT_EQ(rings[south].theta, before[south].theta);
    }
    for (const int other : {0, 1, 3, 5, 6}) EXPECT_EQ(rings[other], before[other]);
    const Grid accepted(rings);  // whose check allows no more than rounding
    EXPECT_EQ(accepted.n_rings(), 7);
}

TEST(MirrorSouthernRings, LeavesRingsThatAreFurtherApartThanRounding) {
    std::vector<Ring> rings{make_ring(0.3, 0, 1, 4, 0),
                            make_ring(std::numbers::pi - 0.3 + 1e-14, 0, 1, 4, 4)};
    const auto before = rings;
    mirror_southern_rings(rings);
    EXPECT_EQ(rings, before);
}

TEST(MirrorSouthernRings, KnowsTheRingsOfHealpixByTheirColatitudes) {
    const Grid grid = Grid::healpix(64);
    std::vector<Ring> rings;
    for (const Ring& ring : grid.rings())
        rings.push_back(make_ring(ring.theta, ring.phi_0, ring.weight, ring.n_pixels, ring.first_pixel));
    mirror_southern_rings(rings);
    for (std::size_t i = 0; i < 127; ++i) EXPECT_EQ(rings[i].cos_theta, -rings[254 - i].cos_theta) << i;
}

}  // namespace
}  // namespace zonal
