#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/kernel.hpp"
#include "zonal/wavelets.hpp"

// Where a kernel may be cut (ARKCoS, eq. 7).
namespace zonal::test {
namespace {

constexpr double arcmin = std::numbers::pi / 10800;

/// sqrt(sum (2l+1) C_l (Delta K_l)^2 / sum (2l+1) C_l K_l^2) of a kernel cut at theta_cut.
double relative_error(const RadialKernel& kernel, double theta_cut, const std::vector<double>& c_l) {
    const auto lmax = static_cast<std::int64_t>(c_l.size()) - 1;
    const auto whole = kernel.window(lmax), cut = kernel.truncated(theta_cut).window(lmax);
    double error = 0, all = 0;
    for (std::int64_t l = 0; l <= lmax; ++l) {
        error += static_cast<double>(2 * l + 1) * c_l[l] * std::pow(whole[l] - cut[l], 2);
        all += static_cast<double>(2 * l + 1) * c_l[l] * whole[l] * whole[l];
    }
    return std::sqrt(error / all);
}

std::vector<double> cmb_like(std::int64_t lmax) {
    std::vector<double> c_l(lmax + 1);
    for (std::int64_t l = 2; l <= lmax; ++l) c_l[l] = 1 / (static_cast<double>(l) * (l + 1.0));
    return c_l;
}

TEST(SupportForError, OfAGaussianInWhiteNoiseIsAnExponential) {
    // int_c^inf e^{-theta^2 / sigma^2} theta d theta over that from 0 is e^{-c^2 / sigma^2}, squared error;
    // the sphere's curvature changes it by sigma^2.
    const double fwhm = 10 * arcmin, sigma = fwhm / std::sqrt(8 * std::numbers::ln2);
    for (const double error : {0.5, 1e-2, 1e-5, 1e-9})
        EXPECT_NEAR(support_for_error(RadialKernel::gaussian(fwhm), {}, error),
                    sigma * std::sqrt(-2 * std::log(error)), 2e-4 * 7 * sigma)
            << error;
}

TEST(SupportForError, IsTheSmallestThatKeepsTheBound) {
    const auto c_l = cmb_like(1024);
    for (const auto& kernel : {RadialKernel::gaussian(30 * arcmin), RadialKernel::gaussian(600 * arcmin),
                               mexican_hat(20 * arcmin), RadialKernel::gaussian(0.1).truncated(0.2)}) {
        for (const double error : {1e-2, 1e-5}) {
            const double theta_cut = support_for_error(kernel, c_l, error);
            EXPECT_LE(relative_error(kernel, theta_cut, c_l), error * (1 + 1e-6)) << kernel.name();
            EXPECT_GT(relative_error(kernel, 0.999 * theta_cut, c_l), error) << kernel.name();
        }
    }
}

TEST(SupportForError, OfABandLimitedKernelMayBeTheSphere) {
    const auto kernel = RadialKernel::from_window(std::vector<double>(200, 1.0));
    EXPECT_GT(support_for_error(kernel, cmb_like(199), 1e-6), 3.1);
}

TEST(SupportForError, DoesNotEndNextToTheAntipode) {
    // Of which the estimate takes little notice, though the pixel there is opposite another one.
    std::vector<double> window(193, 0.0);
    for (std::size_t l = 2; l < window.size(); ++l)
        window[l] = std::exp(-3e-4 * static_cast<double>(l * l)) / static_cast<double>(l);
    const auto kernel = RadialKernel::from_window(window);
    const auto grid = Grid::healpix(96);
    const double pixel = std::sqrt(std::numbers::pi / 3) / 96;
    const double alone = support_for_error(kernel, {}, 5e-5);
    ASSERT_LT(alone, std::numbers::pi);
    ASSERT_GT(alone, std::numbers::pi - 3 * pixel);
    EXPECT_EQ(support_for_error(kernel, {}, 5e-5, grid), kernel.support());
    const auto narrow = RadialKernel::gaussian(30 * arcmin);
    EXPECT_EQ(support_for_error(narrow, {}, 1e-5, grid), support_for_error(narrow, {}, 1e-5));
}

TEST(SupportForError, CountsPixelsToTheAntipode) {
    std::vector<double> window(65, 0.0);
    for (std::size_t l = 2; l < window.size(); ++l)
        window[l] = std::exp(-3e-3 * static_cast<double>(l * l)) / static_cast<double>(l);
    const auto kernel = RadialKernel::from_window(window);
    for (const double error : {0.1, 0.02}) {
        const double alone = support_for_error(kernel, {}, error), left = std::numbers::pi - alone;
        // Three pixels of this nside, whose size is that of a square of the same area, are what is left.
        const double nside = 3 * std::sqrt(std::numbers::pi / 3) / left;
        const auto coarse = static_cast<std::int64_t>(nside), fine = coarse + 1;
        ASSERT_GE(coarse, 1) << error;
        EXPECT_EQ(support_for_error(kernel, {}, error, Grid::healpix(coarse)), kernel.support()) << error;
        EXPECT_EQ(support_for_error(kernel, {}, error, Grid::healpix(fine)), alone) << error;
    }
}

TEST(SupportForError, RejectsWhatHasNoAnswer) {
    const auto kernel = RadialKernel::gaussian(0.1);
    EXPECT_THROW(support_for_error(kernel, {}, 0), InvalidArgument);
    EXPECT_THROW(support_for_error(kernel, {}, 1), InvalidArgument);
    EXPECT_THROW(support_for_error(kernel, {1, -1}, 1e-3), InvalidArgument);
    EXPECT_THROW(support_for_error(kernel, {0, 0}, 1e-3), InvalidArgument);
    EXPECT_THROW(support_for_error(kernel.scaled(0), {}, 1e-3), InvalidArgument);
}

TEST(TruncationError, IsWhatIsLost) {
    const auto c_l = cmb_like(512);
    const auto kernel = RadialKernel::gaussian(120 * arcmin);
    for (const double theta_cut : {100 * arcmin, 200 * arcmin}) {
        const double error = truncation_error(kernel, c_l, theta_cut);
        // Relative to the whole kernel, whose windows it is a difference of.
        EXPECT_NEAR(error, relative_error(kernel, theta_cut, c_l),
                    4 * std::numeric_limits<double>::epsilon());
        EXPECT_NEAR(support_for_error(kernel, c_l, error), theta_cut, 1e-3 * theta_cut);
    }
    EXPECT_EQ(truncation_error(kernel.truncated(0.05), {}, 0.06), 0);
    EXPECT_THROW(truncation_error(kernel, {}, 0), InvalidArgument);
    EXPECT_THROW(truncation_error(kernel, {-1}, 0.1), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
