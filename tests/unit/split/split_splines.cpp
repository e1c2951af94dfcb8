#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "compare.hpp"
#include "radial/kernels/chord_table.hpp"
#include "split/spline_basis.hpp"
#include "split/spline_norm.hpp"
#include "split/spline_windows.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/split.hpp"

// The splines that profiles of split kernels are made of, and their windows.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double eps = 0x1p-52, pi = std::numbers::pi;

/// Basis function c at theta.
double function(const split::SplineBasis& basis, std::int64_t c, double theta) {
    std::vector<double> coefficients(basis.size());
    coefficients[c] = 1;
    return basis.evaluate(coefficients, theta);
}

TEST(SplineBasis, AgreesWithScipy) {
    // scipy 1.17.1, BSpline.basis_element on these knots and their mirror images
    const split::SplineBasis basis({0, 0.03, 0.08, 0.1, 0.2, 0.35, 0.4, 0.6, 0.8, 1.1});
    constexpr double theta[4] = {0, 0.05, 0.3, 0.7};
    constexpr double expected[7][4] = {
        {0.52059052059052069, 0.076214584027084031, 0, 0},
        {0.47120029728725388, 0.58431662868603418, 0, 0},
        {0.0082091821222255983, 0.32142782090032734, 0.00027557319223985884, 0},
        {0, 0.017995542811719289, 0.025948567615234303, 0},
        {0, 4.5423574835339582e-05, 0.39146935396935401, 0},
        {0, 0, 0.47429063220729872, 0.00066137566137566383},
        {0, 0, 0.10647266313932974, 0.14227513227513242}};
    ASSERT_EQ(basis.size(), 7);
    for (int c = 0; c < 7; ++c)
        for (int i = 0; i < 4; ++i)
            EXPECT_NEAR(function(basis, c, theta[i]), expected[c][i], 8 * eps) << c << ' ' << theta[i];
}

TEST(SplineBasis, FunctionsAreOneTogetherAwayFromTheEnd) {
    const split::SplineBasis basis(split::graded_knots(0.1, 20, 5));
    const std::vector<double> ones(basis.size(), 1.0);
    for (const double theta : {0.0, 1e-5, 0.01, 0.03})
        EXPECT_NEAR(basis.evaluate(ones, theta), 1, 10 * eps) << theta;
}

TEST(SplineBasis, VanishesWithFourDerivativesAtTheEnd) {
    const split::SplineBasis basis(split::graded_knots(1, 10, 1));
    const auto last = basis.size() - 1;
    // x^5 / 120 from the end, in units of the knots' distance, 0.1. An angle or knot that is eps off is off
    // by 10 eps there.
    for (const double x : {0.5, 0.1, 0.01})
        EXPECT_NEAR(function(basis, last, 1 - 0.1 * x), std::pow(x, 5) / 120,
                    4 * 10 * eps * std::pow(x, 4) / 24);
    EXPECT_EQ(function(basis, last, 1), 0);
    EXPECT_EQ(function(basis, last, 2), 0);
}

TEST(SplineBasis, RejectsKnotsThatDoNotAscendFromZero) {
    EXPECT_THAT(
        [] {
            split::SplineBasis({0, 1, 2});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("at least 8")));
    EXPECT_THAT(
        [] {
            split::SplineBasis({1, 2, 3, 4, 5, 6, 7, 8});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("knots[0] = 1")));
    EXPECT_THAT(
        [] {
            split::SplineBasis({0, 2, 3, 3, 5, 6, 7, 8});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("knots[3] = 3")));
}

TEST(GradedKnots, AreDenserAtZeroByTheGivenFactor) {
    const auto knots = split::graded_knots(2, 400, 6);
    EXPECT_EQ(knots.front(), 0);
    EXPECT_EQ(knots.back(), 2);
    // cosh is flat at 0: the first interval has its value to (a/n)^2
    EXPECT_NEAR((knots[400] - knots[399]) / (knots[1] - knots[0]), 6, 0.05);
}

/// 2 pi int f(theta) P_l sin theta d theta by Simpson's rule with n steps.
double simpson_window(const split::SplineBasis& basis, std::int64_t c, std::int64_t l, int n) {
    double sum = 0;
    for (int i = 0; i <= n; ++i) {
        const double theta = basis.end() * i / n, weight = i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * function(basis, c, theta) * std::legendre(static_cast<unsigned>(l), std::cos(theta)) *
               std::sin(theta);
    }
    return 2 * pi * sum * basis.end() / (3 * n);
}

