#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "radial/pixel_sum.hpp"
#include "radial/reference.hpp"
#include "zonal/convolution.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

constexpr double pi = std::numbers::pi;

std::vector<double> random_map(const Grid& grid, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> map(static_cast<std::size_t>(grid.n_pixels()));
    for (double& pixel : map) pixel = normal(generator);
    return map;
}

/// Smooth, oscillating, of both signs, down to zero at its end.
RadialKernel random_kernel(double support, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    const double a[3] = {1 + normal(generator), normal(generator), normal(generator)};
    std::vector<double> theta, value;
    for (int k = 0; k <= 40; ++k) {
        const double x = k / 40.;
        theta.push_back(x * support);
        double sum = 0;
        for (int i = 0; i < 3; ++i) sum += a[i] * std::cos((i + 0.5) * pi * x);
        value.push_back(sum * (k == 40 ? 0 : 1));
    }
    return RadialKernel::from_profile(theta, value);
}

template <class T = double>
std::vector<T> convolved(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                         const std::vector<T>& map, PixelConvolutionOptions options = {}) {
    options.method = PixelMethod::pixel_sum;
    options.device = Device::cpu();
    const PixelConvolutionPlan plan(grid, kernel, grid_out, options);
    std::vector<T> out(static_cast<std::size_t>(grid_out.n_pixels()), T(0));
    plan.convolve<T>(View<const T, 2>(map.data(), {1, grid.n_pixels()}),
                     View<T, 2>(out.data(), {1, grid_out.n_pixels()}));
    return out;
}

std::vector<double> reference_of(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                 const std::vector<double>& map) {
    std::vector<double> out(static_cast<std::size_t>(grid_out.n_pixels()), 0.);
    reference::convolve(grid, kernel, grid_out, {map.data(), {grid.n_pixels()}},
                        {out.data(), {grid_out.n_pixels()}});
    return out;
}

template <class A, class B>
double largest_difference(const A& a, const B& b) {
    double difference = 0, largest = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        difference = std::max(difference, std::abs(static_cast<double>(a[k]) - static_cast<double>(b[k])));
        largest = std::max(largest, std::abs(static_cast<double>(b[k])));
    }
    return difference / largest;
}

void expect_reference(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, double tolerance) {
    const std::vector<double> map = random_map(grid, 7);
    const std::vector<double> expected = reference_of(grid, kernel, grid_out, map);
    EXPECT_LT(largest_difference(convolved(grid, kernel, grid_out, map), expected), tolerance)
        << grid.name() << " to " << grid_out.name() << ", " << kernel.name() << ", support "
        << kernel.support();
}

// The weights are right to `accuracy` = 1e-12 of the largest; the sum of so many random terms is about as
// much larger as the sum itself.
constexpr double tolerance = 1e-11;

TEST(PixelSum, IsTheDirectSumOnHealpixForAnySupport) {
    for (const int nside : {1, 2, 3, 8, 16}) {
        const Grid grid = Grid::healpix(nside);
        const double pixel = std::sqrt(4 * pi / (12. * nside * nside));
        for (const double support : {0.4 * pixel, 1.3 * pixel, 3.1 * pixel, 0.9, 1.7, 3.1})
            expect_reference(grid, random_kernel(std::min(support, pi), 5), grid, tolerance);
        expect_reference(grid, RadialKernel::gaussian(2.5 * pixel), grid, tolerance);
        expect_reference(grid, RadialKernel::gaussian(2.5 * pixel).truncated(std::min(3.3 * pixel, 3.)), grid,
                         tolerance);
        expect_reference(grid, RadialKernel::top_hat(std::min(4.01 * pixel, 3.)), grid, tolerance);
    }
}

}  // namespace
}  // namespace zonal
