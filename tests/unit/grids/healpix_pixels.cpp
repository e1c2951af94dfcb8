#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "unit/grids/healpix_answers.hpp"
#include "unit/grids/healpix_pixel_answers.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::healpix {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double pi = std::numbers::pi;
constexpr double eps = std::numeric_limits<double>::epsilon();

TEST(HealpixPixels, FoundFromAnglesAreHealpys) {
    for (const auto& expected : healpy::pixel_cases) {
        const Angles angles{expected.theta, expected.phi};
        EXPECT_EQ(ang2pix(expected.nside, Order::ring, angles), expected.ring) << "nside " << expected.nside;
        if (expected.nest < 0) continue;
        EXPECT_EQ(ang2pix(expected.nside, Order::nest, angles), expected.nest) << "nside " << expected.nside;
        EXPECT_EQ(ring2nest(expected.nside, expected.ring), expected.nest);
        EXPECT_EQ(nest2ring(expected.nside, expected.nest), expected.ring);
    }
}

TEST(HealpixPixels, CentresAreHealpys) {
    for (const auto& expected : healpy::centre_cases) {
        const Angles angles = pix2ang(expected.nside, Order::ring, expected.ring);
        // A few roundings on either side, of theta relative to itself or to its distance from the south pole.
        EXPECT_NEAR(angles.theta, expected.theta, 4 * eps * expected.theta) << "nside " << expected.nside;
        EXPECT_NEAR(angles.phi, expected.phi, 4 * eps * expected.phi) << "nside " << expected.nside;
    }
}

TEST(HealpixPixels, EveryPixelHoldsItsOwnCentreInEveryForm) {
    for (std::int64_t nside : {1, 2, 3, 4, 5, 7, 8, 13, 16}) {
        for (Order order : {Order::ring, Order::nest}) {
            if (!is_valid_nside(nside, order)) continue;
            for (std::int64_t pixel = 0; pixel < n_pixels(nside); ++pixel) {
                ASSERT_EQ(ang2pix(nside, order, pix2ang(nside, order, pixel)), pixel) << "nside " << nside;
                ASSERT_EQ(ang2pix(nside, order, pix2direction(nside, order, pixel)), pixel)
                    << "nside " << nside;
                ASSERT_EQ(vec2pix(nside, order, pix2vec(nside, order, pixel)), pixel) << "nside " << nside;
            }
        }
    }
}

TEST(HealpixPixels, HoldTheirCentresAtTheLargestNside) {
    const std::int64_t nside = max_nside, last = n_pixels(nside) - 1, stride = last / 1001;
    std::vector<std::int64_t> pixels{0, 1, 3, 4, 11, last, last - 1, last - 4, last - 11};
    for (std::int64_t pixel = 0; pixel < last; pixel += stride) pixels.push_back(pixel);
    // The cap's rim and the belt's first and last rings.
    for (std::int64_t index : {nside - 2, nside - 1, nside, 3 * nside - 2, 3 * nside - 1, 3 * nside}) {
        const Ring row = ring(nside, index);
        for (std::int64_t pixel : {row.first_pixel, row.first_pixel + row.n_pixels - 1})
            pixels.push_back(pixel);
    }
    for (std::int64_t pixel : pixels) {
        for (Order order : {Order::ring, Order::nest})
            EXPECT_EQ(ang2pix(nside, order, pix2direction(nside, order, pixel)), pixel);
        EXPECT_EQ(nest2ring(nside, ring2nest(nside, pixel)), pixel);
        EXPECT_EQ(ring2nest(nside, nest2ring(nside, pixel)), pixel);
    }
}

TEST(HealpixPixels, RingAndNestNumbersAreOneToOne) {
    for (std::int64_t nside : {1, 2, 4, 8, 16}) {
        std::vector<bool> seen(static_cast<std::size_t>(n_pixels(nside)));
        for (std::int64_t pixel = 0; pixel < n_pixels(nside); ++pixel) {
            const std::int64_t nest = ring2nest(nside, pixel);
            ASSERT_FALSE(seen.at(static_cast<std::size_t>(nest)));
            seen[static_cast<std::size_t>(nest)] = true;
            ASSERT_EQ(nest2ring(nside, nest), pixel);
        }
    }
}

TEST(HealpixPixels, PhiMayBeAnyFiniteAngle) {
    for (double phi : {0.1, 2.0, 6.2}) {
        const std::int64_t pixel = ang2pix(64, Order::ring, Angles{1.2, phi});
        EXPECT_EQ(ang2pix(64, Order::ring, Angles{1.2, phi - 2 * pi}), pixel);
        EXPECT_EQ(ang2pix(64, Order::ring, Angles{1.2, phi + 20 * pi}), pixel);
    }
    // Just below 0, where adding 2 pi rounds to 2 pi.
    EXPECT_EQ(ang2pix(1, Order::ring, Angles{0.3, -1e-30}), 0);
}

