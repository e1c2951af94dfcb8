// The sum over pixels of Q and U on the device against the CPU's.
#include "cuda_polarization.cuh"

namespace zonal::test {
namespace {

class PolarizationSumOnCuda : public OnCuda {};

// Weights right to 1e-12 of the largest on either side; sums of random terms are about as much larger.
constexpr double tolerance = 2e-11;
// Some tens of roundings of 6e-8 with random signs.
constexpr double single_tolerance = 1e-6;

template <class T>
double error_of(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out, Precision precision,
                bool on_device = true) {
    return test::error_of<T>(grid, kernel, grid_out, PixelMethod::pixel_sum, precision, on_device);
}

PixelConvolutionOptions on_device(Precision precision) {
    return options_on(Device::cuda(0), PixelMethod::pixel_sum, precision);
}

/// Side of a pixel, rad.
double pixel_of(std::int64_t nside) {
    return std::sqrt(std::numbers::pi / 3) / static_cast<double>(nside);
}

PolarizationKernel cut_gaussian(double fwhm, double cut) {
    return PolarizationKernel::gaussian(fwhm).truncated(cut);
}

/// K+ and K-, of E alone, K- alone.
std::vector<PolarizationKernel> kernels_of_two_parts(double support) {
    const auto e = random_windows(24, 1), b = random_windows(20, 2);
    std::vector<double> opposite;
    for (const double value : e) opposite.push_back(-value);
    return {PolarizationKernel(e, b).truncated(support), PolarizationKernel(e, {}).truncated(support),
            PolarizationKernel(e, opposite).truncated(support)};
}

TEST_F(PolarizationSumOnCuda, EqualsTheCpuAtManySizes) {
    for (const std::int64_t nside : {1, 2, 8, 16, 64}) {
        const Grid grid = Grid::healpix(nside);
        const double pixel = pixel_of(nside);
        // Narrower than a pixel, of some, of many.
        for (const double pixels : {0.4, 2., 5.3, 9.}) {
            const PolarizationKernel kernel =
                cut_gaussian(std::min(0.6 * pixels * pixel, 3.), std::min(pixels * pixel, 3.));
            EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance)
                << grid.name() << ", " << pixels << " pixels";
            EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), single_tolerance)
                << grid.name() << ", " << pixels << " pixels";
        }
    }
}

TEST_F(PolarizationSumOnCuda, EqualsTheCpuForDifferentWindowsOfEAndB) {
    const Grid grid = Grid::healpix(scaled(32));
    for (const double support : {0.12, 0.5})
        for (const PolarizationKernel& kernel : kernels_of_two_parts(support)) {
            EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance) << support;
            EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), single_tolerance) << support;
        }
}

TEST_F(PolarizationSumOnCuda, EqualsTheCpuForKernelsAsWideAsTheSphere) {
    for (const Grid& grid : {Grid::healpix(scaled(16)), Grid::equidistant_cylindrical(24, 48)}) {
        for (const double support : {1.7, std::numbers::pi})
            for (const PolarizationKernel& kernel : kernels_of_two_parts(support))
                EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance)
                    << grid.name() << ", " << support;
        // Sums of 3000 terms, whose roundings add up with random signs.
        EXPECT_LT(error_of<float>(grid, oscillating_kernel(), grid, Precision::float32), 3 * single_tolerance)
            << grid.name();
        EXPECT_LT(error_of<double>(grid, PolarizationKernel::gaussian(60 * degree), grid, Precision::float64),
                  tolerance)
            << grid.name();
    }
}

TEST_F(PolarizationSumOnCuda, EqualsTheCpuOnOtherGrids) {
    const PolarizationKernel kernel = kernels_of_two_parts(0.25)[0];
    const auto rings = scaled(30);
    for (const Grid& grid : {Grid::gauss_legendre(rings, 2 * rings + 1, 0.1),
                             Grid::clenshaw_curtis(rings + 2, 48), Grid::clenshaw_curtis(rings + 3, 41, 0.3),
                             Grid::equidistant_cylindrical(3 * rings, 6 * rings), rings_at_any_longitude()}) {
        EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance) << grid.name();
        EXPECT_LT(error_of<double>(grid, kernel, Grid::healpix(scaled(17)), Precision::float64), tolerance)
            << grid.name();
        EXPECT_LT(error_of<double>(Grid::healpix(scaled(20)), kernel, grid, Precision::float64), tolerance)
            << grid.name();
        EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), single_tolerance) << grid.name();
    }
}

