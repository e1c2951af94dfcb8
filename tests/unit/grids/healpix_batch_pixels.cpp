#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "simd_helpers.hpp"
#include "unit/grids/healpix_cases.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_batch.hpp"

namespace zonal::healpix {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class HealpixBatches : public ::testing::TestWithParam<test::Target> {};

TEST_P(HealpixBatches, FindThePixelsOfAnglesThatTheScalarFunctionFinds) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const auto nside : sides()) {
        auto [theta, phi] = some_directions(nside);
        Pixels pixels(theta.size());
        for (const auto order : orders(nside)) {
            ang2pix(nside, order, view(theta), view(phi), view(pixels), 1);
            for (std::size_t k = 0; k < theta.size(); ++k)
                ASSERT_EQ(pixels[k], ang2pix(nside, order, Angles{theta[k], phi[k]}))
                    << "nside " << nside << " theta " << theta[k] << " phi " << phi[k];
        }
    }
}

TEST_P(HealpixBatches, FindThePixelsOfVectorsThatTheScalarFunctionFinds) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const auto nside : sides()) {
        Reals x, y, z;
        auto add = [&](double a, double b, double c) {
            x.push_back(a);
            y.push_back(b);
            z.push_back(c);
        };
        const auto [theta, phi] = some_directions(nside);
        for (std::size_t k = 0; k < theta.size(); ++k) {
            const double scale = std::pow(10., static_cast<double>(k % 7) - 3);
            const double s = std::sin(theta[k]) * scale;
            add(s * std::cos(phi[k]), s * std::sin(phi[k]), scale * std::cos(theta[k]));
        }
        for (const double a : {0.0, -0.0, 1.0, -1.0, 1e-300, -1e300, 5e-324, 0.3})
            for (const double b : {0.0, -0.0, 1.0, -1.0, 1e-300, 1e-20})
                for (const double c : {0.0, 2.0 / 3, 1.0, -1.0, 1e-300, 1e300, -1e-20})
                    if (a != 0 || b != 0 || c != 0) add(a, b, c);
        Pixels pixels(x.size());
        for (const auto order : orders(nside)) {
            vec2pix(nside, order, view(x), view(y), view(z), view(pixels), 1);
            for (std::size_t k = 0; k < x.size(); ++k)
                ASSERT_EQ(pixels[k], vec2pix(nside, order, Vector{x[k], y[k], z[k]}))
                    << "nside " << nside << " (" << x[k] << ", " << y[k] << ", " << z[k] << ")";
        }
    }
}

TEST_P(HealpixBatches, GiveTheCentresThatTheScalarFunctionsGive) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const auto nside : sides()) {
        for (const auto order : orders(nside)) {
            Pixels pixels = some_pixels(nside);
            Reals theta(pixels.size()), phi(pixels.size()), x(pixels.size()), y(pixels.size()),
                z(pixels.size());
            pix2ang(nside, order, view(pixels), view(theta), view(phi), 1);
            pix2vec(nside, order, view(pixels), view(x), view(y), view(z), 1);
            for (std::size_t k = 0; k < pixels.size(); ++k) {
                const Angles expected = pix2ang(nside, order, pixels[k]);
                // The header's 4 ulp; an ulp is at least eps / 2 of the value.
                ASSERT_NEAR(theta[k], expected.theta, 2 * eps * expected.theta) << nside << ' ' << pixels[k];
                ASSERT_EQ(phi[k], expected.phi) << nside << ' ' << pixels[k];
                const Vector vector = pix2vec(nside, order, pixels[k]);
                ASSERT_NEAR(x[k], vector[0], 4 * eps * std::sin(expected.theta)) << nside << ' ' << pixels[k];
                ASSERT_NEAR(y[k], vector[1], 4 * eps * std::sin(expected.theta)) << nside << ' ' << pixels[k];
                ASSERT_EQ(z[k], vector[2]) << nside << ' ' << pixels[k];
            }
        }
    }
}

