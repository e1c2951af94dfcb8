#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/grid.hpp"

namespace zonal {
namespace {

using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Ring ring(std::int64_t n_pixels, std::int64_t first_pixel) {
    return make_ring(1, 0, 0.5, n_pixels, first_pixel);
}

/// The message of the InvalidArgument that building a grid throws, or "accepted".
std::string complaint(const std::vector<Ring>& rings, std::int64_t n_map_pixels = -1) {
    try {
        Grid grid(rings, n_map_pixels);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

/// As complaint, for the second of two rings changed by a function.
std::string complaint_on_second(const std::function<void(Ring&)>& change) {
    std::vector<Ring> rings{ring(4, 0), ring(4, 4)};
    change(rings[1]);
    return complaint(rings, 100);
}

TEST(Grid, TakesRingsInAnyOrderWithGapsBetween) {
    const Grid grid({ring(5, 20), ring(7, 3)});
    EXPECT_EQ(grid.n_rings(), 2);
    EXPECT_EQ(grid.n_pixels(), 25);
    EXPECT_EQ(grid.name(), "custom");
    EXPECT_EQ(Grid({ring(5, 20)}, 100, "mine").n_pixels(), 100);
    EXPECT_EQ(Grid({ring(5, 20)}, 100, "mine").name(), "mine");
}

TEST(Grid, KnowsWhetherPixelsAreInNoRing) {
    EXPECT_FALSE(Grid::healpix(4).has_other_pixels());
    EXPECT_TRUE(Grid::healpix(4).subset({0, 1, 2}).has_other_pixels());
    EXPECT_FALSE(Grid({ring(5, 3), ring(3, 0)}).has_other_pixels());
    EXPECT_TRUE(Grid({ring(5, 4), ring(3, 0)}).has_other_pixels());
    EXPECT_TRUE(Grid({ring(5, 3), ring(3, 0)}, 9).has_other_pixels());
}

TEST(Grid, RejectsNoRings) {
    EXPECT_THAT(complaint({}), HasSubstr("at least one ring"));
}

TEST(Grid, RejectsOverlappingRingsAndNamesBoth) {
    EXPECT_THAT(complaint({ring(4, 10), ring(3, 0), ring(4, 13)}),
                HasSubstr("rings 0 and 2: both hold pixel 13"));
    EXPECT_EQ(complaint({ring(4, 10), ring(3, 0), ring(4, 14)}), "accepted");
}

TEST(Grid, RejectsRingsPastTheMap) {
    EXPECT_THAT(complaint({ring(4, 0), ring(4, 4)}, 7), HasSubstr("ring 1: pixels from first_pixel = 4"));
    EXPECT_EQ(complaint({ring(4, 0), ring(4, 4)}, 8), "accepted");
    EXPECT_THAT(complaint({ring(4, 0)}, -2), HasSubstr("n_map_pixels = -2"));
    EXPECT_THAT(complaint({ring(4, 0)}, 0), HasSubstr("ring 0"));
    // The sum of the two does not overflow.
    const auto huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_THAT(complaint({ring(huge, huge)}), HasSubstr("ring 0"));
}

TEST(Grid, RejectsEmptyAndNegativePixelRangesAndNamesTheRing) {
    EXPECT_THAT(complaint_on_second([](Ring& r) { r.n_pixels = 0; }), HasSubstr("ring 1: n_pixels = 0"));
    EXPECT_THAT(complaint_on_second([](Ring& r) { r.n_pixels = -3; }), HasSubstr("ring 1: n_pixels = -3"));
    EXPECT_THAT(complaint_on_second([](Ring& r) { r.first_pixel = -1; }),
                HasSubstr("ring 1: first_pixel = -1"));
}

TEST(Grid, RejectsThetaOutsideZeroToPi) {
    for (double theta : {-1e-9, 3.2, nan, infinity})
        EXPECT_THAT(complaint_on_second([=](Ring& r) { r = make_ring(theta, 0, 1, 4, 4); }),
                    HasSubstr("ring 1: theta = "));
    for (double theta : {0.0, std::numbers::pi})
        EXPECT_EQ(complaint({make_ring(theta, 0, 1, 4, 0)}), "accepted");
}

TEST(Grid, RejectsValuesThatAreNotFinite) {
    for (double bad : {nan, infinity, -infinity}) {
        EXPECT_THAT(complaint_on_second([=](Ring& r) { r.phi_0 = bad; }), HasSubstr("ring 1: phi_0"));
        EXPECT_THAT(complaint_on_second([=](Ring& r) { r.weight = bad; }), HasSubstr("ring 1: weight"));
        EXPECT_THAT(complaint_on_second([=](Ring& r) { r.cos_theta = bad; }), HasSubstr("ring 1: cos_theta"));
        EXPECT_THAT(complaint_on_second([=](Ring& r) { r.sin_theta = bad; }), HasSubstr("ring 1: sin_theta"));
    }
}

TEST(Grid, RejectsCosineAndSineOfAnotherTheta) {
    EXPECT_THAT(complaint_on_second([](Ring& r) { r.theta = 1.1; }), HasSubstr("ring 1: cos_theta = "));
    EXPECT_THAT(complaint_on_second([](Ring& r) { r.sin_theta *= -1; }), HasSubstr("ring 1: sin_theta = "));
}

TEST(Grid, SubsetKeepsItsRingsAndTheMap) {
    const Grid grid = Grid::healpix(4), part = grid.subset({7, 2});
    ASSERT_EQ(part.n_rings(), 2);
    EXPECT_EQ(part.n_pixels(), grid.n_pixels());
    EXPECT_EQ(part.rings()[0].first_pixel, grid.rings()[7].first_pixel);
    EXPECT_EQ(part.rings()[1].cos_theta, grid.rings()[2].cos_theta);
    EXPECT_EQ(part.name(), "healpix nside=4, 2 of 15 rings");
}

TEST(Grid, IsHealpixByItsFactoryAndNotByItsName) {
    const Grid grid = Grid::healpix(16), gauss = Grid::gauss_legendre(48, 64), part = grid.subset({3, 4});
    EXPECT_EQ(grid.healpix_nside(), 16);
    EXPECT_EQ(grid.healpix_nside_of_rings(), 16);
    EXPECT_EQ(part.healpix_nside(), 0);
    EXPECT_EQ(part.healpix_nside_of_rings(), 16);
    const Grid named(gauss.rings(), grid.n_pixels(), "healpix nside=16");  // as many pixels and that name
    EXPECT_EQ(named.healpix_nside(), 0);
    EXPECT_EQ(named.healpix_nside_of_rings(), 0);
}

TEST(Grid, SubsetRejectsIndicesOutsideTheGridRepeatedOnesAndNone) {
    const Grid grid = Grid::healpix(1);
    EXPECT_THROW(grid.subset({3}), InvalidArgument);
    EXPECT_THROW(grid.subset({-1}), InvalidArgument);
    EXPECT_THROW(grid.subset({1, 1}), InvalidArgument);
    EXPECT_THROW(grid.subset({}), InvalidArgument);
}

TEST(Grid, FactoriesRejectSizesOutOfRange) {
    const auto huge = std::numeric_limits<std::int64_t>::max();
    for (auto factory : {Grid::gauss_legendre, Grid::clenshaw_curtis, Grid::fejer1, Grid::fejer2}) {
        for (std::int64_t n_rings : {std::int64_t{0}, std::int64_t{-1}, huge})
            EXPECT_THROW(factory(n_rings, 4, 0), InvalidArgument);
        for (std::int64_t n_phi : {std::int64_t{0}, std::int64_t{-1}, huge})
            EXPECT_THROW(factory(4, n_phi, 0), InvalidArgument);
        EXPECT_THROW(factory(4, 4, nan), InvalidArgument);
    }
    EXPECT_THROW(Grid::clenshaw_curtis(1, 4), InvalidArgument);
    EXPECT_THROW(Grid::equidistant_cylindrical(0, 4), InvalidArgument);
    EXPECT_THROW(Grid::equidistant_cylindrical(4, 0), InvalidArgument);
    for (std::int64_t nside : {std::int64_t{0}, std::int64_t{-4}, huge})
        EXPECT_THROW(Grid::healpix(nside), InvalidArgument);
}

}  // namespace
}  // namespace zonal