TEST(BasisWindows, AgreeWithSimpsonsRule) {
    for (const double end : {0.1, 2.5}) {  // one beyond the equator
        const split::SplineBasis basis(split::graded_knots(end, 12, 1));
        const auto windows = split::basis_windows(basis, 200, 0, 2);
        for (const std::int64_t c : {0, 1, 2, 5, 9})
            for (const std::int64_t l : {0, 1, 2, 33, 200}) {
                const double expected = simpson_window(basis, c, l, 24000);
                // n steps of a function of four continuous derivatives with wave number l: (l end / n)^4 /
                // 180 at most, 1e-9 at the last.
                EXPECT_NEAR(windows(l, c), expected, 1e-9 * windows(0, c) + 1e-14)
                    << end << ' ' << c << ' ' << l;
            }
    }
}

TEST(BasisWindows, DoNotDependOnThreads) {
    const split::SplineBasis basis(split::graded_knots(0.1, 50, 2));
    const auto one = split::basis_windows(basis, 300, 0, 1), three = split::basis_windows(basis, 300, 0, 3);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), three.begin()));
}

TEST(SplineWindow, AgreesWithWindowsOfTheBasis) {
    for (const double end : {0.05, 1.0, pi}) {
        const split::SplineBasis basis(split::graded_knots(end, 40, 3));
        std::vector<double> coefficients(basis.size());
        for (std::size_t c = 0; c < coefficients.size(); ++c) coefficients[c] = std::sin(3.0 * c + 1);
        const std::int64_t lmax = 1500;
        const auto windows = split::basis_windows(basis, lmax, 0, 1);
        const auto direct = split::spline_window(basis, coefficients, lmax);
        double largest = 0, difference = 0;
        for (std::int64_t l = 0; l <= lmax; ++l) {
            double sum = 0;
            for (std::int64_t c = 0; c < basis.size(); ++c) sum += coefficients[c] * windows(l, c);
            largest = larger(largest, std::abs(sum));
            difference = larger(difference, std::abs(sum - direct[l]));
        }
        // The recurrence's roundings add as in a random walk.
        EXPECT_LE(difference, 4 * std::sqrt(static_cast<double>(lmax)) * eps * largest) << end;
    }
}

TEST(BasisWindows, OfSpinTwoAreThoseOfThePolarizationKernel) {
    for (const double end : {0.05, 1.0, 2.5}) {
        const split::SplineBasis basis(split::graded_knots(end, 40, 3));
        std::vector<double> coefficients(basis.size());
        for (std::size_t c = 0; c < coefficients.size(); ++c) coefficients[c] = std::sin(3.0 * c + 1);
        const SplineProfile profile(basis.knots(), coefficients);
        const std::int64_t lmax = 1500;
        const auto windows = split::basis_windows(basis, lmax, 2, 1);
        const auto direct = profile.polarization_kernel().windows(lmax);
        EXPECT_EQ(direct.gradient, direct.curl);
        double largest = 0, difference = 0;
        for (std::int64_t l = 0; l <= lmax; ++l) {
            double sum = 0;
            for (std::int64_t c = 0; c < basis.size(); ++c) sum += coefficients[c] * windows(l, c);
            largest = larger(largest, std::abs(sum));
            difference = larger(difference, std::abs(sum - direct.gradient[l]));
        }
        EXPECT_EQ(direct.gradient[1], 0);
        EXPECT_LE(difference, 4 * std::sqrt(static_cast<double>(lmax)) * eps * largest) << end;
    }
}

TEST(BasisWindows, OfSpinTwoBeginWithTheIntegralOfTheEighthPower) {
    // d^2_{2,2} = cos^4(theta/2)
    const SplineProfile profile(split::graded_knots(0.6, 12, 1), std::vector<double>(10, 1.0));
    double sum = 0;
    const int n = 60000;
    for (int i = 0; i < n; ++i) {
        const double theta = 0.6 * (i + 0.5) / n;
        sum += profile(theta) * std::pow(std::cos(theta / 2), 8) * std::sin(theta);
    }
    EXPECT_NEAR(profile.polarization_kernel().windows(2).gradient[2], 2 * pi * sum * 0.6 / n, 1e-9);
}