// The rows of two maps are too long for shared memory, and the filters' pairs go to the direct stage.
TEST_F(PolarizationSumOnCuda, EqualsTheCpuOnRingsOfManyPixels) {
    const Grid grid = Grid::equidistant_cylindrical(6, 20000);
    const PolarizationKernel kernel = cut_gaussian(0.6, 1.);
    EXPECT_LT(error_of<double>(grid, kernel, grid.subset({0, 2, 3}), Precision::float64), tolerance);
}

TEST_F(PolarizationSumOnCuda, TakesMapsOfTheOtherPrecisionAndFromTheHost) {
    const Grid grid = Grid::healpix(scaled(32));
    const PolarizationKernel kernel = kernels_of_two_parts(5 * pixel_of(scaled(32)))[0];
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float64), single_tolerance);
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float32), single_tolerance);
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64, false), tolerance);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32, false), single_tolerance);
}

TEST_F(PolarizationSumOnCuda, ComputesSubsetsAndLeavesOtherPixels) {
    const Grid whole = Grid::healpix(32), some = whole.subset({0, 1, 2, 30, 31, 32, 40, 70, 100, 125, 126});
    for (const double support : {0.06, 0.2})
        for (const PolarizationKernel& kernel : kernels_of_two_parts(support))
            expect_rings_of_whole(whole, some, kernel, PixelMethod::pixel_sum, tolerance);
    EXPECT_LT(error_of<double>(some, kernels_of_two_parts(0.2)[0], whole, Precision::float64), tolerance);
}

TEST_F(PolarizationSumOnCuda, BatchEqualsSingleMaps) {
    const Grid grid = Grid::healpix(scaled(32));
    expect_batch_of_single_maps(
        PolarizationConvolutionPlan(grid, kernels_of_two_parts(0.2)[0], grid, on_device(Precision::float32)));
}

TEST_F(PolarizationSumOnCuda, WorksOnTheCallersStreamAndRepeatsItself) {
    const Grid grid = Grid::healpix(scaled(64));
    const PolarizationConvolutionPlan plan(grid, kernels_of_two_parts(0.1)[0], grid,
                                           on_device(Precision::float64));
    expect_same_on_stream(plan);
    const Maps maps = random_maps(2, grid, 1);
    PixelConvolutionWorkspace workspace = plan.make_workspace(2);
    Maps out({2, 2, grid.n_pixels()});
    plan.convolve<double>(maps.view(), out.view(), workspace);
    EXPECT_GT(workspace.seconds().sums, 0);
}

TEST_F(PolarizationSumOnCuda, DoesTheWorkOfTheCpuAndIsChosenByItself) {
    const Grid grid = Grid::healpix(16);
    const PolarizationKernel kernel = kernels_of_two_parts(0.3)[0];
    const PolarizationConvolutionPlan cuda(
        grid, kernel, grid, options_on(Device::automatic(), PixelMethod::pixel_sum, Precision::float64));
    const PolarizationConvolutionPlan cpu(
        grid, kernel, grid, options_on(Device::cpu(), PixelMethod::pixel_sum, Precision::float64));
    EXPECT_EQ(cuda.options().device, Device::cuda(0));
    EXPECT_EQ(cuda.work().pixel_products, cpu.work().pixel_products);
    EXPECT_EQ(cuda.work().uneven_products, cpu.work().uneven_products);
    EXPECT_EQ(cuda.work().pixel_rows, cpu.work().pixel_rows);
}

TEST_F(PolarizationSumOnCuda, CanBeCancelled) {
    const Grid grid = Grid::healpix(8);
    const PolarizationConvolutionPlan plan(grid, cut_gaussian(0.2, 0.4), grid, on_device(Precision::float64));
    const Maps maps = random_maps(2, grid, 1);
    Maps out({2, 2, grid.n_pixels()});
    EXPECT_THROW(plan.convolve<double>(maps.view(), out.view(), [](double) { return false; }), Cancelled);
}

}  // namespace
}  // namespace zonal::test
