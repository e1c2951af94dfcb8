// Q and U by ring FFTs against the direct sum, the sum over discs and the harmonic sum.
#include <gtest/gtest.h>

#include "convolution_helpers.hpp"
#include "polarization_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

using test::degree;
using test::direct_sum;
using test::eps;
using test::harmonically;
using test::Maps;
using test::options_of;
using test::random_maps;
using test::random_windows;
using test::relative_difference;

// As for one field: tables err by 1e-13 and series by 1e-12 of the kernel's largest value, which add up over
// the pixels of the support with random signs, as the maps do.
constexpr double tolerance = 1e-12;
// Of two methods, both of which err, and of single pixels of a peak, which nothing averages.
constexpr double tolerance_of_methods = 4e-12;
constexpr double single_tolerance = 1e-6;

template <class T = double>
Array<T, 3> by_rings(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                     const Array<T, 3>& maps, Precision precision = Precision::float64) {
    return test::convolved<T>(grid, kernel, grid_out, maps, options_of(PixelMethod::ring_fft, precision));
}

Maps by_discs(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out, const Maps& maps) {
    return test::convolved<double>(grid, kernel, grid_out, maps, options_of(PixelMethod::pixel_sum));
}

double pixel_products(const Grid& grid, const PolarizationKernel& kernel) {
    return PolarizationConvolutionPlan(grid, kernel, grid, options_of(PixelMethod::ring_fft))
        .work()
        .pixel_products;
}

double error_of(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out) {
    const Maps maps = random_maps(1, grid, 3);
    return relative_difference(by_rings(grid, kernel, grid_out, maps),
                               direct_sum(grid, kernel, grid_out, maps));
}

/// Of different windows of E and B (K+ and K-), and of one of them alone.
std::vector<PolarizationKernel> oscillating_kernels() {
    const auto e = random_windows(12, 1), b = random_windows(9, 2);
    std::vector<double> opposite;
    for (const double value : e) opposite.push_back(-value);
    return {PolarizationKernel(e, b), PolarizationKernel(e, {}), PolarizationKernel(e, e),
            PolarizationKernel(e, opposite)};
}

TEST(PolarizationRingFft, MatchesDirectSumForOscillatingKernelsOverTheWholeSphere) {
    const Grid grid = Grid::healpix(5), fine = Grid::healpix(16);
    for (const PolarizationKernel& kernel : oscillating_kernels()) {
        EXPECT_EQ(pixel_products(grid, kernel), 0);
        EXPECT_LT(error_of(grid, kernel, grid), tolerance);
        EXPECT_LT(error_of(fine, kernel, fine.subset({0, 2, 61})), tolerance);
    }
}

TEST(PolarizationRingFft, MatchesDirectSumForGaussiansOfAnyWidth) {
    for (const int nside : {1, 2, 5})
        for (const double fwhm : {12.0, 30.0, 90.0}) {
            const Grid grid = Grid::healpix(nside);
            EXPECT_LT(error_of(grid, PolarizationKernel::gaussian(fwhm * degree), grid), tolerance)
                << nside << " " << fwhm;
        }
}

TEST(PolarizationRingFft, MatchesDirectSumOnEveryGrid) {
    const PolarizationKernel kernel = oscillating_kernels()[0];
    for (const Grid& grid : {Grid::gauss_legendre(10, 21), Grid::clenshaw_curtis(9, 16, 0.1),
                             Grid::fejer1(9, 17), Grid::equidistant_cylindrical(8, 16)}) {
        EXPECT_LT(error_of(grid, kernel, grid), tolerance) << grid.name();
        EXPECT_LT(error_of(grid, kernel, Grid::healpix(3)), tolerance) << grid.name();
        EXPECT_LT(error_of(Grid::healpix(3), kernel, grid), tolerance) << grid.name();
    }
}

