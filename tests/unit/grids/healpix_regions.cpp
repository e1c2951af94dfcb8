#include "zonal/grids/healpix_regions.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>

#include "simd_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::healpix {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double pi = std::numbers::pi, eps = std::numeric_limits<double>::epsilon();

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector direction(double theta, double phi) {
    return {std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)};
}
/// Angle between unit vectors, right at all sizes.
double distance(const Vector& a, const Vector& b) {
    const double difference = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    const double sum = std::hypot(a[0] + b[0], a[1] + b[1], a[2] + b[2]);
    return 2 * std::atan2(difference, sum);
}

/// For every pixel (ring order) its centre and points of its edge and its inside.
const std::vector<std::vector<Vector>>& samples(std::int64_t nside) {
    static std::map<std::int64_t, std::vector<std::vector<Vector>>> known;
    auto& all = known[nside];
    if (!all.empty()) return all;
    constexpr std::int64_t step = 4;
    std::vector<std::int64_t> pixels(static_cast<std::size_t>(n_pixels(nside)));
    for (std::size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<std::int64_t>(k);
    Array<double, 3> points({std::ssize(pixels), 3, 4 * step});
    boundaries(nside, Order::ring, {pixels.data(), {std::ssize(pixels)}}, step, points.view());
    for (const auto pixel : pixels) {
        std::vector<Vector> inside{pix2vec(nside, Order::ring, pixel)};
        for (std::int64_t k = 0; k < 4 * step; ++k)
            inside.push_back({points(pixel, 0, k), points(pixel, 1, k), points(pixel, 2, k)});
        const FacePixel at = pix2xyf(nside, Order::ring, pixel);
        for (std::int64_t x = 0; x < step; ++x)
            for (std::int64_t y = 0; y < step; ++y)
                inside.push_back(
                    pix2vec(step * nside, Order::ring,
                            xyf2pix(step * nside, Order::ring, {at.face, at.x * step + x, at.y * step + y})));
        all.push_back(inside);
    }
    return all;
}

/// Which pixels (ring order) a query found; checks the ranges' order.
std::vector<bool> found_pixels(std::int64_t nside, const Ranges& ranges, Order order = Order::ring) {
    std::vector<bool> found(static_cast<std::size_t>(n_pixels(nside)));
    std::int64_t previous = -1;
    for (const auto& [first, end] : ranges) {
        EXPECT_GT(first, previous);
        EXPECT_LT(first, end);
        previous = end;
        for (auto pixel = first; pixel < end; ++pixel)
            found.at(static_cast<std::size_t>(order == Order::ring ? pixel : nest2ring(nside, pixel))) = true;
    }
    return found;
}

/// Checks a query against how far outside the region a point lies (rad, negative inside), by points of
/// pixels.
template <class Query, class Outside>
void check_region(std::int64_t nside, const Query& query, const Outside& outside, const std::string& what) {
    const auto centres = found_pixels(nside, query({.order = Order::ring}));
    std::map<std::int64_t, std::vector<bool>> overlaps;
    for (const std::int64_t fact : {1, 3, 4})
        overlaps[fact] = found_pixels(nside, query({.order = Order::ring, .inclusive = true, .fact = fact}));
    if (is_valid_nside(nside, Order::nest)) {
        ASSERT_EQ(found_pixels(nside, query({.order = Order::nest}), Order::nest), centres) << what;
        ASSERT_EQ(found_pixels(nside, query({.order = Order::nest, .inclusive = true}), Order::nest),
                  overlaps[4])
            << what;
    }
    for (std::size_t pixel = 0; pixel < centres.size(); ++pixel) {
        double nearest = HUGE_VAL;
        for (const Vector& point : samples(nside)[pixel]) nearest = std::min(nearest, outside(point));
        const double of_centre = outside(samples(nside)[pixel][0]);
        // Angles of the functions under test and of this one, a few roundings of pi each.
        if (std::abs(of_centre) > 16 * eps) {
            ASSERT_EQ(centres[pixel], of_centre < 0) << what << " pixel " << pixel;
        }
        for (const auto& [fact, found] : overlaps) {
            // Points are a quarter of a pixel apart, and a slice of a row is 1 / fact of one.
            const double slack = (1. / 4 + 1. / static_cast<double>(fact)) * 2 * max_pixel_radius(nside);
            const bool must = nearest < -16 * eps, may = nearest < slack;
            ASSERT_TRUE(found[pixel] ? may : !must) << what << " pixel " << pixel << " fact " << fact
                                                    << " found " << found[pixel] << " nearest " << nearest;
        }
    }
}

struct Case {
    double theta, phi, radius;
};

std::vector<Case> discs(std::int64_t nside) {
    std::vector<Case> all;
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int k = 0; k < 60; ++k)
        all.push_back(
            {std::acos(1 - 2 * uniform(random)), 8 * uniform(random) - 1, pi * std::pow(uniform(random), 3)});
    const double edge = std::acos(2.0 / 3), pixel = 1 / static_cast<double>(nside);
    for (const double theta : {0.0, 1e-9, 0.3 * pixel, edge, 1.0, pi / 2, pi - edge, pi - 0.2 * pixel, pi})
        for (const double phi : {0.0, 0.1 * pixel, pi / 4, pi / 2})
            for (const double radius :
                 {0.0, 1e-12, 0.05 * pixel, 0.3 * pixel, pixel, 3 * pixel, pi / 2, 3.0, pi})
                all.push_back({theta, phi, radius});
    return all;
}

