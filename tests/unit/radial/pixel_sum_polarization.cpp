#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "polarization_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

using test::gaussian_window;
using test::harmonically;
using test::Maps;
using test::random_maps;
using test::relative_difference;

std::vector<double> random_window(std::int64_t lmax, unsigned seed) {
    return test::random_windows(lmax, seed);
}

PixelConvolutionOptions summed() {
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    return options;
}

template <class T = double>
Array<T, 3> convolved(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                      const Array<T, 3>& maps, const PixelConvolutionOptions& options = summed()) {
    return test::convolved<T>(grid, kernel, grid_out, maps, options);
}

// Weights right to 1e-12 of the largest; the sum of random terms is about as much larger.
constexpr double tolerance = 1e-11;

TEST(PolarizationSum, IsTheHarmonicSumForWindowsOfEAndB) {
    const std::vector<double> window_e = random_window(9, 1), window_b = random_window(9, 2);
    const PolarizationKernel kernel(window_e, window_b);
    const Grid healpix = Grid::healpix(8), gauss = Grid::gauss_legendre(11, 23, 0.2);
    for (const auto& [grid, grid_out] : {std::pair{healpix, healpix}, std::pair{gauss, gauss},
                                         std::pair{gauss, healpix}, std::pair{healpix, gauss}}) {
        const Maps maps = random_maps(1, grid, 3);
        EXPECT_LT(relative_difference(convolved(grid, kernel, grid_out, maps),
                                      harmonically(grid, window_e, window_b, grid_out, maps)),
                  tolerance / 5)  // nothing is cut, and tables of ten degrees err by less than they may
            << grid.name() << " to " << grid_out.name();
    }
}

TEST(PolarizationSum, IsTheDirectSumForTruncatedKernels) {
    const PolarizationKernel both(random_window(14, 4), random_window(14, 5));
    const PolarizationKernel e_only(random_window(12, 6), {});
    for (const Grid& grid :
         {Grid::healpix(6), Grid::equidistant_cylindrical(9, 18), Grid::gauss_legendre(8, 15, 1.)})
        for (const PolarizationKernel& kernel :
             {both.truncated(0.9), e_only.truncated(0.5), both.truncated(2.)}) {
            const Maps maps = random_maps(1, grid, 8);
            EXPECT_LT(relative_difference(convolved(grid, kernel, grid, maps),
                                          test::direct_sum(grid, kernel, grid, maps)),
                      tolerance)
                << grid.name();
        }
}

/// Q of the output rings that matter, from tables instead of one by one.
TEST(PolarizationSum, IsTheHarmonicSumWhereWeightsComeFromTables) {
    const Grid grid = Grid::healpix(64);
    const PolarizationKernel gaussian = PolarizationKernel::gaussian(0.05);
    const Grid rings = grid.subset({0, 1, 31, 60, 63, 64, 100, 127, 200, 254});
    const std::vector<double> window = gaussian_window(0.05, 420);
    const Maps maps = random_maps(1, grid, 5);
    const Maps found = convolved(grid, gaussian.truncated(0.2), rings, maps);
    const Maps expected = harmonically(grid, window, window, grid, maps);
    double difference = 0, largest = 0;
    for (const Ring& ring : rings.rings())
        for (std::int64_t pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
            for (int c = 0; c < 2; ++c) {
                difference = test::larger(difference, std::abs(found(0, c, pixel) - expected(0, c, pixel)));
                largest = test::larger(largest, std::abs(expected(0, c, pixel)));
            }
    // exp(-0.2^2 / (2 sigma^2)) = 5e-20 is cut off; transforms err by transform_rounding(419, 2)
    EXPECT_LT(difference / largest, 1e-11);
}

TEST(PolarizationSum, DoesNotDependOnThreadsOrOnTheBatch) {
    const Grid grid = Grid::healpix(32);
    const PolarizationKernel kernel =
        PolarizationKernel(random_window(40, 1), random_window(40, 2)).truncated(0.2);
    const Maps maps = random_maps(2, grid, 1);
    PixelConvolutionOptions options = summed();
    options.threads = 3;
    const Maps batch = convolved(grid, kernel, grid, maps, options);
    options.threads = 1;
    for (std::int64_t map = 0; map < 2; ++map) {
        Maps one({1, 2, grid.n_pixels()});
        std::copy_n(maps.data() + map * one.size(), one.size(), one.data());
        const Maps single = convolved(grid, kernel, grid, one, options);
        EXPECT_TRUE(std::equal(single.begin(), single.end(), batch.data() + map * one.size()));
    }
}

TEST(PolarizationSum, InSinglePrecisionIsRightToIt) {
    const Grid grid = Grid::healpix(32);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(0.08).truncated(0.2);
    const Maps maps = random_maps(1, grid, 1);
    Array<float, 3> single({1, 2, grid.n_pixels()});
    std::copy(maps.begin(), maps.end(), single.begin());
    PixelConvolutionOptions options = summed();
    options.precision = Precision::float32;
    EXPECT_LT(relative_difference(convolved<float>(grid, kernel, grid, single, options),
                                  convolved(grid, kernel, grid, maps)),
              1e-6);
}

TEST(PolarizationSum, RejectsWhatItCannotDo) {
    EXPECT_THROW(PolarizationKernel({1, 1}, {}), InvalidArgument);
    EXPECT_THROW(PolarizationKernel({0, 0, std::nan("")}, {}), InvalidArgument);
    EXPECT_THROW(PolarizationKernel::gaussian(0), InvalidArgument);
    EXPECT_THROW(PolarizationKernel::gaussian(1).truncated(4), InvalidArgument);
    const Grid grid = Grid::healpix(2);
    PixelConvolutionOptions options = summed();
    options.device = Device::cpu();
    options.max_workspace_bytes = 1 << 20;
    EXPECT_THROW(PolarizationConvolutionPlan(grid, PolarizationKernel::gaussian(1), grid, options),
                 InvalidArgument);
    const PolarizationConvolutionPlan plan(grid, PolarizationKernel::gaussian(1), grid, summed());
    Maps maps({1, 2, 48}), wrong({1, 1, 48});
    EXPECT_THROW(plan.convolve<double>(std::as_const(wrong).view(), maps.view()), InvalidArgument);
    EXPECT_THROW(plan.convolve<double>(std::as_const(maps).view(), wrong.view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal
