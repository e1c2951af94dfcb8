#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "simd_helpers.hpp"
#include "unit/grids/healpix_cases.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_batch.hpp"

namespace zonal::healpix {
namespace {

using ::testing::ThrowsMessage;

constexpr double pi = std::numbers::pi, eps = std::numeric_limits<double>::epsilon();

class HealpixBatchSurroundings : public ::testing::TestWithParam<test::Target> {};

TEST_P(HealpixBatchSurroundings, NeighboursAreThoseOfTheScalarFunction) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const auto nside : sides()) {
        for (const auto order : orders(nside)) {
            Pixels pixels = some_pixels(nside);
            Array<std::int64_t, 2> around({8, std::ssize(pixels)});
            neighbours(nside, order, view(pixels), around.view(), 1);
            for (std::int64_t k = 0; k < std::ssize(pixels); ++k) {
                const auto expected = neighbours(nside, order, pixels[k]);
                for (std::int64_t step = 0; step < 8; ++step)
                    ASSERT_EQ(around(step, k), expected[step]) << nside << ' ' << pixels[k] << ' ' << step;
            }
        }
    }
}

TEST_P(HealpixBatchSurroundings, NeighboursOfWhatIsNoPixelAreRefusedWhereverItStands) {
    const test::ForcedTarget forced(GetParam().bit);
    constexpr std::int64_t n = 5000;
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{2047}, n - 1}) {
        for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{768}}) {
            Pixels pixels(n, 767);
            pixels[static_cast<std::size_t>(at)] = bad;
            Array<std::int64_t, 2> around({8, n});
            for (const auto order : {Order::ring, Order::nest})
                EXPECT_THROW(neighbours(8, order, view(pixels), around.view(), 1), InvalidArgument)
                    << at << ' ' << bad;
        }
    }
}

TEST_P(HealpixBatchSurroundings, CoordinatesOnFacesAreThoseOfTheScalarFunctions) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const auto nside : sides()) {
        for (const auto order : orders(nside)) {
            Pixels pixels = some_pixels(nside), x(pixels.size()), y(pixels.size()), face(pixels.size()),
                   back(pixels.size());
            pix2xyf(nside, order, view(pixels), view(x), view(y), view(face), 1);
            xyf2pix(nside, order, view(x), view(y), view(face), view(back), 1);
            EXPECT_EQ(back, pixels);
            for (std::size_t k = 0; k < pixels.size(); ++k) {
                const FacePixel expected = pix2xyf(nside, order, pixels[k]);
                ASSERT_EQ(x[k], expected.x);
                ASSERT_EQ(y[k], expected.y);
                ASSERT_EQ(face[k], expected.face);
                ASSERT_EQ(xyf2pix(nside, order, expected), pixels[k]);
            }
        }
    }
}

/// Weight of each pixel as the header defines it, from rings.
std::map<std::int64_t, double> weights_by_definition(std::int64_t nside, const Angles& angles) {
    std::map<std::int64_t, double> weights;
    std::int64_t low = -1,
                 high = n_rings(nside);  // the rings that surround theta; -1 and n_rings are the poles
    while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (ring(nside, middle).theta <= angles.theta ? low : high) = middle;
    }
    const double top = low < 0 ? 0 : ring(nside, low).theta;
    const double bottom = high == n_rings(nside) ? pi : ring(nside, high).theta;
    const double fraction = (angles.theta - top) / (bottom - top);
    for (const auto& [index, weight] : {std::pair{low, 1 - fraction}, std::pair{high, fraction}}) {
        const Ring row = ring(nside, std::clamp<std::int64_t>(index, 0, n_rings(nside) - 1));
        if (index < 0 || index == n_rings(nside)) {
            for (std::int64_t k = 0; k < 4; ++k) weights[row.first_pixel + k] += weight / 4;
            continue;
        }
        const double steps = (angles.phi - row.phi_0) * static_cast<double>(row.n_pixels) / (2 * pi),
                     west = std::floor(steps);
        const std::int64_t n = row.n_pixels, k = ((static_cast<std::int64_t>(west) % n) + n) % n;
        weights[row.first_pixel + k] += weight * (1 - (steps - west));
        weights[row.first_pixel + (k + 1) % n] += weight * (steps - west);
    }
    return weights;
}

