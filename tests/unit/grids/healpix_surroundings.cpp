#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "unit/grids/healpix_answers.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_regions.hpp"
#include "zonal/healpix.hpp"

namespace zonal::healpix {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double eps = std::numeric_limits<double>::epsilon();

/// Angle between two directions by the haversine formula, which is accurate at small distances.
double distance(const Angles& a, const Angles& b) {
    const double theta = std::sin((a.theta - b.theta) / 2), phi = std::sin((a.phi - b.phi) / 2);
    const double haversine = theta * theta + std::sin(a.theta) * std::sin(b.theta) * phi * phi;
    return 2 * std::asin(std::sqrt(std::min(1.0, haversine)));
}

TEST(HealpixNeighbours, AreHealpys) {
    for (const auto& expected : healpy::neighbours_cases)
        EXPECT_EQ(neighbours(expected.nside, expected.nest ? Order::nest : Order::ring, expected.pixel),
                  expected.neighbours)
            << "nside " << expected.nside << " pixel " << expected.pixel;
}

TEST(HealpixNeighbours, AreMutual) {
    for (std::int64_t nside : {1, 2, 3, 4, 7, 8}) {
        for (Order order : {Order::ring, Order::nest}) {
            if (!is_valid_nside(nside, order)) continue;
            std::int64_t absent = 0;
            for (std::int64_t pixel = 0; pixel < n_pixels(nside); ++pixel) {
                for (std::int64_t other : neighbours(nside, order, pixel)) {
                    absent += other < 0 ? 1 : 0;
                    if (other < 0) continue;
                    const auto back = neighbours(nside, order, other);
                    ASSERT_NE(std::find(back.begin(), back.end(), pixel), back.end())
                        << "nside " << nside << " pixels " << pixel << " and " << other;
                }
            }
            // Three pixels meet at each of eight corners, and each of them lacks one neighbour there.
            EXPECT_EQ(absent, 24) << "nside " << nside;
        }
    }
}

TEST(HealpixNeighbours, AreDistinctAndClose) {
    for (std::int64_t nside : {2, 4, 16}) {
        const double reach = 2 * max_pixel_radius(nside);
        for (std::int64_t pixel = 0; pixel < n_pixels(nside); ++pixel) {
            std::set<std::int64_t> seen{pixel};
            for (std::int64_t other : neighbours(nside, Order::ring, pixel)) {
                if (other < 0) continue;
                EXPECT_TRUE(seen.insert(other).second);
                EXPECT_LT(distance(pix2ang(nside, Order::ring, pixel), pix2ang(nside, Order::ring, other)),
                          reach);
            }
        }
    }
}

/// Checks query_disc against the distance of every pixel centre; returns how many pixels it found.
std::int64_t check_disc(std::int64_t nside, const Angles& centre, double radius) {
    std::vector<bool> inside(static_cast<std::size_t>(n_pixels(nside)));
    std::int64_t previous = 0, count = 0;
    for (const auto& [first, end] : query_disc(nside, centre, radius)) {
        EXPECT_GE(first, previous);  // ascending, disjoint
        EXPECT_LT(first, end);
        std::fill(inside.begin() + first, inside.begin() + end, true);
        previous = end;
        count += end - first;
    }
    for (std::int64_t pixel = 0; pixel < n_pixels(nside); ++pixel) {
        const double far = distance(pix2ang(nside, Order::ring, pixel), centre);
        // Centres on the edge may fall on either side. The haversine loses half the digits opposite the
        // centre.
        if (std::abs(far - radius) < (far > 3 ? std::sqrt(8 * eps) : 8 * eps)) continue;
        EXPECT_EQ(inside[static_cast<std::size_t>(pixel)], far < radius)
            << "nside " << nside << " pixel " << pixel << " centre " << centre.theta << ' ' << centre.phi
            << " radius " << radius;
    }
    return count;
}

TEST(HealpixDisc, HoldsThePixelsWhoseCentresAreWithinItsRadius) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (std::int64_t nside : {1, 2, 3, 16}) {
        for (int round = 0; round < 40; ++round) {
            const Angles centre{std::acos(2 * uniform(random) - 1), 2 * pi * uniform(random)};
            check_disc(nside, centre, pi * std::pow(uniform(random), 2));
        }
    }
}

TEST(HealpixDisc, IsRightAroundThePolesAndAcrossPhiZero) {
    for (double theta : {0.0, 1e-9, 0.02, pi - 0.02, pi})
        for (double radius : {0.08, 0.5, 2.0, 3.1}) EXPECT_GT(check_disc(16, {theta, 1}, radius), 0);
    for (double phi : {0.0, 0.01, 2 * pi - 0.01, -0.01, 7.0})
        for (double radius : {0.1, 1.0, 3.0}) EXPECT_GT(check_disc(16, {1.5, phi}, radius), 0);
}

