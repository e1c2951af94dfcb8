#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <span>

#include "radial/reference.hpp"
#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal {
namespace {

using Maps = Array<double, 3>;

Maps random_maps(std::int64_t n_maps, const Grid& grid, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Maps maps({n_maps, 2, grid.n_pixels()});
    for (double& pixel : maps) pixel = normal(generator);
    return maps;
}

std::vector<double> random_window(std::int64_t lmax, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> window;
    for (std::int64_t l = 0; l <= lmax; ++l)
        window.push_back(normal(generator) / (1 + static_cast<double>(l)));
    return window;
}

template <class T = double>
Array<T, 3> convolved(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                      const Array<T, 3>& maps, const PixelConvolutionOptions& options = {}) {
    Array<T, 3> out({maps.extent(0), 2, grid_out.n_pixels()});
    PolarizationConvolutionPlan(grid, kernel, grid_out, options).convolve<T>(maps.view(), out.view());
    return out;
}

template <class A, class B>
double largest_difference(const A& a, const B& b) {
    double difference = 0, largest = 0;
    for (std::int64_t k = 0; k < a.size(); ++k) {
        difference = std::max(difference,
                              std::abs(static_cast<double>(a.data()[k]) - static_cast<double>(b.data()[k])));
        largest = std::max(largest, std::abs(static_cast<double>(b.data()[k])));
    }
    return difference / largest;
}

/// Adjoint synthesis, windows, synthesis: the same sum over all pixels, in another order.
Maps harmonically(const Grid& grid, const std::vector<double>& window_e, const std::vector<double>& window_b,
                  const Grid& grid_out, const Maps& maps) {
    const auto lmax = static_cast<std::int64_t>(window_e.size()) - 1;
    const AlmLayout layout(lmax, lmax);
    Array<std::complex<double>, 3> alm({1, 2, layout.size()});
    Maps weighted = maps, out({1, 2, grid_out.n_pixels()});
    for (const Ring& ring : grid.rings())
        for (std::int64_t pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
            for (int c = 0; c < 2; ++c) weighted(0, c, pixel) *= ring.weight;
    ShtOptions options;
    options.lmax = lmax;
    options.spin = 2;
    options.device = Device::cpu();
    ShtPlan(grid, options).adjoint_synthesize<double>(std::as_const(weighted).view(), alm.view());
    for (std::int64_t m = 0; m <= lmax; ++m)
        for (std::int64_t l = m; l <= lmax; ++l) {
            alm(0, 0, layout.index(l, m)) *= window_e[static_cast<std::size_t>(l)];
            alm(0, 1, layout.index(l, m)) *= window_b[static_cast<std::size_t>(l)];
        }
    ShtPlan(grid_out, options).synthesize<double>(std::as_const(alm).view(), out.view());
    return out;
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
        EXPECT_LT(largest_difference(convolved(grid, kernel, grid_out, maps),
                                     harmonically(grid, window_e, window_b, grid_out, maps)),
                  tolerance)
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
            Maps expected({1, 2, grid.n_pixels()});
            reference::convolve(grid, kernel, grid, maps.view()[0], expected.view()[0]);
            EXPECT_LT(largest_difference(convolved(grid, kernel, grid, maps), expected), tolerance)
                << grid.name();
        }
}

/// Q of the output rings that matter, from tables instead of one by one.
TEST(PolarizationSum, IsTheHarmonicSumWhereWeightsComeFromTables) {
    const Grid grid = Grid::healpix(64);
    const PolarizationKernel gaussian = PolarizationKernel::gaussian(0.05);
    const Grid rings = grid.subset({0, 1, 31, 60, 63, 64, 100, 127, 200, 254});
    std::vector<double> window(420);
    const double sigma = 0.05 / std::sqrt(8 * std::numbers::ln2);
    for (std::size_t l = 0; l < window.size(); ++l) {
        const double degree = static_cast<double>(l);
        window[l] = std::exp(-(degree * (degree + 1) - 4) * sigma * sigma / 2);
    }
    const Maps maps = random_maps(1, grid, 5);
    const Maps found = convolved(grid, gaussian.truncated(0.2), rings, maps);
    const Maps expected = harmonically(grid, window, window, grid, maps);
    double difference = 0, largest = 0;
    for (const Ring& ring : rings.rings())
        for (std::int64_t pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
            for (int c = 0; c < 2; ++c) {
                difference = std::max(difference, std::abs(found(0, c, pixel) - expected(0, c, pixel)));
                largest = std::max(largest, std::abs(expected(0, c, pixel)));
            }
    // exp(-0.2^2 / (2 sigma^2)) = 5e-20 is cut off; transforms err by transform_rounding(419, 2)
    EXPECT_LT(difference / largest, 1e-11);
}

TEST(PolarizationSum, DoesNotDependOnThreadsOrOnTheBatch) {
    const Grid grid = Grid::healpix(32);
    const PolarizationKernel kernel =
        PolarizationKernel(random_window(40, 1), random_window(40, 2)).truncated(0.2);
    const Maps maps = random_maps(2, grid, 1);
    PixelConvolutionOptions options;
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
    PixelConvolutionOptions options;
    options.precision = Precision::single_;
    EXPECT_LT(largest_difference(convolved<float>(grid, kernel, grid, single, options),
                                 convolved(grid, kernel, grid, maps)),
              1e-6);
}

TEST(PolarizationSum, RejectsWhatItCannotDo) {
    EXPECT_THROW(PolarizationKernel({1, 1}, {}), InvalidArgument);
    EXPECT_THROW(PolarizationKernel({0, 0, std::nan("")}, {}), InvalidArgument);
    EXPECT_THROW(PolarizationKernel::gaussian(0), InvalidArgument);
    EXPECT_THROW(PolarizationKernel::gaussian(1).truncated(4), InvalidArgument);
    const Grid grid = Grid::healpix(2);
    PixelConvolutionOptions options;
    options.device = Device::cuda(0);
    EXPECT_THROW(PolarizationConvolutionPlan(grid, PolarizationKernel::gaussian(1), grid, options),
                 BackendUnavailable);
    for (const bool by_memory : {true, false}) {
        PixelConvolutionOptions in_bands;
        if (by_memory)
            in_bands.max_workspace_bytes = 1 << 20;
        else
            in_bands.devices = {Device::cuda(0), Device::cuda(1)};
        EXPECT_THROW(PolarizationConvolutionPlan(grid, PolarizationKernel::gaussian(1), grid, in_bands),
                     InvalidArgument);
    }
    const PolarizationConvolutionPlan plan(grid, PolarizationKernel::gaussian(1), grid);
    Maps maps({1, 2, 48}), wrong({1, 1, 48});
    EXPECT_THROW(plan.convolve<double>(std::as_const(wrong).view(), maps.view()), InvalidArgument);
    EXPECT_THROW(plan.convolve<double>(std::as_const(maps).view(), wrong.view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal
