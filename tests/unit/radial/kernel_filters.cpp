#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/filters.hpp"
#include "zonal/kernel.hpp"

// Windows of linear filters.
namespace zonal::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(SkyWindow, IsTheRootOfTheSpectrumTimesTheBeam) {
    EXPECT_THAT(sky_window({4, 0, 9}, {1, 0.5, -0.25}), ElementsAre(2, 0, -0.75));
}

TEST(SkyWindow, RejectsNegativeSpectra) {
    EXPECT_THAT(
        [] {
            sky_window({1, -2}, {1, 1});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("c_l: -2 at l = 1: must not be negative")));
    EXPECT_THAT([] { sky_window({1, 2}, {1}); }, ThrowsMessage<InvalidArgument>(HasSubstr("2 and 1 values")));
}

TEST(DeconvolutionWindow, KeepsToTheFloor) {
    EXPECT_THAT(deconvolution_window({1, 1, 1, 0}, {2, 0.001, -0.001, 0}, 0.01),
                ElementsAre(0.5, 100, -100, 0));
}

TEST(DeconvolutionWindow, TakesOneBeamToAnother) {
    // Gaussian beams: from 20 to 30 degrees is a Gaussian of sqrt(30^2 - 20^2) degrees.
    const double degree = std::numbers::pi / 180;
    const auto window = deconvolution_window(RadialKernel::gaussian(30 * degree).window(10),
                                             RadialKernel::gaussian(20 * degree).window(10), 0);
    const auto expected = RadialKernel::gaussian(std::sqrt(500.0) * degree).window(10);
    for (std::size_t l = 0; l < window.size(); ++l) EXPECT_NEAR(window[l], expected[l], 1e-14);
}

TEST(DeconvolutionWindow, RejectsQuotientsThatAreNotFinite) {
    EXPECT_THAT(
        [] {
            deconvolution_window({1, 1}, {1, 0}, 0);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("at l = 1 is not finite: give a floor")));
    EXPECT_THROW(deconvolution_window({1}, {1}, -1), InvalidArgument);
}

TEST(MatchedFilter, OfASourceIsItsAmplitude) {
    constexpr std::int64_t lmax = 300;
    const auto beam = RadialKernel::gaussian(0.02).window(lmax);
    std::vector<double> c_l(lmax + 1), n_l(lmax + 1, 1e-4);
    for (std::int64_t l = 1; l <= lmax; ++l) c_l[l] = 1.0 / static_cast<double>(l * (l + 1));
    const auto filter = matched_filter_window(beam, c_l, n_l);
    // The filtered source at its centre is the profile of filter times beam there.
    std::vector<double> product;
    for (std::int64_t l = 0; l <= lmax; ++l) product.push_back(filter[l] * beam[l]);
    EXPECT_NEAR(RadialKernel::from_window(product).profile(0), 1, 1e-14);
    for (const std::int64_t l : {1, 17, 300})
        EXPECT_DOUBLE_EQ(filter[l] * (c_l[l] * beam[l] * beam[l] + n_l[l]) / beam[l],
                         filter[300] * (c_l[300] * beam[300] * beam[300] + n_l[300]) / beam[300]);
}

TEST(MatchedFilter, LeavesTheStatedVariance) {
    // sum (2l+1)/(4 pi) F_l^2 (C_l b_l^2 + N_l) = 1 / sum (2l+1)/(4 pi) b_l^2 / (C_l b_l^2 + N_l)
    const std::vector<double> beam{1, 0.8, 0.5}, c_l{0, 3, 2}, n_l{0.5, 0.5, 0.7};
    const auto filter = matched_filter_window(beam, c_l, n_l);
    double variance = 0, inverse = 0;
    for (int l = 0; l < 3; ++l) {
        const double total = c_l[l] * beam[l] * beam[l] + n_l[l],
                     degrees = (2 * l + 1) / (4 * std::numbers::pi);
        variance += degrees * filter[l] * filter[l] * total;
        inverse += degrees * beam[l] * beam[l] / total;
    }
    EXPECT_NEAR(variance * inverse, 1, 16 * std::numeric_limits<double>::epsilon());
}

TEST(MatchedFilter, RejectsSkiesWithoutNoiseAndBeamsOfNothing) {
    EXPECT_THAT(
        [] {
            matched_filter_window({1, 1}, {1, 0}, {1, 0});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("at l = 1: must not both be 0")));
    EXPECT_THROW(matched_filter_window({0, 0}, {1, 1}, {1, 1}), InvalidArgument);
    EXPECT_THROW(matched_filter_window({1, 1}, {1, 1}, {1}), InvalidArgument);
}

TEST(WienerWindow, IsTheSignalsShare) {
    EXPECT_THAT(wiener_window({0, 3, 1}, {0, 1, 0}), ElementsAre(0, 0.75, 1));
    EXPECT_THROW(wiener_window({1}, {-1}), InvalidArgument);
    EXPECT_THROW(wiener_window({}, {}), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
