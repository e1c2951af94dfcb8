#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "polarization_helpers.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/error.hpp"

// Windows of kernels of Q and U, and what it costs to cut such kernels.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Of windows that are zero beyond their last degree.
double difference_of_windows(std::vector<double> a, std::vector<double> b) {
    const std::size_t size = std::max(a.size(), b.size());
    a.resize(size), b.resize(size);
    return largest_difference(a, b);
}

TEST(PolarizationWindows, OfWholeKernelsAreThoseGiven) {
    const PolarizationKernel kernel({5, 5, 1, 2}, {0, 0, 3});
    EXPECT_EQ(kernel.windows(4).gradient, (std::vector<double>{0, 0, 1, 2, 0}));
    EXPECT_EQ(kernel.windows(4).curl, (std::vector<double>{0, 0, 3, 0, 0}));
    EXPECT_EQ(kernel.windows(1).gradient, (std::vector<double>{0, 0}));
    EXPECT_EQ(kernel.band_limit(), 3);
    EXPECT_EQ(kernel.truncated(1).band_limit(), -1);
    EXPECT_EQ(kernel.truncated(4 * std::atan(1)).band_limit(), 3);
    EXPECT_THROW(kernel.windows(-1), InvalidArgument);
}

TEST(PolarizationWindows, OfProfilesAreTheWindowsThatTheProfilesAreMadeOf) {
    auto window_e = random_windows(40, 1), window_b = random_windows(37, 2);
    for (auto* window : {&window_e, &window_b}) (*window)[0] = (*window)[1] = 0;
    const PolarizationKernel kernel(window_e, window_b);
    const auto [e, b] = radial::windows_between(kernel, 0, 4 * std::atan(1), 60);
    // Rounding of K+-, which are as large as all degrees together: sum (2l+1)/(4 pi) |W_l|, times 4 pi, or
    // twice 40.
    constexpr double rounding = 2 * 40 * eps;
    EXPECT_LT(difference_of_windows(e, window_e), rounding);
    EXPECT_LT(difference_of_windows(b, window_b), rounding);
}

TEST(PolarizationWindows, OfTruncatedKernelsAreWhatTheDirectSumHas) {
    // E and B of degree 6 come out times the window.
    const Grid grid = Grid::gauss_legendre(64, 128);
    const auto e = gaussian_window(0.8, 40);
    auto b = gaussian_window(0.9, 40);
    for (double& value : b) value *= 0.5;
    const PolarizationKernel whole(e, b), kernel = whole.truncated(0.7);
    const auto cut = kernel.windows(6), uncut = whole.windows(6);
    std::vector<double> one(7), window_e(7), window_b(7);
    one[6] = 1;
    window_e[6] = cut.gradient[6];
    window_b[6] = cut.curl[6];
    const auto only = harmonically(grid, one, one, grid, random_maps(1, grid, 5));
    const auto found = convolved(grid, kernel, grid, only, {.method = PixelMethod::pixel_sum});
    const double difference = relative_difference(found, harmonically(grid, window_e, window_b, grid, only));
    // Pixels, 0.05 rad wide, lie on either side of the cut, where what is cut off is as wide as 0.3 rad: of
    // it a share of 0.05 / 0.3, and the less as they do so in turn.
    const double lost = std::abs(cut.gradient[6] / uncut.gradient[6] - 1);
    EXPECT_GT(lost, 0.02);
    EXPECT_LT(difference, 0.17 * lost);
}

TEST(PolarizationTruncation, CostsWhatWhiteNoiseIsWrongBy) {
    const Grid grid = Grid::healpix(32);
    const auto maps = random_maps(1, grid, 6);
    const PixelConvolutionOptions summed{.method = PixelMethod::pixel_sum};
    const auto e = gaussian_window(0.12, 100);
    for (const auto& kernel : {PolarizationKernel::gaussian(0.12), PolarizationKernel(e, {})})
        for (const double cut : {0.1, 0.15, 0.2}) {
            const auto whole = convolved(grid, kernel, grid, maps, summed);
            auto difference = convolved(grid, kernel.truncated(cut), grid, maps, summed);
            for (std::int64_t i = 0; i < whole.size(); ++i) difference.data()[i] -= whole.data()[i];
            // Of n = 200 independent discs the rms is known to sqrt(1 / (2n)), and to the share of a pixel's
            // width, 0.03, in the cut.
            EXPECT_NEAR(rms(difference) / rms(whole) / truncation_error(kernel, {}, {}, cut), 1, 0.3) << cut;
        }
}

TEST(PolarizationTruncation, SupportsKeepTheError) {
    const Grid grid = Grid::healpix(64);
    std::vector<double> c_ee(129), c_bb(129);
    for (std::size_t l = 2; l < c_ee.size(); ++l) {
        const auto degree = static_cast<double>(l);
        c_ee[l] = 1 / (degree * degree);
        c_bb[l] = 0.01 / degree;
    }
    const PolarizationKernel gaussian = PolarizationKernel::gaussian(0.1),
                             e_only(gaussian_window(0.1, 150), {});
    for (const auto& kernel : {gaussian, e_only})
        for (const double error : {1e-2, 1e-4, 1e-6})
            for (const bool is_white : {true, false}) {
                const auto& ee = is_white ? std::vector<double>{} : c_ee;
                const auto& bb = is_white ? std::vector<double>{} : c_bb;
                const double theta = support_for_error(kernel, ee, bb, error, grid);
                EXPECT_LE(truncation_error(kernel, ee, bb, theta), error * (1 + 1e-9));
                // to 1e-4 of itself, within which Gaussians fall by less than a hundredth
                if (theta < 3) {
                    EXPECT_GT(truncation_error(kernel, ee, bb, 0.999 * theta), 0.9 * error) << error;
                }
            }
}

TEST(PolarizationTruncation, OfNarrowGaussiansIsThatOfIntensity) {
    const double fwhm = 0.01, cut = 0.015;
    const double spin = truncation_error(PolarizationKernel::gaussian(fwhm), {}, {}, cut);
    // K+ is that of intensity but for a factor near 1 that the whole and its rest have in common, and terms
    // of the order of sigma^4.
    EXPECT_NEAR(spin / truncation_error(RadialKernel::gaussian(fwhm), {}, cut), 1,
                20 * std::pow(fwhm / 2.3548, 4));
}

TEST(PolarizationTruncation, RejectsSpectraThatDoNotFit) {
    const auto kernel = PolarizationKernel::gaussian(0.1);
    EXPECT_THAT(
        [&] {
            truncation_error(kernel, {1, 1, 1}, {}, 1);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("c_bb: 0 values")));
    EXPECT_THAT(
        [&] {
            truncation_error(kernel, {1, 1, -1}, {1, 1, 1}, 1);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("c_ee: -1 at l = 2")));
    EXPECT_THAT(
        [&] {
            support_for_error(kernel, {1, 1, 0}, {1, 1, 0}, 1e-3, Grid::healpix(8));
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("leaves nothing")));
}

}  // namespace
}  // namespace zonal::test
