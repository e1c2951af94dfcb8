// The ring FFT of Q and U on the device against the CPU's.
#include "cuda_polarization.cuh"

namespace zonal::test {
namespace {

class PolarizationRingFftOnCuda : public OnCuda {};

// The same sums in another order: roundings add up over the rows of the support with random signs.
constexpr double tolerance = 1e-12;
// Single precision: roundings of 6e-8, a few for each of the transforms' passes.
constexpr double single_tolerance = 1e-6;

template <class T>
double error_of(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out, Precision precision,
                bool on_device = true) {
    return test::error_of<T>(grid, kernel, grid_out, PixelMethod::ring_fft, precision, on_device);
}

PixelConvolutionOptions on_device(Precision precision) {
    return options_on(Device::cuda(0), PixelMethod::ring_fft, precision);
}

TEST_F(PolarizationRingFftOnCuda, EqualsTheCpuOnEveryGrid) {
    for (const PolarizationKernel& kernel : {PolarizationKernel::gaussian(7 * degree), oscillating_kernel()})
        for (const Grid& grid :
             {Grid::healpix(1), Grid::healpix(32), Grid::healpix(33), Grid::gauss_legendre(40, 85),
              Grid::clenshaw_curtis(41, 80, 0.1), Grid::equidistant_cylindrical(45, 90)}) {
            EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance) << grid.name();
            EXPECT_LT(error_of<double>(grid, kernel, Grid::healpix(16), Precision::float64), tolerance)
                << grid.name();
            // One more rounding for each ring of the support, of random signs: single_tolerance is for 30 of
            // them.
            EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), 2 * single_tolerance)
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
        EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance);
}

TEST_F(PolarizationRingFftOnCuda, EqualsTheCpuAtNside256) {
    const Grid grid = Grid::healpix(256);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(0.6 * degree).truncated(2 * degree);
    // Many modes: each of the two is right to `accuracy` = 1e-12.
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), 2e-12);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), single_tolerance);
}

TEST_F(PolarizationRingFftOnCuda, TakesMapsOfTheOtherPrecisionAndFromTheHost) {
    const Grid grid = Grid::healpix(32);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(5 * degree);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float64), single_tolerance);
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float32), single_tolerance);
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64, false), tolerance);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32, false), single_tolerance);
}

TEST_F(PolarizationRingFftOnCuda, ComputesSubsetsAndLeavesOtherPixels) {
    const Grid whole = Grid::healpix(32), some = whole.subset({0, 1, 2, 30, 31, 32, 40, 70, 100, 126});
    expect_rings_of_whole(whole, some, oscillating_kernel(), PixelMethod::ring_fft, tolerance);
}

TEST_F(PolarizationRingFftOnCuda, BatchEqualsSingleMaps) {
    const Grid grid = Grid::healpix(32);
    expect_batch_of_single_maps(PolarizationConvolutionPlan(grid, PolarizationKernel::gaussian(4 * degree),
                                                            grid, on_device(Precision::float32)));
}

TEST_F(PolarizationRingFftOnCuda, WorksOnTheCallersStream) {
    const Grid grid = Grid::healpix(64);
    expect_same_on_stream(PolarizationConvolutionPlan(grid, PolarizationKernel::gaussian(2 * degree), grid,
                                                      on_device(Precision::float64)));
}

/// Kernels that end with a step, or are narrower than a pixel: rings of the caps, or all, are summed over
/// pixels.
std::vector<PolarizationKernel> cut_kernels(double pixel) {
    return {PolarizationKernel::gaussian(8 * pixel).truncated(5.3 * pixel),
            PolarizationKernel(random_windows(24, 1), {}).truncated(7.2 * pixel),
            PolarizationKernel::gaussian(0.5 * pixel).truncated(0.4 * pixel)};
}

TEST_F(PolarizationRingFftOnCuda, LeavesRingsOfCutKernelsToTheSumOverPixels) {
    const Grid grid = Grid::healpix(scaled(32));
    const double pixel = std::sqrt(std::numbers::pi / 3) / static_cast<double>(scaled(32));
    // Weights right to 1e-12 of the largest on either side; sums of random terms are about as much larger.
    constexpr double tolerance_of_sums = 2e-11;
    for (const PolarizationKernel& kernel : cut_kernels(pixel)) {
        for (const bool on_device : {true, false}) {
            EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64, on_device), tolerance_of_sums);
            EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32, on_device), single_tolerance);
        }
        if (kernel.support() < pixel) continue;  // nothing is inside around pixels of another grid
        EXPECT_LT(error_of<double>(grid, kernel, Grid::healpix(scaled(16)), Precision::float64),
                  tolerance_of_sums);
    }
    const PolarizationKernel kernel = cut_kernels(pixel)[1];
    const PolarizationConvolutionPlan plan(
        grid, kernel, grid, options_on(Device::automatic(), PixelMethod::ring_fft, Precision::float64));
    EXPECT_EQ(plan.options().device, Device::cuda(0));
    EXPECT_GT(plan.work().pixel_products, 0);
    expect_batch_of_single_maps(plan);
    expect_same_on_stream(plan);
}

TEST_F(PolarizationRingFftOnCuda, ComputesSubsetsByCutKernels) {
    const Grid whole = Grid::healpix(32), some = whole.subset({0, 1, 2, 5, 30, 31, 40, 70, 100, 125, 126});
    expect_rings_of_whole(whole, some, cut_kernels(2 * degree)[1], PixelMethod::ring_fft, 2e-11);
}

}  // namespace
}  // namespace zonal::test