TEST(HealpixPixels, PolesLieInTheFirstAndTheLastPixels) {
    for (std::int64_t nside : {std::int64_t{1}, std::int64_t{6}, max_nside}) {
        EXPECT_LT(ang2pix(nside, Order::ring, Angles{0, 0.1}), 4);
        EXPECT_GE(ang2pix(nside, Order::ring, Angles{pi, 0.1}), n_pixels(nside) - 4);
        EXPECT_EQ(vec2pix(nside, Order::ring, Vector{0, 0, 5}), 0);
        EXPECT_EQ(vec2pix(nside, Order::ring, Vector{0, 0, -1e-300}), n_pixels(nside) - 4);
    }
}

TEST(HealpixPixels, VectorsMayHaveAnyLength) {
    for (double scale : {1e-300, 1.0, 1e300})
        EXPECT_EQ(vec2pix(16, Order::nest, Vector{scale * 0.3, scale * -0.5, scale * 0.2}),
                  vec2pix(16, Order::nest, Vector{3, -5, 2}));
}

TEST(HealpixPixels, SizesBelongToTheirNside) {
    for (std::int64_t nside :
         {std::int64_t{1}, std::int64_t{5}, std::int64_t{2048}, max_nside - 1, max_nside}) {
        EXPECT_EQ(nside_of(n_pixels(nside)), nside);
        EXPECT_DOUBLE_EQ(pixel_area(nside) * static_cast<double>(n_pixels(nside)), 4 * pi);
    }
    for (std::int64_t bad : {-12, 0, 1, 11, 13, 47, 49}) EXPECT_THROW(nside_of(bad), InvalidArgument);
    EXPECT_THROW(nside_of(std::numeric_limits<std::int64_t>::max()), InvalidArgument);
}

TEST(HealpixPixels, LargestRadiusIsHealpys) {
    for (const auto& [nside, radius] : healpy::radius_cases)
        // healpy takes the angle between vectors, eps of 1 in each component.
        EXPECT_NEAR(max_pixel_radius(nside), radius, 8 * eps) << "nside " << nside;
    // Scales as 1 / nside, without loss, up to the largest.
    EXPECT_NEAR(max_pixel_radius(max_nside) * 2 / max_pixel_radius(max_nside / 2), 1, 1e-8);
}

TEST(HealpixPixels, ErrorsNameTheValueAndItsRange) {
    EXPECT_THAT(
        [] { check_nside(5, Order::nest); },
        ThrowsMessage<InvalidArgument>("nside = 5: must be a power of 2 from 1 to 2^29 for nest order"));
    EXPECT_THAT([] { n_pixels(0); }, ThrowsMessage<InvalidArgument>("nside = 0: must be from 1 to 2^29"));
    EXPECT_THAT(
        [] { pix2ang(2, Order::ring, 48); },
        ThrowsMessage<InvalidArgument>("pixel = 48: must be from 0 to 12 nside^2 - 1 = 47 for nside = 2"));
    EXPECT_THAT([] { ring(2, 7); }, ThrowsMessage<InvalidArgument>(
                                        "ring_index = 7: must be from 0 to 4 nside - 2 = 6 for nside = 2"));
    EXPECT_THAT(
        [] {
            ang2pix(2, Order::ring, Angles{-0.1, 0});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("theta")));
    EXPECT_THAT(
        [] {
            vec2pix(2, Order::ring, Vector{0, 0, 0});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("vector")));
}

TEST(HealpixPixels, RejectNumbersOutOfRange) {
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();
    for (Order order : {Order::ring, Order::nest}) {
        EXPECT_THROW(pix2ang(4, order, -1), InvalidArgument);
        EXPECT_THROW(neighbours(4, order, 192), InvalidArgument);
        EXPECT_THROW(pix2vec(2 * max_nside, order, 0), InvalidArgument);
        for (double phi : {nan, infinity}) EXPECT_THROW(ang2pix(4, order, Angles{1, phi}), InvalidArgument);
        for (double theta : {nan, infinity, 3.15})
            EXPECT_THROW(ang2pix(4, order, Angles{theta, 0}), InvalidArgument);
        EXPECT_THROW(ang2pix(4, order, Direction{2, 0, 0}), InvalidArgument);
        EXPECT_THROW(ang2pix(4, order, Direction{0, -1, 0}), InvalidArgument);
        EXPECT_THROW(vec2pix(4, order, Vector{nan, 0, 0}), InvalidArgument);
    }
    EXPECT_THROW(ring2nest(3, 0), InvalidArgument);
    EXPECT_THROW(nest2ring(3, 0), InvalidArgument);
    EXPECT_THROW(ring2nest(4, 192), InvalidArgument);
}

}  // namespace
}  // namespace zonal::healpix