TEST(PolarizationRingFft, MatchesDirectSumBetweenSubsetsOfRings) {
    const Grid whole = Grid::healpix(8);
    const Grid north = whole.subset({0, 1, 5, 7, 8, 15}), south = whole.subset({7, 23, 24, 30});
    for (const PolarizationKernel& kernel :
         {PolarizationKernel::gaussian(15 * degree), oscillating_kernels()[0]}) {
        EXPECT_LT(error_of(north, kernel, south), tolerance);
        EXPECT_LT(error_of(whole, kernel, south), tolerance);
        EXPECT_LT(error_of(south, kernel, north), tolerance);
    }
}

TEST(PolarizationRingFft, MatchesDirectSumForRingsAtAnyLongitude) {
    const Grid grid = test::rings_at_any_longitude();
    for (const PolarizationKernel& kernel : oscillating_kernels())
        EXPECT_LT(error_of(grid, kernel, grid), tolerance);
}

TEST(PolarizationRingFft, MatchesDirectSumAroundThePolesAndTheCapsEdges) {
    const Grid grid = Grid::healpix(32);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(4 * degree).truncated(13 * degree);
    EXPECT_EQ(pixel_products(grid, kernel), 0);
    EXPECT_LT(error_of(grid, kernel, grid.subset({0, 31, 125})), tolerance);
}

TEST(PolarizationRingFft, LeavesRingsToDiscsWhereTheSeriesDoesNotConverge) {
    const Grid grid = Grid::healpix(6);
    for (const PolarizationKernel& kernel :
         {PolarizationKernel::gaussian(20 * degree).truncated(12.3 * degree),
          oscillating_kernels()[0].truncated(70 * degree)}) {
        EXPECT_GT(pixel_products(grid, kernel), 0);
        EXPECT_LT(error_of(grid, kernel, grid), tolerance);
    }
}

TEST(PolarizationRingFft, NeedsNoSeriesBetweenRingsOfOneLength) {
    const Grid grid = Grid::equidistant_cylindrical(18, 36);
    const PolarizationKernel kernel = oscillating_kernels()[0].truncated(33.3 * degree);
    EXPECT_EQ(pixel_products(grid, kernel), 0);
    EXPECT_LT(error_of(grid, kernel, grid), tolerance);
}

TEST(PolarizationRingFft, IsTheHarmonicSumForWindowsOfEAndB) {
    const Grid healpix = Grid::healpix(32), gauss = Grid::gauss_legendre(51, 101, 0.2);
    const auto window_e = random_windows(50, 1), window_b = random_windows(50, 2);
    for (const auto& [grid, grid_out] : {std::pair{healpix, healpix}, std::pair{gauss, healpix}}) {
        const Maps maps = random_maps(1, grid, 3);
        EXPECT_LT(relative_difference(by_rings(grid, PolarizationKernel(window_e, window_b), grid_out, maps),
                                      harmonically(grid, window_e, window_b, grid_out, maps)),
                  tolerance)
            << grid.name();
    }
}

TEST(PolarizationRingFft, SmoothsBandLimitedMapsAsTheHarmonicMethodDoes) {
    // Exact quadrature to degree 129: the map's alm come back, and the kernel has nothing from degree 66 on,
    // exp(-66 67 sigma^2 / 2) = 1e-17.
    const Grid grid = Grid::gauss_legendre(65, 130);
    const auto all = std::vector<double>(65, 1), window = test::gaussian_window(18 * degree, 65);
    const Maps map = harmonically(grid, all, all, grid, random_maps(1, grid, 7));
    EXPECT_LT(relative_difference(by_rings(grid, PolarizationKernel::gaussian(18 * degree), grid, map),
                                  harmonically(grid, window, window, grid, map)),
              tolerance);
}

TEST(PolarizationRingFft, AgreesWithSumsOverDiscsAtNside128) {
    const Grid grid = Grid::healpix(128);
    const Maps maps = random_maps(1, grid, 5);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(1 * degree).truncated(3.3 * degree);
    const Maps discs = by_discs(grid, kernel, grid, maps);
    EXPECT_LT(relative_difference(by_rings(grid, kernel, grid, maps), discs), 1e-11);
    Array<float, 3> single(maps.extents());
    std::copy(maps.begin(), maps.end(), single.begin());
    EXPECT_LT(relative_difference(by_rings<float>(grid, kernel, grid, single, Precision::float32), discs),
              single_tolerance);
}