void check_discs(std::int64_t nside) {
    for (const auto& disc : discs(nside)) {
        // Lambdas capture no structured bindings in clang 14.
        const double theta = disc.theta, phi = disc.phi, radius = disc.radius;
        const Vector centre = direction(theta, phi);
        check_region(
            nside,
            [&](const QueryOptions& options) {
                return query_disc(nside, Angles{theta, phi}, radius, options);
            },
            [&](const Vector& point) { return distance(point, centre) - radius; },
            fmt::format("nside {} theta {} phi {} radius {}", nside, theta, phi, radius));
    }
}

TEST(HealpixRegion, OfADiscHoldsThePixelsInsideAndMissesNoneThatOverlaps) {
    for (const std::int64_t nside : {1, 2, 3, 4, 8}) check_discs(nside);
}

class HealpixRegions : public ::testing::TestWithParam<test::Target> {};

TEST_P(HealpixRegions, AreThoseOfEveryInstructionSet) {
    const test::ForcedTarget forced(GetParam().bit);
    check_discs(2);
}

INSTANTIATE_TEST_SUITE_P(Targets, HealpixRegions, ::testing::ValuesIn(test::targets()),
                         [](const auto& info) { return info.param.name; });

TEST(HealpixRegion, OfAStripHoldsThePixelsInsideAndMissesNoneThatOverlaps) {
    std::mt19937_64 random(4);
    std::uniform_real_distribution<double> any(0, pi);
    std::vector<std::pair<double, double>> strips{{0, pi},   {pi, 0},    {0, 0}, {pi, pi},
                                                  {0, 0.01}, {3.14, pi}, {1, 1}, {pi / 2, pi / 2}};
    for (int k = 0; k < 30; ++k) strips.emplace_back(any(random), any(random));
    for (const std::int64_t nside : {1, 2, 3, 8})
        for (const auto& strip : strips)
            check_region(
                nside,
                [&, first = strip.first, last = strip.second](const QueryOptions& options) {
                    return query_strip(nside, first, last, options);
                },
                [&, first = strip.first, last = strip.second](const Vector& point) {
                    const double theta = std::atan2(std::hypot(point[0], point[1]), point[2]);
                    return first < last ? std::max(first - theta, theta - last)
                                        : std::min(theta - last, first - theta);
                },
                fmt::format("nside {} strip {} to {}", nside, strip.first, strip.second));
}