TEST_P(HealpixBatches, ReorderPixelsAsTheScalarFunctionsDo) {
    const test::ForcedTarget forced(GetParam().bit);
    for (const auto nside : sides()) {
        if (!is_valid_nside(nside, Order::nest)) continue;
        Pixels pixels = some_pixels(nside), nest(pixels.size()), ring(pixels.size());
        ring2nest(nside, view(pixels), view(nest), 1);
        nest2ring(nside, view(pixels), view(ring), 1);
        for (std::size_t k = 0; k < pixels.size(); ++k) {
            ASSERT_EQ(nest[k], ring2nest(nside, pixels[k])) << nside << ' ' << pixels[k];
            ASSERT_EQ(ring[k], nest2ring(nside, pixels[k])) << nside << ' ' << pixels[k];
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, HealpixBatches, ::testing::ValuesIn(test::targets()),
                         [](const auto& info) { return info.param.name; });

TEST(HealpixBatch, HasTheSameResultsWithThreadsStridesAndInPlace) {
    const std::int64_t nside = 256;
    Pixels pixels(static_cast<std::size_t>(n_pixels(nside))), nest(pixels.size());
    std::iota(pixels.begin(), pixels.end(), 0);
    ring2nest(nside, view(pixels), view(nest), 1);
    Pixels in_place = pixels;
    ring2nest(nside, view(in_place), view(in_place), 3);
    EXPECT_EQ(in_place, nest);

    Reals vectors(3 * pixels.size());  // [n, 3]
    const std::int64_t n = std::ssize(pixels);
    auto component = [&](int c) { return View<double, 1>(vectors.data() + c, {n}, {3}); };
    pix2vec(nside, Order::nest, view(nest), component(0), component(1), component(2), 2);
    Pixels found(pixels.size());
    vec2pix(nside, Order::ring, component(0), component(1), component(2), view(found), 2);
    EXPECT_EQ(found, pixels);
}

TEST(HealpixBatch, MayBeEmpty) {
    Pixels pixels;
    Reals theta, phi;
    ang2pix(4, Order::ring, view(theta), view(phi), view(pixels));
    ring2nest(4, view(pixels), view(pixels));
    EXPECT_THROW(ring2nest(3, view(pixels), view(pixels)), InvalidArgument);
}

TEST(HealpixBatch, ErrorsNameTheFirstElementThatIsNotValid) {
    const std::size_t n = 200000;
    Reals theta(n, 1.0), phi(n, 1.0);
    Pixels pixels(n);
    for (const double bad : {nan, -0.1, 3.2}) {
        for (const std::size_t index : {std::size_t{0}, std::size_t{777}, std::size_t{150001}, n - 1}) {
            Reals broken = theta;
            broken[index] = bad;
            broken[n - 1] = bad;
            EXPECT_THAT([&] { ang2pix(8, Order::nest, view(broken), view(phi), view(pixels), 3); },
                        ThrowsMessage<InvalidArgument>(HasSubstr("theta[" + std::to_string(index) + "] = ")));
        }
    }
    phi[5] = std::numeric_limits<double>::infinity();
    EXPECT_THAT([&] { ang2pix(8, Order::ring, view(theta), view(phi), view(pixels)); },
                ThrowsMessage<InvalidArgument>("phi[5] = inf: must be finite"));
    for (const std::int64_t bad :
         {std::int64_t{-1}, std::int64_t{768}, std::numeric_limits<std::int64_t>::max()}) {
        Pixels broken(n, 767);
        broken[70001] = bad;
        const auto message = "pixels[70001] = " + std::to_string(bad) +
                             ": must be from 0 to 12 nside^2 - 1 = 767 for nside = 8";
        EXPECT_THAT([&] { pix2ang(8, Order::nest, view(broken), view(theta), view(phi)); },
                    ThrowsMessage<InvalidArgument>(message));
        EXPECT_THAT([&] { nest2ring(8, view(broken), view(pixels)); },
                    ThrowsMessage<InvalidArgument>(message));
    }
}

TEST(HealpixBatch, RejectsVectorsThatPointNowhere) {
    Pixels pixels(2);
    for (const Vector& bad :
         {Vector{0, 0, 0}, Vector{nan, 0, 1}, Vector{0, std::numeric_limits<double>::infinity(), 0}}) {
        Reals x{1, bad[0]}, y{0, bad[1]}, z{0, bad[2]};
        EXPECT_THAT([&] { vec2pix(8, Order::ring, view(x), view(y), view(z), view(pixels)); },
                    ThrowsMessage<InvalidArgument>(HasSubstr("vector [1] = ")));
    }
}

TEST(HealpixBatch, RejectsArraysOfDifferentLengths) {
    Reals theta(3, 1.0), phi(2, 1.0);
    Pixels pixels(3);
    EXPECT_THAT(
        [&] { ang2pix(8, Order::ring, view(theta), view(phi), view(pixels)); },
        ThrowsMessage<InvalidArgument>("phi: 2 elements: must be 3, as many as the first argument has"));
    EXPECT_THROW(ang2pix(8, Order::ring, view(theta), view(theta), view(pixels), -1), InvalidArgument);
}

}  // namespace
}  // namespace zonal::healpix
