#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <span>

#include "compare.hpp"
#include "radial/pixel_sum/pixel_sum.hpp"
#include "radial/reference.hpp"
#include "zonal/convolution.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double eps = std::numeric_limits<double>::epsilon();

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

void expect_reference(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, double tolerance) {
    const std::vector<double> map = random_map(grid, 7);
    const std::vector<double> expected = reference_of(grid, kernel, grid_out, map);
    EXPECT_LT(test::relative_difference(convolved(grid, kernel, grid_out, map), expected), tolerance)
        << grid.name() << " to " << grid_out.name() << ", " << kernel.name() << ", support "
        << kernel.support();
}

// The weights are right to `accuracy` = 1e-12 of the largest; the sum of so many random terms is about as
// much larger as the sum itself.
constexpr double tolerance = 1e-11;

double pixel_size(std::int64_t nside) {
    return std::sqrt(pi / 3) / static_cast<double>(nside);
}

TEST(PixelSum, IsTheDirectSumOnSmallHealpixGridsForAnySupport) {
    for (const int nside : {1, 2, 3, 6}) {
        const Grid grid = Grid::healpix(nside);
        for (const double pixels : {0.4, 1.3, 3.1, 7.})
            expect_reference(grid, random_kernel(std::min(pixels * pixel_size(nside), 3.), 5), grid,
                             tolerance);
        expect_reference(grid, random_kernel(pi, 6), grid, tolerance);
    }
}

/// Rings at the poles, in the caps, where cap and belt meet, and at the equator.
std::vector<std::int64_t> telling_rings(std::int64_t nside) {
    const std::int64_t n = 4 * nside - 1;
    return {0,         1,     2,    nside / 2, nside - 4, nside - 2, nside - 1, nside, 2 * nside - 1,
            n - nside, n - 3, n - 1};
}

TEST(PixelSum, IsTheDirectSumOnEveryKindOfHealpixRing) {
    const Grid grid = Grid::healpix(64), rings = grid.subset(telling_rings(64));
    const double pixel = pixel_size(64);
    expect_reference(grid, random_kernel(3.7 * pixel, 3), rings, tolerance);
    expect_reference(grid, RadialKernel::gaussian(2.4 * pixel).truncated(5 * pixel), rings, tolerance);
    expect_reference(grid, RadialKernel::top_hat(4.01 * pixel), rings, tolerance);
}

TEST(PixelSum, FindsTheSameForAllRingsAsForSome) {
    const Grid grid = Grid::healpix(64), rings = grid.subset(telling_rings(64));
    const RadialKernel kernel = RadialKernel::gaussian(2.4 * pixel_size(64)).truncated(5 * pixel_size(64));
    const std::vector<double> map = random_map(grid, 3);
    const std::vector<double> all = convolved(grid, kernel, grid, map),
                              some = convolved(grid, kernel, rings, map);
    double largest = 0;
    for (const Ring& ring : rings.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const auto pixel = static_cast<std::size_t>(ring.first_pixel + k);
            largest = test::larger(largest, std::abs(all[pixel] - some[pixel]) / std::abs(all[pixel]));
        }
    EXPECT_LT(largest,
              20 * 70 * eps);  // the order of a sum of about 70 terms, which may cancel to a twentieth
}

TEST(PixelSum, IsTheDirectSumOnOtherGrids) {
    for (const Grid& grid :
         {Grid::gauss_legendre(16, 33, 0.1), Grid::gauss_legendre(15, 32), Grid::clenshaw_curtis(13, 24),
          Grid::clenshaw_curtis(12, 21, 0.3), Grid::equidistant_cylindrical(18, 36), Grid::fejer2(9, 1)})
        for (const double support : {0.05, 0.5, 2., pi})
            expect_reference(grid, random_kernel(support, 4), grid, tolerance);
}

TEST(PixelSum, IsTheDirectSumOnRingsOfAnyLengthAndShift) {
    std::mt19937 generator(2);
    std::vector<Ring> rings;
    std::int64_t first = 5;
    for (int r = 0; r < 24; ++r) {
        const auto n = static_cast<std::int64_t>(1 + generator() % 30);
        rings.push_back(
            make_ring(0.13 * r, 1e-9 * static_cast<double>(generator()), 0.01 * (r + 1), n, first));
        first += n + r % 3;
    }
    std::shuffle(rings.begin(), rings.end(), generator);
    const Grid grid(rings);
    for (const double support : {0.1, 0.7, pi})
        expect_reference(grid, random_kernel(support, 9), grid, tolerance);
}

