// The ring FFT of Q and U on the device against the CPU's.
#include "convolution_helpers.hpp"
#include "cuda_helpers.cuh"
#include "polarization_helpers.hpp"

namespace zonal::test {
namespace {

using tests::degree;
using tests::largest_difference;
using tests::Maps;
using tests::random_maps;
using tests::random_windows;

class PolarizationRingFftOnCuda : public OnCuda {};

// The same sums in another order: roundings add up over the rows of the support with random signs.
constexpr double tolerance = 1e-12;
// Single precision: roundings of 6e-8, a few for each of the transforms' passes.
constexpr double single_tolerance = 1e-6;

PixelConvolutionOptions options_on(Device device, Precision precision) {
    PixelConvolutionOptions options;
    options.device = device;
    options.precision = precision;
    return options;
}

Maps on_cpu(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out, const Maps& maps) {
    return tests::convolved<double>(grid, kernel, grid_out, maps,
                                    options_on(Device::cpu(), Precision::double_));
}

/// From host memory or, copied there, from the device's.
template <class T>
Array<T, 3> convolved(const PolarizationConvolutionPlan& plan, const Maps& maps, bool on_device = true) {
    Array<T, 3> in(maps.extents()), out({maps.extent(0), 2, plan.grid_out().n_pixels()});
    std::copy(maps.begin(), maps.end(), in.begin());
    std::fill(out.begin(), out.end(), T(7));
    if (!on_device) {
        plan.convolve<T>(in.view(), out.view());
        return out;
    }
    const OnDevice<T> device_in(in), device_out(out);
    plan.convolve<T>(device_in.view(), device_out.view());
    return device_out.host();
}

/// The largest difference from the CPU in double precision, of the maximum.
template <class T>
double error_of(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out, Precision precision,
                bool on_device = true) {
    const Maps maps = random_maps(1, grid, 3);
    const PolarizationConvolutionPlan cuda(grid, kernel, grid_out, options_on(Device::cuda(0), precision));
    return largest_difference(convolved<T>(cuda, maps, on_device), on_cpu(grid, kernel, grid_out, maps));
}

PolarizationKernel oscillating_kernel() {
    return PolarizationKernel(random_windows(24, 1), random_windows(20, 2));
}

TEST_F(PolarizationRingFftOnCuda, EqualsTheCpuOnEveryGrid) {
    for (const PolarizationKernel& kernel : {PolarizationKernel::gaussian(7 * degree), oscillating_kernel()})
        for (const Grid& grid :
             {Grid::healpix(1), Grid::healpix(32), Grid::healpix(33), Grid::gauss_legendre(40, 85),
              Grid::clenshaw_curtis(41, 80, 0.1), Grid::equidistant_cylindrical(45, 90)}) {
            EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::double_), tolerance) << grid.name();
            EXPECT_LT(error_of<double>(grid, kernel, Grid::healpix(16), Precision::double_), tolerance)
                << grid.name();
            // One more rounding for each ring of the support, of random signs: single_tolerance is for 30 of
            // them.
            EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::single_), 2 * single_tolerance)
                << grid.name();
        }
}

TEST_F(PolarizationRingFftOnCuda, EqualsTheCpuForKernelsOfEveryKind) {
    const Grid grid = Grid::healpix(32);
    const auto e = random_windows(24, 1);
    std::vector<double> opposite;
    for (const double value : e) opposite.push_back(-value);
    // K+ alone, K- alone, both; narrow, wide, long rows.
    for (const PolarizationKernel& kernel :
         {PolarizationKernel(e, e), PolarizationKernel(e, opposite), PolarizationKernel(e, {}),
          PolarizationKernel::gaussian(3 * degree).truncated(10 * degree),
          PolarizationKernel::gaussian(60 * degree)})
        EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::double_), tolerance);
}

