// Convolutions of Q and U in latitude bands are those of the whole map.
#include <string>

#include "cuda_polarization.cuh"

namespace zonal::test {
namespace {

class PolarizationBandsOnCuda : public OnCuda {};

// A band may sum a ring's pixels in another way than the whole: both are right to 1e-12 of the largest
// weight, and sums of random terms are about as much larger.
constexpr double tolerance = 2e-11;
constexpr double single_tolerance = 1e-6;

constexpr PixelMethod methods[] = {PixelMethod::pixel_sum, PixelMethod::ring_fft};

std::int64_t n_bands(const PolarizationConvolutionPlan& plan) {
    std::int64_t sum = 0;
    for (const auto& share : plan.shares()) sum += share.n_bands;
    return sum;
}

/// Of two parts, and cut: ring FFTs leave rings of the caps to the sum over pixels.
PolarizationKernel cut_kernel() {
    return PolarizationKernel(random_windows(24, 1), random_windows(20, 2)).truncated(9 * degree);
}

/// Which ring FFTs serve alone; beyond the cut it is 1e-13 of its peak.
PolarizationKernel smooth_kernel() {
    return PolarizationKernel::gaussian(3 * degree).truncated(10 * degree);
}

/// In less and less memory, so with ever more bands, until there may be no more.
template <class T>
void expect_whole(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                  PixelConvolutionOptions options, double bound) {
    SCOPED_TRACE(grid.name() + " to " + grid_out.name() +
                 (options.method == PixelMethod::ring_fft ? ", ring FFT" : ", pixel sum"));
    const Maps maps = random_maps(3, grid, 1);
    const PolarizationConvolutionPlan whole(grid, kernel, grid_out, options);
    ASSERT_EQ(n_bands(whole), 1);
    const auto expected = convolved<T>(whole, maps, false);
    options.max_workspace_bytes = whole.shares()[0].memory_bytes - 1;
    int n_plans = 0;
    try {
        for (;; ++n_plans) {
            const PolarizationConvolutionPlan banded(grid, kernel, grid_out, options);
            const auto share = banded.shares()[0];
            EXPECT_GT(share.n_bands, 1);
            ASSERT_LE(share.memory_bytes, options.max_workspace_bytes);
            for (const bool on_device : {true, false})
                EXPECT_LT(relative_difference(convolved<T>(banded, maps, on_device), expected), bound)
                    << share.n_bands << " bands";
            options.max_workspace_bytes = share.memory_bytes / 10 * 9;
        }
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("max_workspace_bytes"), std::string::npos) << error.what();
    }
    EXPECT_GE(n_plans, 2);
}

TEST_F(PolarizationBandsOnCuda, GiveTheConvolutionOfTheWhole) {
    std::vector<std::int64_t> some;
    for (std::int64_t ring = 3; ring < scaled(120); ring += 1 + ring % 5) some.push_back(ring);
    for (const PolarizationKernel& kernel : {smooth_kernel(), cut_kernel()})
        for (const PixelMethod method : methods) {
            const auto options = options_on(Device::cuda(0), method, Precision::float64);
            const Grid grid = Grid::healpix(scaled(32)), gauss = Grid::gauss_legendre(scaled(48), 97, 0.1);
            expect_whole<double>(grid, kernel, grid, options, tolerance);
            expect_whole<double>(gauss, kernel, grid, options, tolerance);
            expect_whole<double>(grid, kernel, grid.subset(some), options, tolerance);
        }
}

TEST_F(PolarizationBandsOnCuda, GiveTheConvolutionOfTheWholeInSinglePrecision) {
    const Grid grid = Grid::healpix(scaled(64));
    for (const PixelMethod method : methods) {
        const auto options = options_on(Device::cuda(0), method, Precision::float32);
        expect_whole<float>(grid, cut_kernel(), grid, options, single_tolerance);
    }
}

// As several devices do.
TEST_F(PolarizationBandsOnCuda, WorkAtTheSameTime) {
    const Grid grid = Grid::healpix(scaled(64));
    const Maps maps = random_maps(2, grid, 1);
    for (const PixelMethod method : methods) {
        auto options = options_on(Device::cuda(0), method, Precision::float64);
        const PolarizationConvolutionPlan whole(grid, cut_kernel(), grid, options);
        options.devices = {Device::cuda(0), Device::cuda(0), Device::cuda(0)};
        const PolarizationConvolutionPlan plan(grid, cut_kernel(), grid, options);
        ASSERT_EQ(plan.shares().size(), 3U);
        EXPECT_EQ(n_bands(plan), 3);
        EXPECT_LT(relative_difference(convolved<double>(plan, maps, false), convolved<double>(whole, maps)),
                  tolerance);
        EXPECT_THROW(convolved<double>(plan, maps, true), InvalidArgument);
    }
}

TEST_F(PolarizationBandsOnCuda, WorkOnTheCallersStream) {
    const Grid grid = Grid::healpix(scaled(64));
    for (const PixelMethod method : methods) {
        auto options = options_on(Device::cuda(0), method, Precision::float64);
        const PolarizationConvolutionPlan whole(grid, cut_kernel(), grid, options);
        options.max_workspace_bytes = whole.shares()[0].memory_bytes / 2;
        const PolarizationConvolutionPlan banded(grid, cut_kernel(), grid, options);
        ASSERT_GT(n_bands(banded), 1);
        expect_same_on_stream(banded);
    }
}

TEST_F(PolarizationBandsOnCuda, RefuseLimitsThatBandsDoNotKeep) {
    const Grid grid = Grid::healpix(scaled(32));
    auto options = options_on(Device::cuda(0), PixelMethod::pixel_sum, Precision::float64);
    options.max_workspace_bytes = 1000;
    EXPECT_THROW(PolarizationConvolutionPlan(grid, cut_kernel(), grid, options), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