TEST(HealpixRegion, OfAPolygonHoldsThePixelsInsideAndMissesNoneThatOverlaps) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (const std::int64_t nside : {1, 2, 4, 8}) {
        for (int round = 0; round < 60; ++round) {
            // Vertices on a circle around a random direction.
            const double theta = std::acos(1 - 2 * uniform(random)), phi = 2 * pi * uniform(random);
            const double radius = 1.5 * std::pow(uniform(random), 2) + 1e-3;
            const int n = 3 + round % 5;
            std::vector<Vector> vertices;
            std::vector<double> angles;
            for (int k = 0; k < n; ++k) angles.push_back(2 * pi * (k + 0.8 * uniform(random)) / n);
            if (round % 2 == 1) std::reverse(angles.begin(), angles.end());
            const Vector c = direction(theta, phi), a = direction(theta + pi / 2, phi),
                         b{-std::sin(phi), std::cos(phi), 0};
            for (const double angle : angles) {
                Vector vertex;
                for (std::size_t i = 0; i < 3; ++i)
                    vertex[i] = 3 * (std::cos(radius) * c[i] +
                                     std::sin(radius) * (std::cos(angle) * a[i] + std::sin(angle) * b[i]));
                vertices.push_back(vertex);
            }
            check_region(
                nside, [&](const QueryOptions& options) { return query_polygon(nside, vertices, options); },
                [&](const Vector& point) {
                    // Furthest outside a side; near a corner less than the distance, which is what the query
                    // allows.
                    double outside = -HUGE_VAL;
                    for (std::size_t k = 0; k < vertices.size(); ++k) {
                        const Vector &p = vertices[k], &q = vertices[(k + 1) % vertices.size()];
                        const Vector normal{p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                                            p[0] * q[1] - p[1] * q[0]};
                        const double height = dot(normal, point) / std::sqrt(dot(normal, normal));
                        outside = std::max(
                            outside, (round % 2 == 1 ? 1 : -1) * std::asin(std::clamp(height, -1., 1.)));
                    }
                    return outside;
                },
                fmt::format("nside {} polygon {}", nside, round));
        }
    }
}

TEST(HealpixRegion, OfAFewPixelsIsFoundAtTheLargestNside) {
    for (const double theta : {0.0, 1e-9, 0.5, 1.2, pi / 2, 3.0, pi}) {
        for (const Order order : {Order::ring, Order::nest}) {
            const double radius = 3 * max_pixel_radius(max_nside);
            const auto pixel = ang2pix(max_nside, order, Angles{theta, 0.0});
            for (const bool inclusive : {false, true}) {
                const auto pixels =
                    list_pixels(query_disc(max_nside, Angles{theta, 0.0}, radius,
                                           {.order = order, .inclusive = inclusive, .fact = 1}));
                EXPECT_TRUE(std::binary_search(pixels.begin(), pixels.end(), pixel)) << theta;
                EXPECT_LT(pixels.size(), 120U);
            }
            const auto point = list_pixels(
                query_disc(max_nside, Angles{theta, 0.0}, 0, {.order = order, .inclusive = true, .fact = 1}));
            EXPECT_TRUE(std::binary_search(point.begin(), point.end(), pixel)) << theta;
        }
    }
}

TEST(HealpixRegion, IsListedInAscendingOrder) {
    const auto ranges = query_disc(64, vec2ang({0, 0, 2}), 0.4, {.order = Order::nest});
    const auto pixels = list_pixels(ranges);
    EXPECT_EQ(std::ssize(pixels), count_pixels(ranges));
    EXPECT_TRUE(std::is_sorted(pixels.begin(), pixels.end()));
    Array<std::int64_t, 2> wide({std::ssize(pixels), 2});
    list_pixels(ranges, View<std::int64_t, 1>(wide.data() + 1, {std::ssize(pixels)}, {2}));
    for (std::int64_t k = 0; k < std::ssize(pixels); ++k)
        EXPECT_EQ(wide(k, 1), pixels[static_cast<std::size_t>(k)]);
    EXPECT_THROW(list_pixels(ranges, {wide.data(), {3}}), InvalidArgument);
    EXPECT_TRUE(list_pixels(Ranges{}).empty());
}

TEST(HealpixRegion, IsListedWhateverTheLengthsOfItsRanges) {
    Ranges ranges;
    std::vector<std::int64_t> wanted;
    for (std::int64_t length = 1; length < 40; ++length) {
        const std::int64_t first = (std::int64_t{1} << 40) + 100 * length;
        ranges.push_back({first, first + length});
        for (std::int64_t k = 0; k < length; ++k) wanted.push_back(first + k);
    }
    for (const auto& target : test::targets()) {
        const test::ForcedTarget forced(target.bit);
        std::vector<std::int64_t> pixels(wanted.size() + 1, -1);
        list_pixels(ranges, {pixels.data(), {std::ssize(wanted)}});
        EXPECT_EQ(pixels.back(), -1) << target.name;
        pixels.pop_back();
        EXPECT_EQ(pixels, wanted) << target.name;
    }
}