TEST_P(HealpixBatchSurroundings, InterpolationWeightsAreAsDefined) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const std::int64_t nside : {1, 2, 3, 8, 100, 1024}) {
        auto [theta, phi] = some_directions(nside);
        const auto n = std::ssize(theta);
        Array<std::int64_t, 2> pixels({4, n});
        Array<double, 2> weights({4, n});
        for (const auto order : orders(nside)) {
            interpolation_weights(nside, order, view(theta), view(phi), pixels.view(), weights.view(), 1);
            for (std::int64_t k = 0; k < n; ++k) {
                if (std::abs(phi[k]) > 20) continue;  // the definition's own rounding
                auto left = weights_by_definition(nside, {theta[k], phi[k]});
                double sum = 0;
                for (std::int64_t row = 0; row < 4; ++row) {
                    ASSERT_GE(weights(row, k), 0);
                    sum += weights(row, k);
                    const auto pixel = pixels(row, k);
                    left[order == Order::ring ? pixel : nest2ring(nside, pixel)] -= weights(row, k);
                }
                ASSERT_NEAR(sum, 1, 4 * eps);
                // Angles of a few eps of 2 pi, divided by the distance of pixels, about 1 / nside.
                for (const auto& [pixel, difference] : left)
                    ASSERT_LE(std::abs(difference), 64 * eps * static_cast<double>(nside))
                        << nside << ' ' << theta[k] << ' ' << phi[k] << ' ' << pixel;
            }
        }
    }
}

TEST_P(HealpixBatchSurroundings, InterpolationIsTheWeightedSumOfPixels) {
    const test::ForcedTarget forced(GetParam().bit);
    const std::int64_t nside = 16;
    Array<float, 2> maps({2, n_pixels(nside)});
    for (std::int64_t k = 0; k < maps.size(); ++k) maps.data()[k] = static_cast<float>(std::sin(k));
    auto [theta, phi] = some_directions(nside);
    Array<double, 2> values({2, std::ssize(theta)});
    interpolate<float>(Order::nest, maps.view(), view(theta), view(phi), values.view(), 2);
    for (std::int64_t k = 0; k < std::ssize(theta); ++k) {
        const auto [pixels, weights] = interpolation_weights(nside, Order::nest, {theta[k], phi[k]});
        for (std::int64_t map = 0; map < 2; ++map) {
            double expected = 0;
            for (std::size_t row = 0; row < 4; ++row) expected += weights[row] * maps(map, pixels[row]);
            ASSERT_EQ(values(map, k), expected);
        }
    }
}

TEST_P(HealpixBatchSurroundings, InterpolationIsRightAtTheLargestNside) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const auto pixel : some_pixels(max_nside)) {
        const auto found =
            interpolation_weights(max_nside, Order::ring, pix2ang(max_nside, Order::ring, pixel));
        double weight = 0;
        for (std::size_t row = 0; row < 4; ++row)
            if (found.pixels[row] == pixel) weight += found.weights[row];
        // theta's eps of pi against the distance of rings.
        ASSERT_NEAR(weight, 1, 64 * eps * static_cast<double>(max_nside)) << pixel;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, HealpixBatchSurroundings, ::testing::ValuesIn(test::targets()),
                         [](const auto& info) { return info.param.name; });

TEST(HealpixBatchSurroundings, ErrorsNameTheArgument) {
    Pixels x{0, 0, 4}, y{0, 0, 0}, face{0, 12, 0}, pixels(3);
    EXPECT_THAT([&] { xyf2pix(4, Order::nest, view(x), view(y), view(face), view(pixels)); },
                ThrowsMessage<InvalidArgument>("face[1] = 12: must be from 0 to 11"));
    EXPECT_THAT(
        [] {
            xyf2pix(4, Order::nest, {0, 0, 4});
        },
        ThrowsMessage<InvalidArgument>("y = 4: must be from 0 to nside - 1 = 3"));
    Array<std::int64_t, 2> around({8, 2});
    EXPECT_THAT([&] { neighbours(4, Order::nest, view(pixels), around.view()); },
                ThrowsMessage<InvalidArgument>("around: shape [8, 2]: must be [8, 3]"));
    Array<double, 2> maps({1, 13}), values({1, 1});
    Reals theta{1}, phi{1};
    EXPECT_THROW(interpolate<double>(Order::ring, maps.view(), view(theta), view(phi), values.view()),
                 InvalidArgument);
}

}  // namespace
}  // namespace zonal::healpix