TEST(PolarizationRingFft, KeepsDeltaFunctionsInTheirDisc) {
    const Grid grid = Grid::healpix(16);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(7 * degree).truncated(23 * degree);
    // At the poles, the caps' edges, the equator and a ring's first and last pixel.
    for (const std::int64_t pixel : {0, 3, 2 * 16 * 15, 2 * 16 * 15 - 1, 1535, 1599, 3071, 2208})
        for (const std::int64_t component : {0, 1}) {
            Maps map({1, 2, grid.n_pixels()});
            map(0, component, pixel) = 1;
            EXPECT_LT(
                relative_difference(by_rings(grid, kernel, grid, map), by_discs(grid, kernel, grid, map)),
                tolerance_of_methods)
                << pixel << " " << component;
        }
}

// Rows of more than 160 values go through FFTs, of either parity, beside others by cosines and sines.
TEST(PolarizationRingFft, TransformsLongRows) {
    const Grid grid = Grid::healpix(60), rings = grid.subset({59, 60});
    const PolarizationKernel kernel(random_windows(200, 1), random_windows(180, 2));
    const Maps maps = random_maps(1, rings, 1);
    // Rings of one length need no series: FFTs of 240 values and the sums are rounded.
    EXPECT_LT(relative_difference(by_rings(rings, kernel, rings, maps), by_discs(rings, kernel, rings, maps)),
              2 * 240 * eps);
    std::vector<Ring> shifted;  // by half a pixel, every other one
    for (std::int64_t k = 0; k < 6; ++k)
        shifted.push_back(make_ring(0.4 + 0.5 * static_cast<double>(k),
                                    k % 2 == 0 ? 0 : std::numbers::pi / 800, 0.1, 800, 800 * k));
    const Grid plate(shifted);
    const PolarizationKernel cut = oscillating_kernels()[0].truncated(100 * degree);
    const Maps plates = random_maps(1, plate, 1);
    EXPECT_LT(relative_difference(by_rings(plate, cut, plate, plates), by_discs(plate, cut, plate, plates)),
              tolerance_of_methods);
}

TEST(PolarizationRingFft, DoesNotDependOnThreadsOrOnTheBatch) {
    const Grid grid = Grid::healpix(16);
    const std::int64_t n_maps = 5;
    const Maps maps = random_maps(n_maps, grid, 1);
    for (const Precision precision : {Precision::float32, Precision::float64}) {
        const auto with_threads = [&](const Maps& some, int threads) {
            return test::convolved<double>(grid, oscillating_kernels()[0], grid, some,
                                           options_of(PixelMethod::ring_fft, precision, threads));
        };
        const Maps batch = with_threads(maps, 3);
        for (std::int64_t map = 0; map < n_maps; ++map) {
            Maps one({1, 2, grid.n_pixels()});
            std::copy_n(maps.data() + map * one.size(), one.size(), one.data());
            const Maps single = with_threads(one, 1);
            EXPECT_TRUE(std::equal(single.begin(), single.end(), batch.data() + map * one.size()));
        }
    }
}

TEST(PolarizationRingFft, LeavesOtherPixelsAsTheyAre) {
    const Grid whole = Grid::healpix(8), some = whole.subset({3, 20});
    const Maps maps = random_maps(1, whole, 1);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(9 * degree);
    Maps out(maps.extents());
    std::fill(out.begin(), out.end(), 7);
    PolarizationConvolutionPlan(whole, kernel, some, options_of(PixelMethod::ring_fft))
        .convolve<double>(maps.view(), out.view());
    const Maps all = by_rings(whole, kernel, whole, maps);
    for (const Ring& ring : some.rings())
        for (std::int64_t pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
            for (int c = 0; c < 2; ++c) {
                EXPECT_NEAR(out(0, c, pixel), all(0, c, pixel), 16 * eps);  // in another order
                out(0, c, pixel) = 7;
            }
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](double value) { return value == 7; }));
}

