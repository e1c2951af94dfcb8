#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/kernel.hpp"

// Profiles of kernels, against mpmath, scipy and closed forms.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double pi = std::numbers::pi;

struct Point {
    double theta, value;
};

void expect_profile(const RadialKernel& kernel, const std::vector<Point>& points, double tolerance) {
    for (const auto& [theta, value] : points)
        EXPECT_NEAR(kernel.profile(theta), value, tolerance) << "theta = " << theta;
}

// Angles and values as mpmath 1.3 gives them with 70 digits: sum (2l+1)/(4 pi) exp(-l(l+1) sigma^2/2) P_l up
// to l = 17 / sigma.
TEST(GaussianKernel, OfANarrowBeamAgreesWithMpmath) {
    const auto kernel = RadialKernel::gaussian(0.0013671745807288915);  // 4.7'
    expect_profile(kernel,
                   {{0.0, 472158.3275111024693},
                    {0.0002908882086657216, 416464.43983565639131},
                    {0.001454441043328608, 20480.682603652458189},
                    {0.002908882086657216, 1.6715322011765534632},
                    {0.004363323129985824, 2.5668389131234994379e-7}},
                   1e-14 * 472158);
}

TEST(GaussianKernel, OfADegreesWideBeamAgreesWithMpmath) {
    const auto kernel = RadialKernel::gaussian(0.17453292519943295);  // 10 deg
    expect_profile(kernel,
                   {{0.0, 28.998698371899641676},
                    {0.08726646259971647, 14.508557705251333844},
                    {0.3490658503988659, 0.00044702028512169551666},
                    {0.6283185307179586, 7.4381827190195033054e-15}},
                   2e-15 * 29);
}

TEST(GaussianKernel, OfAWideBeamAgreesWithMpmath) {
    const auto kernel = RadialKernel::gaussian(0.3490658503988659);  // 20 deg
    expect_profile(kernel,
                   {{0.0, 7.2696237248843072867},
                    {0.5235987755982989, 0.014529938456444399243},
                    {1.0471975511965979, 1.1633588757494662011e-10},
                    {3.141592653589793, 0}},
                   2e-15 * 7);
}

TEST(GaussianKernel, IsTheSameByIntegralAndBySum) {
    // Just below where the profile is summed over degrees; rounding of the sum, of 100 terms
    const auto kernel = RadialKernel::gaussian(0.235);
    const auto sum = RadialKernel::from_window(kernel.window(120));
    const double peak = kernel.profile(0);
    for (int i = 0; i <= 60; ++i)
        EXPECT_NEAR(kernel.profile(i * pi / 60), sum.profile(i * pi / 60), 1e-14 * peak) << i;
}

TEST(GaussianKernel, RejectsFwhmThatIsNotPositive) {
    for (const double fwhm : {0.0, -1.0, std::nan(""), HUGE_VAL})
        EXPECT_THROW(RadialKernel::gaussian(fwhm), InvalidArgument) << fwhm;
}

TEST(TopHatKernel, IsConstantUpToItsRadius) {
    const auto kernel = RadialKernel::top_hat(0.3);
    const double area = 2 * pi * (1 - std::cos(0.3));
    expect_profile(kernel, {{0, 1 / area}, {0.3, 1 / area}, {std::nextafter(0.3, 1), 0}, {pi, 0}}, 1e-13);
    EXPECT_EQ(kernel.support(), 0.3);
}

TEST(TopHatKernel, RejectsRadiusBeyondTheSphere) {
    for (const double radius : {0.0, -1.0, 3.2, std::nan("")})
        EXPECT_THROW(RadialKernel::top_hat(radius), InvalidArgument) << radius;
}

TEST(ProfileKernel, AgreesWithScipy) {
    // scipy 1.17.1: PchipInterpolator(4 sin^2(theta/2), value)(4 sin^2(x/2))
    const auto kernel = RadialKernel::from_profile({0, 0.1, 0.15, 0.4, 1.0, 2.5}, {3, 2.5, 1, -0.5, 0.2, 0});
    expect_profile(kernel,
                   {{0.05, 2.928052009250774},
                    {0.12, 1.970902475845834},
                    {0.2, 0.5835154447613542},
                    {0.39, -0.49689041069674655},
                    {0.7, -0.24319187444192664},
                    {1.5, 0.1914217651503422},
                    {2.4, 0.027180352513069578}},
                   1e-14);
    EXPECT_EQ(kernel.profile(2.6), 0);
    EXPECT_EQ(kernel.support(), 2.5);
}

TEST(ProfileKernel, HasTheNodesOwnValues) {
    const std::vector<double> theta{0, 0.5, 1, 2}, value{4, 3, -1, 0.5};
    const auto kernel = RadialKernel::from_profile(theta, value);
    for (std::size_t i = 0; i < theta.size(); ++i) EXPECT_DOUBLE_EQ(kernel.profile(theta[i]), value[i]);
}