TEST(PixelSum, IsTheDirectSumFromOneGridToAnother) {
    const Grid healpix = Grid::healpix(12), finer = Grid::healpix(16);
    const Grid car = Grid::equidistant_cylindrical(20, 40), gauss = Grid::gauss_legendre(12, 27, 1.);
    const RadialKernel kernel = random_kernel(0.31, 8);
    expect_reference(healpix, kernel, finer, tolerance);
    expect_reference(finer, kernel, healpix, tolerance);
    expect_reference(healpix, kernel, car, tolerance);
    expect_reference(gauss, kernel, healpix, tolerance);
    expect_reference(finer.subset({3, 4, 5, 6, 30, 31}), kernel, healpix, tolerance);
}

TEST(PixelSum, CountsPixelsAtTheEdgeOfTheSupportAsInside) {
    // Discs of whole pixels: north, south, east and west of a pixel lie at the edge but for rounding.
    const Grid grid = Grid::equidistant_cylindrical(36, 72);
    // A top hat's weights are exact: sums of up to 2592 terms of random sign round.
    const double rounding = 5 * std::sqrt(2592.) * eps;
    for (const int pixels : {1, 2, 5, 18, 35})
        expect_reference(grid, RadialKernel::top_hat(pixels * pi / 36), grid.subset({0, 1, 17, 18, 30, 35}),
                         rounding);
    expect_reference(Grid::clenshaw_curtis(19, 36), RadialKernel::top_hat(pi / 2),
                     Grid::clenshaw_curtis(19, 36), rounding);
}

// Where pi over a pixel's width is rounded to less than half of a ring's pixels (400 of them), too.
TEST(PixelSum, TakesTheAntipodalPixelOfWholeRings) {
    std::vector<double> window(21, 1.);
    const RadialKernel kernel = RadialKernel::from_window(window);
    for (const std::int64_t nside : {48, 50, 98, 100}) {
        const Grid grid = Grid::healpix(nside).subset({2 * nside - 1, 2 * nside});
        expect_reference(grid, kernel, grid, tolerance);
    }
}

TEST(PixelSum, SpreadsAPointAsTheKernelsProfile) {
    const std::int64_t nside = 12;
    const Grid grid = Grid::healpix(nside);
    const RadialKernel kernel = RadialKernel::gaussian(0.25).truncated(0.5);
    for (const std::int64_t pixel :
         {std::int64_t{0}, 2 * nside * (nside - 1) - 1, grid.n_pixels() / 2, grid.n_pixels() - 1}) {
        std::vector<double> map(static_cast<std::size_t>(grid.n_pixels()), 0.);
        map[static_cast<std::size_t>(pixel)] = 1 / grid.rings()[0].weight;
        const std::vector<double> out = convolved(grid, kernel, grid, map);
        EXPECT_NEAR(out[static_cast<std::size_t>(pixel)], kernel.profile(0), 16 * eps * kernel.profile(0));
        EXPECT_DOUBLE_EQ(*std::max_element(out.begin(), out.end()), out[static_cast<std::size_t>(pixel)]);
        const std::vector<double> expected = reference_of(grid, kernel, grid, map);
        EXPECT_LT(test::relative_difference(out, expected), tolerance);
    }
}

TEST(PixelSum, IsItsOwnAdjointOnEqualAreas) {
    const Grid grid = Grid::healpix(64);
    for (const RadialKernel& kernel : {random_kernel(0.07, 1), RadialKernel::top_hat(0.05)}) {
        const std::vector<double> a = random_map(grid, 1), b = random_map(grid, 2);
        const std::vector<double> ka = convolved(grid, kernel, grid, a),
                                  kb = convolved(grid, kernel, grid, b);
        double a_kb = 0, ka_b = 0, size = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
            a_kb += a[k] * kb[k];
            ka_b += ka[k] * b[k];
            size += std::abs(a[k] * kb[k]);
        }
        // What stands for the kernel is symmetric, as it is; the products round.
        EXPECT_NEAR(a_kb, ka_b, eps * size);
    }
}

