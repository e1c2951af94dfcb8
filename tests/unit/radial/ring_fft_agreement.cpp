// The ring FFT against the direct sum, and against the sum over discs where that would take too long.
#include <gtest/gtest.h>

#include <limits>

#include "convolution_helpers.hpp"

namespace zonal {
namespace {

using test::convolved;
using test::degree;
using test::error_of;
using test::random_map;
using test::random_window;
using test::relative_difference;

// In double the table's error of 1e-13 and that of the series, 1e-12 of the kernel's largest value, add up
// over the pixels of the support with random signs, as the map does.
constexpr double tolerance = 2e-12;
constexpr double eps = std::numeric_limits<double>::epsilon();
// A top hat's values are exact, and rings of one length need no series: FFTs and sums round, of some tens of
// values.
constexpr double rounding = 40 * eps;
// In single precision: 3e-8 of the series and roundings of 6e-8, in as many random signs.
constexpr double single_tolerance = 1e-6;

/// The largest difference of the two methods on a random map, of the maximum.
double methods_differ(const Grid& grid, const RadialKernel& kernel, PixelConvolutionOptions options = {}) {
    const auto map = random_map(grid.n_pixels());
    const auto rings = convolved(grid, kernel, grid, map, options);
    options.method = PixelMethod::pixel_sum;
    options.precision = Precision::float64;
    const auto discs = convolved(grid, kernel, grid, map, options);
    return relative_difference(rings, discs);
}

double direct_products(const Grid& grid, const RadialKernel& kernel, PixelConvolutionOptions options = {}) {
    options.device = Device::cpu();
    return PixelConvolutionPlan(grid, kernel, grid, options).work().pixel_products;
}

TEST(RingFft, MatchesDirectSumForGaussiansOfAnyWidth) {
    for (const int nside : {1, 2, 3, 8})
        for (const double fwhm : {9.0, 30.0, 90.0}) {
            const Grid grid = Grid::healpix(nside);
            const RadialKernel kernel = RadialKernel::gaussian(fwhm * degree);
            EXPECT_LT(error_of(grid, kernel, grid), tolerance) << nside << " " << fwhm;
        }
    EXPECT_EQ(direct_products(Grid::healpix(8), RadialKernel::gaussian(9 * degree)), 0);
}

TEST(RingFft, MatchesDirectSumForOscillatingKernelsOverTheWholeSphere) {
    for (const std::int64_t lmax : {0, 1, 7, 24}) {
        const Grid grid = Grid::healpix(8);
        EXPECT_LT(error_of(grid, random_window(lmax, 3), grid), tolerance) << lmax;
        EXPECT_EQ(direct_products(grid, random_window(lmax, 3)), 0) << lmax;
    }
}

TEST(RingFft, MatchesDirectSumForTruncatedGaussian) {
    const Grid grid = Grid::healpix(8);
    const RadialKernel kernel = RadialKernel::gaussian(9 * degree).truncated(29 * degree);
    EXPECT_EQ(direct_products(grid, kernel), 0);
    EXPECT_LT(error_of(grid, kernel, grid), tolerance);
}

TEST(RingFft, MatchesDirectSumWhereTheSeriesDoesNotConverge) {
    const Grid grid = Grid::healpix(8);
    for (const RadialKernel& kernel :
         {RadialKernel::top_hat(9.7 * degree), RadialKernel::top_hat(170.3 * degree),
          RadialKernel::gaussian(20 * degree).truncated(12.3 * degree)}) {
        EXPECT_GT(direct_products(grid, kernel), 0) << kernel.name();
        EXPECT_LT(error_of(grid, kernel, grid), tolerance) << kernel.name();
    }
}

TEST(RingFft, NeedsNoSeriesBetweenRingsOfOneLength) {
    const Grid grid = Grid::equidistant_cylindrical(18, 36);
    const RadialKernel kernel = RadialKernel::top_hat(33.3 * degree);
    EXPECT_EQ(direct_products(grid, kernel), 0);
    EXPECT_LT(error_of(grid, kernel, grid), rounding);
}

TEST(RingFft, SupportBelowAPixelLeavesEachPixelAlone) {
    const Grid grid = Grid::healpix(8);
    for (const RadialKernel& kernel :
         {RadialKernel::top_hat(0.01 * degree), RadialKernel::gaussian(0.3 * degree)})
        EXPECT_LT(error_of(grid, kernel, grid), rounding);
}

TEST(RingFft, MatchesDirectSumOnEveryGrid) {
    const RadialKernel kernel = RadialKernel::gaussian(20 * degree);
    for (const Grid& grid :
         {Grid::gauss_legendre(12, 25), Grid::clenshaw_curtis(13, 24, 0.1), Grid::fejer1(11, 21),
          Grid::fejer2(12, 30), Grid::equidistant_cylindrical(9, 18)}) {
        EXPECT_LT(error_of(grid, kernel, grid), tolerance) << grid.name();
        EXPECT_LT(error_of(grid, kernel, Grid::healpix(4)), tolerance) << grid.name();
    }
}

TEST(RingFft, MatchesDirectSumForRingsAtAnyLongitude) {
    const Grid grid = test::rings_at_any_longitude();
    EXPECT_LT(error_of(grid, RadialKernel::gaussian(25 * degree), grid), tolerance);
    EXPECT_LT(error_of(grid, RadialKernel::top_hat(41 * degree), grid), rounding);
}

TEST(RingFft, MatchesDirectSumBetweenSubsetsOfRings) {
    const Grid whole = Grid::healpix(8);
    const RadialKernel kernel = RadialKernel::gaussian(15 * degree);
    const Grid north = whole.subset({0, 1, 2, 5, 6, 7, 8, 15}), south = whole.subset({7, 8, 23, 24, 28, 30});
    EXPECT_LT(error_of(north, kernel, south), tolerance);
    EXPECT_LT(error_of(whole, kernel, south), tolerance);
    EXPECT_LT(error_of(south, kernel, north), tolerance);
}

TEST(RingFft, KeepsDeltaFunctionsInTheirDisc) {
    const Grid grid = Grid::healpix(16);
    const RadialKernel kernel = RadialKernel::gaussian(7 * degree).truncated(23 * degree);
    // At the poles, the caps' edges, the equator and a ring's first and last pixel.
    for (const std::int64_t pixel : {0, 3, 2 * 16 * 15, 2 * 16 * 15 - 1, 1535, 1599, 3071, 2208}) {
        std::vector<double> map(grid.n_pixels());
        map[pixel] = 1;
        PixelConvolutionOptions options;
        const auto rings = convolved(grid, kernel, grid, map, options);
        options.method = PixelMethod::pixel_sum;
        const auto discs = convolved(grid, kernel, grid, map, options);
        EXPECT_LT(relative_difference(rings, discs), tolerance) << pixel;
    }
}

TEST(RingFft, AgreesWithSumsOverDiscsOnFineGrids) {
    EXPECT_LT(methods_differ(Grid::healpix(64), RadialKernel::gaussian(2 * degree).truncated(6.5 * degree)),
              tolerance);
    EXPECT_LT(methods_differ(Grid::healpix(100), RadialKernel::gaussian(1.3 * degree).truncated(2 * degree)),
              tolerance);
    EXPECT_LT(methods_differ(Grid::gauss_legendre(100, 150), RadialKernel::top_hat(4 * degree)), rounding);
}

// Rows of more than 160 values go through FFTs, of either parity, beside others by cosines.
TEST(RingFft, TransformsLongRows) {
    const Grid caps = Grid::healpix(60).subset({40, 58, 59, 60, 120, 178});
    PixelConvolutionOptions options;
    options.accuracy = 1e-10;
    const RadialKernel window = random_window(250, 1);
    EXPECT_EQ(direct_products(caps, window, options), 0);
    EXPECT_LT(error_of(caps, window, caps, options), options.accuracy);
    EXPECT_LT(methods_differ(Grid::equidistant_cylindrical(12, 801), RadialKernel::top_hat(100 * degree)),
              10 * rounding);  // of hundreds of values
}

// Equal rings under wide smooth kernels are taken by the few modes that these have.
TEST(RingFft, WideKernelsNeedFewModes) {
    const std::int64_t nside = 64;
    const auto narrow = RadialKernel::gaussian(8 * degree).truncated(26 * degree),
               wide = RadialKernel::gaussian(16 * degree).truncated(52 * degree);
    for (const Grid& grid : {Grid::healpix(nside), Grid::gauss_legendre(3 * nside, 4 * nside)})
        for (const double accuracy : {0.0, 1e-4, 1e-7}) {
            PixelConvolutionOptions options;
            options.accuracy = accuracy;
            const auto modes = [&](const RadialKernel& kernel) {
                return PixelConvolutionPlan(grid, kernel, grid, options).work().mode_products;
            };
            // Nearly twice the rings, with half of the modes and a few.
            EXPECT_LT(modes(wide), 1.5 * modes(narrow)) << accuracy;
            EXPECT_LT(methods_differ(grid, wide, options), accuracy == 0 ? tolerance : accuracy);
        }
}

TEST(RingFft, SinglePrecisionStaysWithinItsBound) {
    PixelConvolutionOptions options;
    options.precision = Precision::float32;
    const RadialKernel kernel = RadialKernel::gaussian(2 * degree).truncated(6.5 * degree);
    EXPECT_LT(methods_differ(Grid::healpix(64), kernel, options), single_tolerance);
    const Grid grid = Grid::healpix(8);
    EXPECT_LT(error_of<float>(grid, RadialKernel::gaussian(20 * degree), grid, options), single_tolerance);
    EXPECT_LT(error_of<float>(grid, RadialKernel::top_hat(20 * degree), grid, options), single_tolerance);
}

TEST(RingFft, CoarserAccuracyKeepsItsBound) {
    const Grid grid = Grid::healpix(8);
    const RadialKernel kernel = RadialKernel::gaussian(12 * degree).truncated(25 * degree);
    for (const double accuracy : {1e-4, 1e-6, 1e-9}) {
        PixelConvolutionOptions options;
        options.accuracy = accuracy;
        EXPECT_LT(error_of(grid, kernel, grid, options), 2 * accuracy);
    }
}

TEST(RingFft, IsSelfAdjointOnEqualAreaGrids) {
    const Grid grid = Grid::healpix(16);
    const RadialKernel kernel = RadialKernel::gaussian(8 * degree);
    const auto a = random_map(grid.n_pixels(), 1), b = random_map(grid.n_pixels(), 2);
    const auto ka = convolved(grid, kernel, grid, a), kb = convolved(grid, kernel, grid, b);
    double left = 0, right = 0, scale = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        left += ka[k] * b[k];
        right += a[k] * kb[k];
        scale += std::abs(ka[k] * b[k]);
    }
    // What stands for the kernel is symmetric, as it is; the products round.
    EXPECT_NEAR(left, right, 4 * eps * scale);
}

}  // namespace
}  // namespace zonal