TEST(HealpixRegion, ErrorsNameTheArgument) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Vector> corner{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    EXPECT_THAT(
        [] {
            query_disc(1024, Angles{1, 1}, 0.1, {.inclusive = true, .fact = 524289});
        },
        ThrowsMessage<InvalidArgument>(
            "fact = 524289: must be from 1 to 2^29 / nside = 524288 for nside = 1024"));
    EXPECT_THROW(query_disc(8, Angles{1, 1}, 0.1, {.inclusive = true, .fact = 0}), InvalidArgument);
    EXPECT_THROW(query_disc(6, Angles{1, 1}, 0.1, {.order = Order::nest}), InvalidArgument);
    EXPECT_THROW(vec2ang({0, 0, 0}), InvalidArgument);
    EXPECT_THAT([&] { query_strip(8, nan, 1); },
                ThrowsMessage<InvalidArgument>("theta_1 = nan: must be from 0 to pi"));
    EXPECT_THAT([&] { query_strip(8, 0, 3.2); },
                ThrowsMessage<InvalidArgument>("theta_2 = 3.2: must be from 0 to pi"));
    auto polygon = [](std::vector<Vector> vertices) { return [=] { query_polygon(8, vertices); }; };
    EXPECT_THAT(polygon({corner[0], corner[1]}),
                ThrowsMessage<InvalidArgument>(HasSubstr("needs 3 or more")));
    EXPECT_THAT(polygon({corner[0], corner[1], {0, nan, 0}}),
                ThrowsMessage<InvalidArgument>(HasSubstr("vertices[2]")));
    EXPECT_THAT(polygon({corner[0], corner[1], corner[1]}),
                ThrowsMessage<InvalidArgument>(HasSubstr("vertices[1] and [2]")));
    EXPECT_THAT(polygon({corner[0], {-1, 0, 0}, corner[1]}),
                ThrowsMessage<InvalidArgument>(HasSubstr("vertices[0] and [1]")));
    EXPECT_THAT(polygon({corner[0], corner[1], {1, 1, 0}}),
                ThrowsMessage<InvalidArgument>(HasSubstr("one great circle")));
    EXPECT_THAT(polygon({{1, 0, 0}, {1, 0.2, 0.2}, {1, 0, 1}, {1, 1, 0}}),
                ThrowsMessage<InvalidArgument>(HasSubstr("convex")));
}

TEST(HealpixBoundaries, AreCornersAndEdgesThatNeighboursShare) {
    for (const std::int64_t nside : {1, 2, 3, 4, 16}) {
        std::vector<std::int64_t> pixels(static_cast<std::size_t>(n_pixels(nside)));
        for (std::size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<std::int64_t>(k);
        constexpr std::int64_t step = 4;
        Array<double, 3> points({std::ssize(pixels), 3, 4 * step});
        boundaries(nside, Order::ring, {pixels.data(), {std::ssize(pixels)}}, step, points.view(), 2);
        auto point = [&](std::int64_t pixel, std::int64_t k) {
            return Vector{points(pixel, 0, k % (4 * step)), points(pixel, 1, k % (4 * step)),
                          points(pixel, 2, k % (4 * step))};
        };
        for (const auto pixel : pixels) {
            const auto around = neighbours(nside, Order::ring, pixel);  // SW W NW N NE E SE S
            // Any edge of the neighbour may be the shared one: across the north-western edge of a northern
            // face lies another north-eastern edge.
            for (const auto& [edge, other] :
                 {std::pair{0, around[2]}, {1, around[0]}, {2, around[6]}, {3, around[4]}}) {
                const Vector middle = point(pixel, edge * step + step / 2);
                EXPECT_NEAR(dot(middle, middle), 1, 4 * eps);
                double nearest = HUGE_VAL;
                for (int k = 0; k < 4; ++k)
                    nearest = std::min(nearest, distance(middle, point(other, k * step + step / 2)));
                EXPECT_LT(nearest, 8 * eps) << nside << ' ' << pixel << ' ' << edge;
            }
        }
    }
}

TEST(HealpixBoundaries, RejectBadArguments) {
    std::vector<std::int64_t> pixels{0, 768};
    Array<double, 3> points({2, 3, 4});
    EXPECT_THAT(
        [&] {
            boundaries(8, Order::nest, {pixels.data(), {2}}, 1, points.view());
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("pixels[1] = 768")));
    EXPECT_THROW(boundaries(8, Order::nest, {pixels.data(), {1}}, 1, points.view()), InvalidArgument);
    EXPECT_THROW(boundaries(8, Order::nest, {pixels.data(), {2}}, 0, points.view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal::healpix
