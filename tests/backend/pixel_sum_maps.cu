#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "backend/cuda_helpers.cuh"
#include "zonal/convolution.hpp"

namespace zonal {
namespace {

using PixelSumOnCuda = test::OnCuda;

template <class T>
Array<T, 3> random_maps(std::int64_t n_maps, const Grid& grid, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Array<T, 3> maps({n_maps, 1, grid.n_pixels()});
    for (T& pixel : maps) pixel = static_cast<T>(normal(generator));
    return maps;
}

template <class T>
View<T, 2> as_maps(View<T, 3> view) {
    return {view.data(), {view.extent(0), view.extent(2)}, {view.stride(0), view.stride(2)}, view.space()};
}

PixelConvolutionOptions on(Device device, Precision precision) {
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.precision = precision;
    options.device = device;
    return options;
}

/// K maps, on the host.
template <class T>
Array<T, 3> convolved(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                      const Array<T, 3>& maps, const PixelConvolutionOptions& options) {
    Array<T, 3> out({maps.extent(0), 1, grid_out.n_pixels()});
    PixelConvolutionPlan(grid, kernel, grid_out, options)
        .template convolve<T>(as_maps<const T>(maps.view()), as_maps<T>(out.view()));
    return out;
}

/// Compares with the CPU's result in double precision.
template <class T>
void expect_cpu(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, Precision precision,
                double tolerance) {
    const Array<T, 3> maps = random_maps<T>(2, grid, 3);
    const Array<T, 3> expected =
        convolved(grid, kernel, grid_out, maps, on(Device::cpu(), Precision::float64));
    const Array<T, 3> found = convolved(grid, kernel, grid_out, maps, on(Device::cuda(0), precision));
    EXPECT_LT(test::relative_difference(found, expected), tolerance)
        << grid.name() << " to " << grid_out.name() << ", support " << kernel.support();
}

// Weights right to 1e-12 of the largest on either side, sums of random terms about as much larger.
constexpr double tolerance = 2e-11;

RadialKernel truncated_gaussian(double fwhm, double cut) {
    return RadialKernel::gaussian(fwhm).truncated(cut);
}

TEST_F(PixelSumOnCuda, AgreesWithTheCpuOnHealpix) {
    for (const int nside : {1, 2, 16, 64, 128}) {
        const double pixel = std::sqrt(std::numbers::pi / 3) / nside;
        const Grid grid = Grid::healpix(nside);
        for (const double pixels : {0.5, 2., 5.3})
            expect_cpu<double>(
                grid, truncated_gaussian(std::min(0.6 * pixels * pixel, 3.), std::min(pixels * pixel, 3.)),
                grid, Precision::float64, tolerance);
        expect_cpu<double>(grid, RadialKernel::top_hat(4.01 * std::min(pixel, 0.7)), grid, Precision::float64,
                           tolerance);
    }
}

TEST_F(PixelSumOnCuda, AgreesWithTheCpuForWideKernels) {
    for (const Grid& grid : {Grid::healpix(16), Grid::equidistant_cylindrical(24, 48)})
        for (const double support : {0.6, 1.7, std::numbers::pi})
            expect_cpu<double>(grid, truncated_gaussian(0.8 * support, support), grid, Precision::float64,
                               tolerance);
}

TEST_F(PixelSumOnCuda, AgreesWithTheCpuOnOtherGrids) {
    const RadialKernel kernel = truncated_gaussian(0.1, 0.25);
    for (const Grid& grid : {Grid::gauss_legendre(30, 61, 0.1), Grid::clenshaw_curtis(25, 48),
                             Grid::clenshaw_curtis(24, 41, 0.3), Grid::equidistant_cylindrical(90, 180)}) {
        expect_cpu<double>(grid, kernel, grid, Precision::float64, tolerance);
        expect_cpu<double>(grid, kernel, Grid::healpix(17), Precision::float64, tolerance);
        expect_cpu<double>(Grid::healpix(20), kernel, grid, Precision::float64, tolerance);
    }
}

TEST_F(PixelSumOnCuda, AgreesWithTheCpuOnRingsOfAnyLength) {
    std::vector<Ring> rings;
    std::int64_t first = 7;
    for (int r = 0; r < 30; ++r) {
        const std::int64_t n = 1 + (r * 37) % 53;
        rings.push_back(make_ring(0.1 * r, 0.3 * r, 0.01, n, first));
        first += n + r % 3;
    }
    const Grid grid(rings);
    for (const double support : {0.2, 1.1, std::numbers::pi})
        expect_cpu<double>(grid, truncated_gaussian(0.5 * support, support), grid, Precision::float64,
                           tolerance);
}

TEST_F(PixelSumOnCuda, IsRightToSinglePrecision) {
    for (const int nside : {32, 256}) {
        const double pixel = std::sqrt(std::numbers::pi / 3) / nside;
        const Grid grid = Grid::healpix(nside);
        // 250 terms whose rounding errors, 6e-8 each, add up at random.
        expect_cpu<float>(grid, truncated_gaussian(2.7 * pixel, 8 * pixel), grid, Precision::float32, 1e-6);
        expect_cpu<double>(grid, truncated_gaussian(2.7 * pixel, 8 * pixel), grid, Precision::float32, 1e-6);
        expect_cpu<float>(grid, truncated_gaussian(2.7 * pixel, 8 * pixel), grid, Precision::float64, 1e-7);
    }
}

TEST_F(PixelSumOnCuda, SumsSomeRingsAsAll) {
    const Grid grid = Grid::healpix(64), some = grid.subset({0, 5, 62, 63, 64, 127, 128, 200, 254});
    expect_cpu<double>(grid, truncated_gaussian(0.03, 0.08), some, Precision::float64, tolerance);
    expect_cpu<double>(some, truncated_gaussian(0.03, 0.08), grid, Precision::float64, tolerance);
}

TEST_F(PixelSumOnCuda, TakesArraysOnTheDeviceAndRepeatsItself) {
    const Grid grid = Grid::healpix(64);
    const RadialKernel kernel = truncated_gaussian(0.03, 0.08);
    const Array<float, 3> maps = random_maps<float>(3, grid, 1);
    const PixelConvolutionPlan plan(grid, kernel, grid, on(Device::cuda(0), Precision::float32));
    Array<float, 3> from_host(maps.extents());
    plan.convolve<float>(as_maps<const float>(maps.view()), as_maps<float>(from_host.view()));
    const test::OnDevice<float> in(maps), out(from_host);
    PixelConvolutionWorkspace workspace = plan.make_workspace(3);
    plan.convolve<float>(as_maps<const float>(View<const float, 3>(in.view())), as_maps<float>(out.view()),
                         workspace);
    EXPECT_GT(workspace.seconds().sums, 0);
    const Array<float, 3> from_device = out.host();
    EXPECT_TRUE(std::equal(from_device.begin(), from_device.end(), from_host.begin()));
    core::OwnStream stream;
    workspace.use_stream(stream.get());
    plan.convolve<float>(as_maps<const float>(View<const float, 3>(in.view())), as_maps<float>(out.view()),
                         workspace);
    core::check_cuda(cudaStreamSynchronize(stream.get()), "convolution");
    const Array<float, 3> again = out.host();
    EXPECT_TRUE(std::equal(again.begin(), again.end(), from_host.begin()));
}

}  // namespace
}  // namespace zonal