TEST(HealpixDisc, OfRadiusPiIsTheSphere) {
    for (const Angles& centre : {Angles{0, 0}, Angles{1, 2}, Angles{pi, 0}}) {
        std::int64_t count = 0;
        for (const auto& range : query_disc(8, centre, pi)) count += range.end - range.first;
        EXPECT_EQ(count, n_pixels(8));
    }
}

TEST(HealpixDisc, OfAFewPixelsIsRightAtTheLargestNside) {
    for (double theta : {1e-7, 0.5, 1.2, 3.0}) {
        const std::int64_t pixel = ang2pix(max_nside, Order::ring, Angles{theta, 2});
        const Angles centre = pix2ang(max_nside, Order::ring, pixel);
        const double radius = 3 * max_pixel_radius(max_nside);
        std::int64_t count = 0;
        bool found = false;
        for (const auto& [first, end] : query_disc(max_nside, centre, radius)) {
            count += end - first;
            found = found || (first <= pixel && pixel < end);
            for (std::int64_t inside : {first, end - 1})
                EXPECT_LT(distance(pix2ang(max_nside, Order::ring, inside), centre), radius * (1 + 1e-6));
        }
        EXPECT_TRUE(found);
        EXPECT_NEAR(static_cast<double>(count), pi * radius * radius / pixel_area(max_nside), 12);
    }
}

TEST(HealpixDisc, RejectsRadiiAndCentresOutOfRange) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (double radius : {-0.1, 3.2, nan}) EXPECT_THROW(query_disc(4, {1, 1}, radius), InvalidArgument);
    EXPECT_THROW(query_disc(4, {-1, 1}, 0.1), InvalidArgument);
    EXPECT_THROW(query_disc(4, {1, nan}, 0.1), InvalidArgument);
    EXPECT_THROW(query_disc(0, {1, 1}, 0.1), InvalidArgument);
}

std::map<std::int64_t, double> by_pixel(const std::array<std::int64_t, 4>& pixels,
                                        const std::array<double, 4>& weights) {
    std::map<std::int64_t, double> sums;
    for (std::size_t k = 0; k < 4; ++k) sums[pixels[k]] += weights[k];
    return sums;
}

TEST(HealpixInterpolation, WeightsAreHealpys) {
    for (const auto& expected : healpy::interpolation_cases) {
        const auto [pixels, weights] = interpolation_weights(
            expected.nside, expected.nest ? Order::nest : Order::ring, {expected.theta, expected.phi});
        const auto found = by_pixel(pixels, weights), reference = by_pixel(expected.pixels, expected.weights);
        // Angles of a few eps, divided by the distance of rings and pixels, about 1 / nside.
        const double tolerance = 32 * eps * static_cast<double>(expected.nside);
        for (const auto& [pixel, weight] : reference) {
            ASSERT_EQ(found.count(pixel), 1U) << "nside " << expected.nside << " pixel " << pixel;
            EXPECT_NEAR(found.at(pixel), weight, tolerance)
                << "nside " << expected.nside << " pixel " << pixel;
        }
    }
}

TEST(HealpixInterpolation, GivesAPixelsCentreToThePixelAndSumsToOne) {
    for (std::int64_t nside : {1, 2, 3, 8}) {
        for (std::int64_t pixel = 0; pixel < n_pixels(nside); ++pixel) {
            const auto [pixels, weights] =
                interpolation_weights(nside, Order::ring, pix2ang(nside, Order::ring, pixel));
            EXPECT_NEAR(by_pixel(pixels, weights)[pixel], 1, 32 * eps * static_cast<double>(nside));
        }
    }
    std::mt19937_64 random(8);
    std::uniform_real_distribution<double> theta(0, pi), phi(-10, 10);
    for (int round = 0; round < 2000; ++round) {
        double sum = 0;
        for (double weight : interpolation_weights(4, Order::nest, {theta(random), phi(random)}).weights) {
            EXPECT_GE(weight, 0);
            sum += weight;
        }
        EXPECT_NEAR(sum, 1, 4 * eps);
    }
}

TEST(HealpixInterpolation, TakesTheMeanOfFourPixelsAtThePoles) {
    for (double theta : {0.0, pi})
        for (double weight : interpolation_weights(8, Order::ring, {theta, 0.3}).weights)
            EXPECT_NEAR(weight, 0.25, eps);
}

TEST(HealpixInterpolation, RejectsBadArguments) {
    EXPECT_THROW(interpolation_weights(3, Order::nest, {1, 1}), InvalidArgument);
    EXPECT_THROW(interpolation_weights(4, Order::ring, {4, 1}), InvalidArgument);
}

}  // namespace
}  // namespace zonal::healpix