TEST(SplineWindow, OfASmoothCapIsItsIntegralAtLZero) {
    // (1 - t)^5 (1 + 5 t + ...) is no spline of ours; a single interval's worth of B-splines is: all
    // coefficients 1 but the last three give 1 up to the knot n - 5.
    const SplineProfile profile(split::graded_knots(0.6, 12, 1), std::vector<double>(10, 1.0));
    const auto window = profile.window(0);
    double sum = 0;
    const int n = 60000;
    for (int i = 0; i < n; ++i) {
        const double theta = 0.6 * (i + 0.5) / n;
        sum += profile(theta) * std::sin(theta);
    }
    EXPECT_NEAR(window[0], 2 * pi * sum * 0.6 / n, 1e-9);
    EXPECT_EQ(profile.support(), 0.6);
}

TEST(SplineNorm, MakesWindowsOfOrthonormalFunctions) {
    // By Parseval sum_l (2l+1)/(4 pi) W_lc W_ld = delta_cd, up to the degrees that splines hold.
    const split::SplineBasis basis(split::graded_knots(0.5, 16, 1));
    const split::SplineNorm norm(basis);
    const std::int64_t lmax = 6000;
    auto windows = split::basis_windows(basis, lmax, 0, 2);
    norm.orthonormalize(windows.view());
    for (const std::int64_t c : {0, 1, 7, 13})
        for (const std::int64_t d : {0, 1, 2, 7, 13}) {
            double sum = 0;
            for (std::int64_t l = 0; l <= lmax; ++l)
                sum += (2 * l + 1) / (4 * pi) * windows(l, c) * windows(l, d);
            // What lies above lmax falls as l^-12 beyond pi over the knots' distance, 100: 5e-22 of it is
            // left. Roundings of the terms add as in a random walk.
            EXPECT_NEAR(sum, c == d ? 1 : 0, 6 * std::sqrt(static_cast<double>(lmax)) * eps) << c << ' ' << d;
        }
}

TEST(SplineProfile, IsAKernelOfTheSameProfileAndWindow) {
    const auto knots = split::graded_knots(0.4, 20, 2);
    std::vector<double> coefficients(18);
    for (std::size_t c = 0; c < coefficients.size(); ++c) coefficients[c] = std::cos(0.9 * c);
    const SplineProfile spline(knots, coefficients);
    const auto kernel = spline.kernel();
    EXPECT_EQ(kernel.support(), 0.4);
    for (const double theta : {0.0, 0.1, 0.39, 0.4, 0.5})
        EXPECT_EQ(kernel.profile(theta), spline(theta)) << theta;
    EXPECT_EQ(kernel.window(300), spline.window(300));
    // The quadrature that any profile gets, between the spline's knots: by another way, to rounding.
    const auto general = kernel.truncated(0.4).window(300);
    for (std::int64_t l = 0; l <= 300; ++l) EXPECT_NEAR(general[l], spline.window(300)[l], 1e-13) << l;
}

TEST(SplineProfile, TablesOfItAreAccurate) {
    std::vector<double> coefficients(98);
    for (std::size_t c = 0; c < coefficients.size(); ++c) coefficients[c] = std::cos(0.7 * c) / (c + 1);
    const SplineProfile spline(split::graded_knots(0.1, 100, 1), coefficients);
    for (const double accuracy : {1e-8, 1e-12})
        EXPECT_LE(radial::ChordTable(spline.kernel(), accuracy).error(), accuracy);
}

TEST(SplineProfile, RejectsWrongNumbersOfCoefficients) {
    const auto knots = split::graded_knots(1, 10, 1);
    EXPECT_THAT([&] { SplineProfile(knots, std::vector<double>(9)); },
                ThrowsMessage<InvalidArgument>(HasSubstr("9 of them, must be 8")));
    EXPECT_THAT([&] { SplineProfile(knots, std::vector<double>(8, std::nan(""))); },
                ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
    EXPECT_THAT([&] { SplineProfile(split::graded_knots(4, 10, 1), std::vector<double>(8)); },
                ThrowsMessage<InvalidArgument>(HasSubstr("at most pi")));
}

}  // namespace
}  // namespace zonal::test
