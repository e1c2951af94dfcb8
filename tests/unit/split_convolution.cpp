#include "zonal/split_convolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/window.hpp"

// Maps convolved with a kernel in two parts.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t lmax = 96;

/// Steep at low l and a beam, as the sky's; it fades away by lmax.
std::vector<double> kernel_window() {
    auto window = gaussian_window(0.09, lmax);
    for (std::int64_t l = 0; l <= lmax; ++l) window[l] /= static_cast<double>(l + 1);
    return window;
}

KernelSplit make_split(std::int64_t l_cut) {
    KernelSplitOptions options;
    options.theta_cut = 0.5;
    options.threads = 1;
    return KernelSplitter(kernel_window(), options).split(l_cut);
}

template <class T>
Array<T, 2> noise(std::int64_t n_maps, std::int64_t n_pixels) {
    std::mt19937 generator(3);
    std::normal_distribution<double> normal;
    Array<T, 2> maps({n_maps, n_pixels});
    for (T& value : maps) value = static_cast<T>(normal(generator));
    return maps;
}

/// The sum over the pixels with the whole kernel: its window on the quadrature alm.
Array<double, 2> whole(const Grid& grid, const Array<double, 2>& maps) {
    const ShtPlan plan(grid, {.lmax = lmax, .threads = 1, .device = Device::cpu()});
    Array<double, 2> result(maps.extents());
    for (std::int64_t map = 0; map < maps.extent(0); ++map) {
        Array<std::complex<double>, 3> alm({1, 1, plan.layout().size()});
        plan.quadrature<double>({&maps(map, 0), {1, 1, grid.n_pixels()}}, alm.view());
        multiply_alm<double>(plan.layout(), kernel_window(), alm.view()[0][0]);
        plan.synthesize<double>(std::as_const(alm).view(), {&result(map, 0), {1, 1, grid.n_pixels()}});
    }
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

SplitConvolutionOptions on_the_cpu(double accuracy = 1e-9) {
    SplitConvolutionOptions options;
    options.accuracy = accuracy;
    options.pixel_device = options.harmonic_device = Device::cpu();
    options.threads = 2;
    return options;
}

TEST(SplitConvolution, IsTheSumOverPixelsWithinItsEstimate) {
    const auto grid = Grid::healpix(48);
    const auto maps = noise<double>(1, grid.n_pixels());
    const auto expected = whole(grid, maps);
    for (const std::int64_t l_cut : {6, 20, 50}) {
        const auto split = make_split(l_cut);
        Array<double, 2> convolved(maps.extents());
        const auto seconds =
            SplitConvolutionPlan(grid, split, on_the_cpu()).convolve<double>(maps.view(), convolved.view());
        EXPECT_GT(seconds.pixels, 0);
        EXPECT_GT(seconds.harmonic, 0);
        // Window and leakage make the error, which scatters by some per cent from sky to sky; the table of
        // the profile comes to it.
        const double estimate = std::hypot(split.actual_error, split.quality.leakage);
        EXPECT_LE(relative_rms(convolved, expected), 1.3 * estimate + 1e-8) << l_cut;
    }
}

TEST(SplitConvolution, InSinglePrecisionAddsRounding) {
    const auto grid = Grid::healpix(32);
    const auto maps = noise<double>(1, grid.n_pixels());
    const auto single = noise<float>(1, grid.n_pixels());
    const auto split = make_split(20);
    auto options = on_the_cpu();
    Array<double, 2> expected(maps.extents());
    SplitConvolutionPlan(grid, split, options).convolve<double>(maps.view(), expected.view());
    options.precision = Precision::single_;
    Array<float, 2> convolved(maps.extents());
    SplitConvolutionPlan(grid, split, options).convolve<float>(single.view(), convolved.view());
    EXPECT_LE(relative_rms(convolved, expected), 1e-6);
}

TEST(SplitConvolution, BatchesAreAsOneByOne) {
    const auto grid = Grid::healpix(16);
    const auto maps = noise<double>(3, grid.n_pixels());
    const SplitConvolutionPlan plan(grid, make_split(30), on_the_cpu());
    Array<double, 2> together(maps.extents());
    plan.convolve<double>(maps.view(), together.view());
    for (std::int64_t map = 0; map < 3; ++map) {
        Array<double, 2> alone({1, grid.n_pixels()});
        plan.convolve<double>(maps.view().slice(map, 1), alone.view());
        for (std::int64_t pixel = 0; pixel < grid.n_pixels(); pixel += 37)
            EXPECT_NEAR(together(map, pixel), alone(0, pixel), 1e-13) << map << ' ' << pixel;
    }
}

TEST(SplitConvolution, RejectsMapsOfAnotherLength) {
    const SplitConvolutionPlan plan(Grid::healpix(8), make_split(30), on_the_cpu());
    const Array<double, 2> maps({1, 100});
    Array<double, 2> convolved({1, 100});
    EXPECT_THROW(plan.convolve<double>(maps.view(), convolved.view()), InvalidArgument);
    EXPECT_EQ(plan.options().threads, 2);
    EXPECT_EQ(plan.grid().n_pixels(), 768);
}

}  // namespace
}  // namespace zonal::test
