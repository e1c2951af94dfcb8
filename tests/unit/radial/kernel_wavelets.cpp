#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/wavelets.hpp"

// Needlets, scale-discretised wavelets and the Mexican hat against mpmath's quadratures (40 digits).
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();
/// The squares are exact but for rounding of x and of two quadratures of a step.
constexpr double tolerance = 4e-15;

void expect_relative(double found, double expected) {
    EXPECT_NEAR(found, expected, tolerance * expected);
}

void expect_squares_sum_to_one(const WaveletWindows& windows) {
    for (std::size_t l = 0; l < windows.scaling.size(); ++l) {
        double sum = windows.scaling[l] * windows.scaling[l];
        for (const auto& window : windows.wavelets) sum += window[l] * window[l];
        EXPECT_NEAR(sum, 1, tolerance) << "l = " << l;
    }
}

TEST(Needlets, AgreeWithMpmath) {
    const auto dyadic = needlet_windows(2, 30), finer = needlet_windows(1.5, 40);
    expect_relative(dyadic.wavelets[1][3], 0.7071067811865475244);
    expect_relative(dyadic.wavelets[3][5], 0.35066691215073183475);
    expect_relative(dyadic.wavelets[3][15], 0.12651185760866341491);
    expect_relative(finer.wavelets[8][20], 0.4958126568609174789);
    expect_relative(finer.wavelets[8][36], 0.24665907769195605193);
}

TEST(Needlets, HaveSquaresThatSumToOne) {
    for (const double base : {1.1, 1.5, 2.0, 3.7, 64.0})
        for (const std::int64_t lmax : {0, 1, 2, 64, 1000})
            expect_squares_sum_to_one(needlet_windows(base, lmax));
}

TEST(Needlets, LiveBetweenTheirNeighbours) {
    const auto windows = needlet_windows(2, 100);
    ASSERT_EQ(windows.wavelets.size(), 8U);  // 2^7 / 2 = 64 < 100
    for (std::size_t l = 0; l <= 100; ++l) EXPECT_EQ(windows.wavelets[4][l] > 0, l > 8 && l < 32) << l;
}

TEST(ScaleDiscretisedWavelets, AgreeWithMpmath) {
    const auto dyadic = scale_discretised_windows(2, 2, 40), triadic = scale_discretised_windows(3, 0, 40);
    expect_relative(dyadic.wavelets[0][3], 0.73989708415155175986);
    expect_relative(dyadic.wavelets[2][9], 0.067707882692434580029);
    expect_relative(dyadic.wavelets[2][30], 0.05180424088558046652);
    expect_relative(dyadic.scaling[3], 0.67272007912952288627);
    expect_relative(triadic.wavelets[2][20], 0.47614712958458814383);
}

TEST(ScaleDiscretisedWavelets, HaveSquaresThatSumToOne) {
    for (const double dilation : {1.2, 2.0, 3.0})
        for (const std::int64_t lmax : {1, 2, 64, 1000})
            expect_squares_sum_to_one(scale_discretised_windows(dilation, lmax > 9 ? 3 : 0, lmax));
}

TEST(ScaleDiscretisedWavelets, RejectScalesThatDoNotExist) {
    EXPECT_THAT([] { scale_discretised_windows(2, 8, 100); },
                ThrowsMessage<InvalidArgument>(HasSubstr("j_min = 8: must be from 0 to 7")));
    EXPECT_THROW(scale_discretised_windows(2, -1, 100), InvalidArgument);
    EXPECT_THROW(scale_discretised_windows(1, 0, 100), InvalidArgument);
    EXPECT_THROW(needlet_windows(1, 100), InvalidArgument);
    EXPECT_THROW(needlet_windows(2, -1), InvalidArgument);
}

TEST(MexicanHat, HasTheWindowOfMpmath) {
    const auto narrow = mexican_hat(0.1).window(30), wide = mexican_hat(1).window(5);
    // Rounding of a quadrature, of the largest.
    EXPECT_NEAR(narrow[0], 0, 8 * eps * 0.19);
    EXPECT_NEAR(narrow[5], 0.0640623372605546418, 8 * eps * 0.19);
    EXPECT_NEAR(narrow[15], 0.181311132325332616, 8 * eps * 0.19);
    EXPECT_NEAR(narrow[30], 0.021957578758285672, 8 * eps * 0.19);
    EXPECT_NEAR(wide[0], 0, 8 * eps * 1.3);
    EXPECT_NEAR(wide[1], 1.27311320343428032, 8 * eps * 1.3);
    EXPECT_NEAR(wide[2], 1.15441771983787015, 8 * eps * 1.3);
    EXPECT_NEAR(wide[5], 0.0802578699117144496, 8 * eps * 1.3);
}

TEST(MexicanHat, IsNormalisedAndEndsAtTheAntipode) {
    // sum (2l+1)/(4 pi) K_l^2 = 1
    for (const double radius : {0.01, 0.3}) {
        const auto kernel = mexican_hat(radius);
        double norm = 0, l = 0;
        for (const double k_l : kernel.window(1500))
            norm += (2 * l++ + 1) / (4 * std::numbers::pi) * k_l * k_l;
        EXPECT_NEAR(norm, 1, 1e-13);
        EXPECT_EQ(kernel.profile(std::numbers::pi), 0);
    }
    EXPECT_THROW(mexican_hat(0), InvalidArgument);
    EXPECT_THROW(mexican_hat(1.1), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