TEST(PixelSum, InSinglePrecisionIsRightToIt) {
    const Grid grid = Grid::healpix(128);
    const RadialKernel kernel = RadialKernel::gaussian(0.02).truncated(0.05);
    const std::vector<double> map = random_map(grid, 5);
    const std::vector<float> map_float(map.begin(), map.end());
    const std::vector<double> precise(map_float.begin(), map_float.end());
    const std::vector<double> expected = convolved(grid, kernel, grid, precise);
    PixelConvolutionOptions options;
    options.precision = Precision::float32;
    // 300 terms whose rounding errors, 6e-8 each, add up at random
    EXPECT_LT(test::relative_difference(convolved<float>(grid, kernel, grid, map_float, options), expected),
              1e-6);
    EXPECT_LT(test::relative_difference(convolved<double>(grid, kernel, grid, precise, options), expected),
              1e-6);
    options.precision = Precision::float64;
    EXPECT_LT(test::relative_difference(convolved<float>(grid, kernel, grid, map_float, options), expected),
              1e-7);
}

TEST(PixelSum, DoesNotDependOnThreadsOrOnTheBatch) {
    const Grid grid = Grid::healpix(48);
    const RadialKernel kernel = random_kernel(0.1, 2);
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.device = Device::cpu();
    options.threads = 1;
    const std::int64_t n_maps = 6, n = grid.n_pixels();
    std::vector<double> maps;
    for (unsigned seed = 0; seed < n_maps; ++seed) {
        const std::vector<double> map = random_map(grid, seed);
        maps.insert(maps.end(), map.begin(), map.end());
    }
    std::vector<double> batch(maps.size());
    PixelConvolutionOptions five = options;
    five.threads = 5;
    PixelConvolutionPlan(grid, kernel, grid, five)
        .convolve<double>(View<const double, 2>(maps.data(), {n_maps, n}),
                          View<double, 2>(batch.data(), {n_maps, n}));
    for (std::int64_t map = 0; map < n_maps; ++map) {
        const std::vector<double> one(maps.begin() + map * n, maps.begin() + (map + 1) * n);
        EXPECT_TRUE(std::ranges::equal(convolved(grid, kernel, grid, one, options),
                                       std::span(batch).subspan(map * n, n)));
    }
}

TEST(PixelSum, LeavesPixelsInNoRingAlone) {
    const Grid grid = Grid::healpix(8);
    const Grid rings = grid.subset({3, 20});
    std::vector<double> map(static_cast<std::size_t>(grid.n_pixels()), 1.), out(map.size(), -7.);
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.device = Device::cpu();
    PixelConvolutionPlan(grid, RadialKernel::gaussian(0.2), rings, options)
        .convolve<double>(View<const double, 2>(map.data(), {1, grid.n_pixels()}),
                          View<double, 2>(out.data(), {1, grid.n_pixels()}));
    EXPECT_EQ(std::count(out.begin(), out.end(), -7.),
              grid.n_pixels() - rings.rings()[0].n_pixels - rings.rings()[1].n_pixels);
}

TEST(PixelSum, ReportsProgressAndStops) {
    const Grid grid = Grid::healpix(16);
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.device = Device::cpu();
    options.threads = 2;
    const PixelConvolutionPlan plan(grid, RadialKernel::gaussian(0.2).truncated(0.5), grid, options);
    EXPECT_GT(plan.work().pixel_products, static_cast<double>(grid.n_pixels()));
    std::vector<double> map(static_cast<std::size_t>(grid.n_pixels()), 1.), out(map.size());
    const View<const double, 2> in(map.data(), {1, grid.n_pixels()});
    const View<double, 2> view(out.data(), {1, grid.n_pixels()});
    std::vector<double> done;
    plan.convolve<double>(in, view, [&](double share) {
        done.push_back(share);
        return true;
    });
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_LE(done.back(), 1);
    EXPECT_THROW(plan.convolve<double>(in, view, [](double share) { return share == 0; }), Cancelled);
}

}  // namespace
}  // namespace zonal