TEST(ProfileKernel, RejectsAnglesThatDoNotAscendFromZero) {
    EXPECT_THAT(
        [] {
            RadialKernel::from_profile({0.1, 0.2}, {1, 1});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("begins at theta = 0.1 rad")));
    EXPECT_THAT(
        [] {
            RadialKernel::from_profile({0, 0.2, 0.2}, {1, 1, 1});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("theta[2] = 0.2 rad: must ascend")));
    EXPECT_THROW(RadialKernel::from_profile({0, 1e-200}, {1, 1}), InvalidArgument);
    EXPECT_THROW(RadialKernel::from_profile({0, 4}, {1, 1}), InvalidArgument);
    EXPECT_THROW(RadialKernel::from_profile({0}, {1}), InvalidArgument);
    EXPECT_THROW(RadialKernel::from_profile({0, 1}, {1}), InvalidArgument);
    EXPECT_THROW(RadialKernel::from_profile({0, 1}, {1, std::nan("")}), InvalidArgument);
}

TEST(WindowKernel, SumsLegendrePolynomials) {
    // 1/(4 pi) (2 + 3 * 3 x - 5 (3 x^2 - 1)/2)
    const auto kernel = RadialKernel::from_window({2, 3, -1});
    for (const double theta : {0.0, 1e-9, 0.7, pi / 2, 2.9, pi}) {
        const double x = std::cos(theta);
        EXPECT_NEAR(kernel.profile(theta), (2 + 9 * x - 2.5 * (3 * x * x - 1)) / (4 * pi), 1e-15) << theta;
    }
    EXPECT_EQ(kernel.band_limit(), 2);
    EXPECT_EQ(kernel.support(), pi);
}

TEST(WindowKernel, EndsAtItsLastDegree) {
    const auto kernel = RadialKernel::from_window({2, 3, -1, 0, 0});
    EXPECT_EQ(kernel.band_limit(), 2);
    EXPECT_EQ(kernel.window(4), (std::vector<double>{2, 3, -1, 0, 0}));
    EXPECT_EQ(RadialKernel::from_window({0, 0}).band_limit(), 0);
    EXPECT_EQ(RadialKernel::from_window({0, 0}).profile(1), 0);
}

TEST(WindowKernel, GivesTheSameForOneAngleAndForMany) {
    const auto kernel = RadialKernel::from_window(RadialKernel::gaussian(0.05).window(300));
    std::vector<double> theta(101);
    for (int i = 0; i < 101; ++i) theta[i] = pi * (100 - i) / 100;
    const auto many = kernel.profile(theta);
    for (std::size_t i = 0; i < theta.size(); ++i) EXPECT_EQ(kernel.profile(theta[i]), many[i]);
}

TEST(WindowKernel, RejectsWindowsThatAreNotFinite) {
    EXPECT_THROW(RadialKernel::from_window({}), InvalidArgument);
    EXPECT_THAT(
        [] {
            RadialKernel::from_window({1, HUGE_VAL});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("window: inf at l = 1")));
}

TEST(RadialKernel, EndsWhereItIsCut) {
    const auto whole = RadialKernel::gaussian(0.5), cut = whole.truncated(0.6);
    EXPECT_EQ(cut.support(), 0.6);
    EXPECT_EQ(cut.profile(0.6), whole.profile(0.6));
    EXPECT_EQ(cut.profile(0.60001), 0);
    EXPECT_EQ(cut.truncated(0.7).support(), 0.6);
    EXPECT_EQ(cut.truncated(0.2).support(), 0.2);
    EXPECT_EQ(cut.band_limit(), -1);
    EXPECT_THROW(whole.truncated(0), InvalidArgument);
    EXPECT_THROW(whole.truncated(3.2), InvalidArgument);
}

TEST(RadialKernel, IsScaledInProfileAndWindow) {
    const auto kernel = RadialKernel::gaussian(0.5), twice = kernel.scaled(-2);
    EXPECT_EQ(twice.profile(0.1), -2 * kernel.profile(0.1));
    EXPECT_EQ(twice.window(3)[3], -2 * kernel.window(3)[3]);
    EXPECT_THROW(kernel.scaled(std::nan("")), InvalidArgument);
}

TEST(RadialKernel, RejectsAnglesOutsideTheSphere) {
    const auto kernel = RadialKernel::top_hat(1);
    EXPECT_THROW(kernel.profile(-0.1), InvalidArgument);
    EXPECT_THROW(kernel.profile(3.2), InvalidArgument);
    EXPECT_THROW(kernel.window(-1), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
