// The ring FFT against the direct sum.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "radial/reference.hpp"
#include "zonal/convolution.hpp"

namespace {

using namespace zonal;

constexpr double degree = std::numbers::pi / 180;

std::vector<double> random_map(std::int64_t n, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> map(n);
    for (double& value : map) value = normal(random);
    return map;
}

double largest(const std::vector<double>& a) {
    double most = 0;
    for (const double value : a) most = std::max(most, std::abs(value));
    return most;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0;
    for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
    return most;
}

template <class T = double>
std::vector<double> convolved(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                              const std::vector<double>& map, PixelConvolutionOptions options = {}) {
    options.device = Device::cpu();
    const PixelConvolutionPlan plan(grid, kernel, grid_out, options);
    const std::vector<T> in(map.begin(), map.end());
    std::vector<T> out(grid_out.n_pixels());
    plan.convolve<T>({in.data(), {1, grid.n_pixels()}}, {out.data(), {1, grid_out.n_pixels()}});
    return {out.begin(), out.end()};
}

std::vector<double> expected(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                             const std::vector<double>& map) {
    std::vector<double> out(grid_out.n_pixels());
    reference::convolve(grid, kernel, grid_out, {map.data(), {grid.n_pixels()}},
                        {out.data(), {grid_out.n_pixels()}});
    return out;
}

/// The largest difference from the direct sum, of its maximum.
double error_of(const Grid& grid, const RadialKernel& kernel, const PixelConvolutionOptions& options = {}) {
    const auto map = random_map(grid.n_pixels());
    const auto exact = expected(grid, kernel, grid, map);
    return largest_difference(convolved(grid, kernel, grid, map, options), exact) / largest(exact);
}

// In double the table's error of 1e-13 and that of the series, 1e-12 of the kernel's largest value, add up
// over the pixels of the support with random signs.
constexpr double tolerance = 2e-12;

TEST(RingFft, MatchesDirectSumForGaussians) {
    for (const int nside : {1, 2, 8, 16})
        for (const double fwhm : {5.0, 20.0}) {
            const RadialKernel kernel = RadialKernel::gaussian(fwhm * degree);
            EXPECT_LT(error_of(Grid::healpix(nside), kernel), tolerance) << nside << " " << fwhm;
        }
}

TEST(RingFft, MatchesDirectSumForTruncatedGaussian) {
    const RadialKernel kernel = RadialKernel::gaussian(8 * degree).truncated(27 * degree);
    EXPECT_LT(error_of(Grid::healpix(16), kernel), tolerance);
}

TEST(RingFft, MatchesDirectSumForKernelsWithoutConvergingSeries) {
    const Grid grid = Grid::healpix(16);
    EXPECT_LT(error_of(grid, RadialKernel::top_hat(9.7 * degree)), tolerance);
    EXPECT_LT(error_of(grid, RadialKernel::gaussian(10 * degree).truncated(8.3 * degree)), tolerance);
}

}  // namespace
