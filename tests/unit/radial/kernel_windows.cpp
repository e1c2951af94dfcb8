#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/kernel.hpp"

// Windows of kernels: closed forms, and the way from window to profile and back.
namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double arcmin = pi / 10800;
/// Of windows of order 1 by quadrature: of its nodes' weights and of Legendre recurrences.
constexpr double rounding = 80 * std::numeric_limits<double>::epsilon();

/// The kernel's window by quadrature, whatever it knows about itself: the profile is cut where nothing is
/// left of it.
std::vector<double> window_by_quadrature(const RadialKernel& kernel, double theta_cut, std::int64_t lmax) {
    return kernel.truncated(theta_cut).window(lmax);
}

void expect_windows_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t l = 0; l < a.size(); ++l) ASSERT_NEAR(a[l], b[l], tolerance) << "l = " << l;
}

TEST(KernelWindow, OfTheTopHatHasItsClosedForm) {
    for (const double radius : {1e-5, 0.3, 2.0, pi}) {
        const auto window = RadialKernel::top_hat(radius).window(2);
        const double x = std::cos(radius);
        EXPECT_NEAR(window[0], 1, 1e-15);
        EXPECT_NEAR(window[1], (1 + x) / 2, 1e-15);
        EXPECT_NEAR(window[2], x * (1 + x) / 2, 1e-15);
    }
}

TEST(KernelWindow, OfTheTopHatAgreesWithQuadrature) {
    // A profile of two equal values is the same kernel, but is integrated.
    const double radius = 0.02, height = 1 / (2 * pi * 2 * std::pow(std::sin(radius / 2), 2));
    const auto integrated = RadialKernel::from_profile({0, radius}, {height, height});
    expect_windows_near(integrated.window(16384), RadialKernel::top_hat(radius).window(16384), rounding);
}

TEST(KernelWindow, OfALineInCosThetaHasTwoDegrees) {
    // (1 + cos theta) / 2 = 1 - chord^2 / 4 = (P_0 + P_1) / 2
    const auto window =
        RadialKernel::from_profile({0, 1, pi}, {1, std::pow(std::cos(0.5), 2), 0}).window(16384);
    EXPECT_NEAR(window[0], 2 * pi, rounding);
    EXPECT_NEAR(window[1], 2 * pi / 3, rounding);
    for (std::size_t l = 2; l < window.size(); ++l) ASSERT_NEAR(window[l], 0, rounding) << l;
}

TEST(KernelWindow, OfAGaussianProfileIsItsWindow) {
    // Beyond 9 sigma the profile holds exp(-9^2 / 2) = 3e-18 of the integral.
    for (const double fwhm : {3 * arcmin, 60 * arcmin, 0.5}) {
        const auto kernel = RadialKernel::gaussian(fwhm);
        const double nine_sigma = 9 * fwhm / 2.3548;
        expect_windows_near(window_by_quadrature(kernel, nine_sigma, 16384), kernel.window(16384), rounding);
    }
}

TEST(KernelWindow, SurvivesTheWayThroughTheProfile) {
    // A window that is smooth in l(l+1), as the profile of any other has a tail over the whole sphere, and
    // back by quadrature.
    constexpr std::int64_t lmax = 16384;
    std::vector<double> window(lmax + 1);
    for (std::int64_t l = 0; l <= lmax; ++l) {
        const double x = std::sqrt(static_cast<double>(l * (l + 1))) / lmax;
        window[l] = (1 + std::cos(30 * x)) * std::exp(-40 * x * x);
    }
    // A ring of radius 30 / lmax and width sigma = sqrt(80) / lmax: gone after 10 sigma.
    expect_windows_near(window_by_quadrature(RadialKernel::from_window(window), 120.0 / lmax, lmax), window,
                        rounding);
}

}  // namespace
}  // namespace zonal::test