TEST_F(PolarizationRingFftOnCuda, EqualsTheCpuAtNside256) {
    const Grid grid = Grid::healpix(256);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(0.6 * degree).truncated(2 * degree);
    // Many modes: each of the two is right to `accuracy` = 1e-12.
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::double_), 2e-12);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::single_), single_tolerance);
}

TEST_F(PolarizationRingFftOnCuda, TakesMapsOfTheOtherPrecisionAndFromTheHost) {
    const Grid grid = Grid::healpix(32);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(5 * degree);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::double_), single_tolerance);
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::single_), single_tolerance);
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::double_, false), tolerance);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::single_, false), single_tolerance);
}

TEST_F(PolarizationRingFftOnCuda, ComputesSubsetsAndLeavesOtherPixels) {
    const Grid whole = Grid::healpix(32), some = whole.subset({0, 1, 2, 30, 31, 32, 40, 70, 100, 126});
    const PolarizationKernel kernel = oscillating_kernel();
    const Maps maps = random_maps(1, whole, 1), expected = on_cpu(whole, kernel, whole, maps);
    const PolarizationConvolutionPlan plan(whole, kernel, some,
                                           options_on(Device::cuda(0), Precision::double_));
    std::int64_t asked = 0;
    for (const Ring& ring : some.rings()) asked += 2 * ring.n_pixels;
    for (const bool on_device : {true, false}) {
        Maps out = convolved<double>(plan, maps, on_device);
        std::int64_t left = 0;
        for (std::int64_t k = 0; k < out.size(); ++k)
            if (out.data()[k] == 7) ++left, out.data()[k] = expected.data()[k];
        EXPECT_EQ(left, out.size() - asked);
        EXPECT_LT(largest_difference(out, expected), tolerance);
    }
}

TEST_F(PolarizationRingFftOnCuda, BatchEqualsSingleMaps) {
    const Grid grid = Grid::healpix(32);
    const std::int64_t n_maps = 5;
    const Maps maps = random_maps(n_maps, grid, 1);
    const PolarizationConvolutionPlan plan(grid, PolarizationKernel::gaussian(4 * degree), grid,
                                           options_on(Device::cuda(0), Precision::single_));
    for (const bool on_device : {true, false}) {
        const auto batch = convolved<float>(plan, maps, on_device);
        for (std::int64_t map = 0; map < n_maps; ++map) {
            Maps one({1, 2, grid.n_pixels()});
            std::copy_n(maps.data() + map * one.size(), one.size(), one.data());
            const auto single = convolved<float>(plan, one);
            EXPECT_TRUE(std::equal(single.begin(), single.end(), batch.data() + map * one.size()));
        }
    }
}

TEST_F(PolarizationRingFftOnCuda, WorksOnTheCallersStream) {
    const Grid grid = Grid::healpix(64);
    const PolarizationConvolutionPlan plan(grid, PolarizationKernel::gaussian(2 * degree), grid,
                                           options_on(Device::cuda(0), Precision::double_));
    const Maps maps = random_maps(1, grid, 1);
    const OnDevice<double> in(maps), out(maps);
    const core::OwnStream stream;
    PixelConvolutionWorkspace workspace = plan.make_workspace();
    workspace.use_stream(stream.get());
    plan.convolve<double>(in.view(), out.view(), workspace);
    core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    const Maps result = out.host(), expected = convolved<double>(plan, maps);
    EXPECT_TRUE(std::equal(result.begin(), result.end(), expected.begin()));
}

TEST_F(PolarizationRingFftOnCuda, LeavesCutKernelsToTheCpu) {
    const Grid grid = Grid::healpix(8);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(20 * degree).truncated(12.3 * degree);
    EXPECT_THROW(
        PolarizationConvolutionPlan(grid, kernel, grid, options_on(Device::cuda(0), Precision::double_)),
        BackendUnavailable);
    const PolarizationConvolutionPlan plan(grid, kernel, grid,
                                           options_on(Device::automatic(), Precision::double_));
    EXPECT_EQ(plan.options().device, Device::cpu());
}

}  // namespace
}  // namespace zonal::test
