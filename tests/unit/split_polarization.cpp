#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <utility>

#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/split_convolution.hpp"

// Kernels of Q and U in two parts.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t lmax = 96;

/// Steep at low l and a beam, as the sky's; it fades away by lmax.
std::vector<double> kernel_window() {
    const auto beam = PolarizationKernel::gaussian(0.09).windows(lmax).gradient;
    auto window = beam;
    for (std::int64_t l = 0; l <= lmax; ++l) window[l] /= static_cast<double>(l + 1);
    return window;
}

KernelSplitOptions split_options(int spin = 2) {
    KernelSplitOptions options;
    options.spin = spin;
    options.theta_cut = 0.5;
    options.threads = 1;
    return options;
}

KernelSplit make_split(std::int64_t l_cut) {
    return KernelSplitter(kernel_window(), split_options()).split(l_cut);
}

template <class T>
Array<T, 3> noise(std::int64_t n_maps, std::int64_t n_pixels) {
    std::mt19937 generator(3);
    std::normal_distribution<double> normal;
    Array<T, 3> maps({n_maps, 2, n_pixels});
    for (T& value : maps) value = static_cast<T>(normal(generator));
    return maps;
}

/// The sum over the pixels with the whole kernel: its window on the quadrature alm.
Array<double, 3> whole(const Grid& grid, const Array<double, 3>& maps) {
    const ShtPlan plan(grid, {.lmax = lmax, .spin = 2, .threads = 1, .device = Device::cpu()});
    Array<double, 3> result(maps.extents());
    Array<std::complex<double>, 3> alm({maps.extent(0), 2, plan.layout().size()});
    plan.quadrature<double>(maps.view(), alm.view());
    for (std::int64_t map = 0; map < maps.extent(0); ++map)
        for (const int c : {0, 1}) multiply_alm<double>(plan.layout(), kernel_window(), alm.view()[map][c]);
    plan.synthesize<double>(std::as_const(alm).view(), result.view());
    return result;
}

double relative_rms(const auto& values, const auto& expected) {
    double error = 0, all = 0;
    auto value = values.begin();
    for (const double e : expected) {
        error += std::pow(static_cast<double>(*value++) - e, 2);
        all += e * e;
    }
    return std::sqrt(error / all);
}

SplitConvolutionOptions on_the_cpu() {
    SplitConvolutionOptions options;
    options.accuracy = 1e-9;
    options.pixel_device = options.harmonic_device = Device::cpu();
    options.threads = 2;
    return options;
}

TEST(PolarizationSplit, IsExactUpToLCutAndWithinItsEstimateAbove) {
    const auto kernel = kernel_window();
    const KernelSplitter splitter(kernel, split_options());
    const auto l_cut = splitter.find_l_cut(1e-3);
    ASSERT_TRUE(l_cut);
    EXPECT_LT(*l_cut, lmax / 2);
    const auto split = splitter.split(*l_cut);
    EXPECT_EQ(split.spin, 2);
    const auto of_profile = split.profile.polarization_kernel().windows(lmax).gradient;
    double error = 0, all = 0;
    for (std::int64_t l = 0; l <= lmax; ++l) {
        const double sum = of_profile[l] + (l <= *l_cut ? split.window[l] : 0);
        if (l <= *l_cut) {
            EXPECT_NEAR(sum, kernel[l], 1e-15) << l;
        }
        error += static_cast<double>(2 * l + 1) * std::pow(sum - kernel[l], 2);
        all += static_cast<double>(2 * l + 1) * kernel[l] * kernel[l];
    }
    EXPECT_LE(split.quality.estimated_error, 1e-3);
    EXPECT_NEAR(split.actual_error, std::sqrt(error / all), 1e-6 * split.actual_error);
    EXPECT_NEAR(split.quality.estimated_error, 5 * split.actual_error, 1e-6 * split.actual_error);
}

TEST(PolarizationSplit, DoesNotSeeWhatIsBelowItsSpin) {
    auto other = kernel_window();
    other[0] = 7;
    other[1] = -3;
    const auto split = KernelSplitter(other, split_options()).split(20);
    EXPECT_EQ(split.window, make_split(20).window);
    EXPECT_EQ(split.window[0], 0);
    EXPECT_EQ(split.window[1], 0);
}

TEST(PolarizationSplit, RejectsOtherSpins) {
    EXPECT_THAT([] { KernelSplitter(kernel_window(), split_options(1)); },
                ThrowsMessage<InvalidArgument>(HasSubstr("spin = 1: must be 0 or 2")));
    EXPECT_THAT([] { SplitConvolutionPlan(Grid::healpix(8), make_split(20), on_the_cpu()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("split: is of spin 2, must be of spin 0")));
    const auto scalar = KernelSplitter(kernel_window(), split_options(0)).split(20);
    EXPECT_THAT([&] { PolarizationSplitConvolutionPlan(Grid::healpix(8), scalar, on_the_cpu()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("split: is of spin 0, must be of spin 2")));
}

TEST(PolarizationSplitConvolution, IsTheSumOverPixelsWithinItsEstimate) {
    const auto grid = Grid::healpix(48);
    const auto maps = noise<double>(1, grid.n_pixels());
    const auto expected = whole(grid, maps);
    for (const std::int64_t l_cut : {0, 6, 20, 50}) {
        const auto split = make_split(l_cut);
        Array<double, 3> convolved(maps.extents());
        const auto seconds = PolarizationSplitConvolutionPlan(grid, split, on_the_cpu())
                                 .convolve<double>(maps.view(), convolved.view());
        EXPECT_GT(seconds.pixels, 0);
        EXPECT_GT(seconds.harmonic, 0);
        // Window and leakage make the error, which scatters by some per cent from sky to sky; the table of
        // the profile comes to it.
        const double estimate = std::hypot(split.actual_error, split.quality.leakage);
        EXPECT_LE(relative_rms(convolved, expected), 1.3 * estimate + 1e-8) << l_cut;
    }
}

TEST(PolarizationSplitConvolution, InSinglePrecisionAddsRounding) {
    const auto grid = Grid::healpix(32);
    const auto maps = noise<double>(1, grid.n_pixels());
    const auto single = noise<float>(1, grid.n_pixels());
    const auto split = make_split(20);
    auto options = on_the_cpu();
    Array<double, 3> expected(maps.extents());
    PolarizationSplitConvolutionPlan(grid, split, options).convolve<double>(maps.view(), expected.view());
    options.precision = Precision::single_;
    Array<float, 3> convolved(maps.extents());
    PolarizationSplitConvolutionPlan(grid, split, options).convolve<float>(single.view(), convolved.view());
    EXPECT_LE(relative_rms(convolved, expected), 1e-6);
}

TEST(PolarizationSplitConvolution, BatchesAreAsOneByOne) {
    const auto grid = Grid::healpix(16);
    const auto maps = noise<double>(3, grid.n_pixels());
    const PolarizationSplitConvolutionPlan plan(grid, make_split(30), on_the_cpu());
    Array<double, 3> together(maps.extents());
    plan.convolve<double>(maps.view(), together.view());
    for (std::int64_t map = 0; map < 3; ++map) {
        Array<double, 3> alone({1, 2, grid.n_pixels()});
        plan.convolve<double>(maps.view().slice(map, 1), alone.view());
        for (std::int64_t pixel = 0; pixel < grid.n_pixels(); pixel += 37)
            for (const int c : {0, 1}) EXPECT_NEAR(together(map, c, pixel), alone(0, c, pixel), 1e-13);
    }
}

}  // namespace
}  // namespace zonal::test