TEST(PolarizationRingFft, WorksWithAWorkspaceOnStridedMaps) {
    const Grid grid = Grid::healpix(4);
    const std::int64_t n = grid.n_pixels();
    const PolarizationKernel kernel = oscillating_kernels()[0];
    const Maps maps = random_maps(2, grid, 1);
    for (const PixelMethod method : {PixelMethod::ring_fft, PixelMethod::pixel_sum}) {
        const PolarizationConvolutionPlan plan(grid, kernel, grid, options_of(method));
        EXPECT_EQ(plan.options().method, method);
        EXPECT_EQ(plan.grid_out().n_pixels(), n);
        EXPECT_GT(plan.workspace_bytes(), 0);
        PixelConvolutionWorkspace workspace = plan.make_workspace(2);
        const Maps expected = test::convolved<double>(grid, kernel, grid, maps, options_of(method));
        // Component by component: [component, map, pixel]
        std::vector<double> in(4 * n), out(4 * n);
        for (std::int64_t map = 0; map < 2; ++map)
            for (std::int64_t c = 0; c < 2; ++c) std::copy_n(&maps(map, c, 0), n, &in[(2 * c + map) * n]);
        for (int call = 0; call < 2; ++call)
            plan.convolve<double>({in.data(), {2, 2, n}, {n, 2 * n, 1}},
                                  {out.data(), {2, 2, n}, {n, 2 * n, 1}}, workspace);
        for (std::int64_t map = 0; map < 2; ++map)
            for (std::int64_t c = 0; c < 2; ++c)
                EXPECT_TRUE(
                    std::equal(&out[(2 * c + map) * n], &out[(2 * c + map) * n] + n, &expected(map, c, 0)));
        // A workspace of one field's plan is none.
        const PixelConvolutionPlan scalar(grid, RadialKernel::gaussian(1), grid, options_of(method));
        PixelConvolutionWorkspace other = scalar.make_workspace();
        Maps result(maps.extents());
        EXPECT_THROW(plan.convolve<double>(maps.view(), result.view(), other), InvalidArgument);
    }
}

TEST(PolarizationRingFft, CanBeCancelledAndCountsWork) {
    const Grid grid = Grid::healpix(8);
    const Maps maps = random_maps(1, grid, 1);
    Maps out(maps.extents());
    const PolarizationConvolutionPlan plan(grid, PolarizationKernel::gaussian(20 * degree), grid,
                                           options_of(PixelMethod::ring_fft));
    EXPECT_THROW(plan.convolve<double>(maps.view(), out.view(), [](double) { return false; }), Cancelled);
    const PixelConvolutionWork work = plan.work();
    EXPECT_GT(work.kernel_values, 0);
    EXPECT_GT(work.row_products, 0);
    EXPECT_GT(work.mode_products, 0);
    EXPECT_EQ(work.fft_pixels, 4 * static_cast<double>(grid.n_pixels()));
}

TEST(PolarizationRingFft, RejectsWhatItCannotDo) {
    const Grid grid = Grid::healpix(2);
    const PolarizationKernel kernel = PolarizationKernel::gaussian(1);
    PixelConvolutionOptions options = options_of(PixelMethod::ring_fft);
    options.accuracy = 1e-20;
    EXPECT_THROW(PolarizationConvolutionPlan(grid, kernel, grid, options), InvalidArgument);
    options.accuracy = 0;
    const PolarizationConvolutionPlan plan(grid, kernel, grid, options);
    EXPECT_THROW(plan.make_workspace(0), InvalidArgument);
    Maps maps({1, 2, 48}), out({1, 2, 48}), wrong({1, 1, 48});
    const auto convolve = [&](const Maps& in, Maps& to) { plan.convolve<double>(in.view(), to.view()); };
    EXPECT_THROW(convolve(wrong, out), InvalidArgument);
    EXPECT_THROW(convolve(maps, wrong), InvalidArgument);
    EXPECT_THROW(convolve(maps, maps), InvalidArgument);
}

}  // namespace
}  // namespace zonal
