#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <thread>

#include "compare.hpp"
#include "few_pixels_helpers.hpp"
#include "polarization_helpers.hpp"
#include "radial/pixel_sum/filled_pixels.hpp"
#include "radial/reference.hpp"
#include "zonal/convolution.hpp"
#include "zonal/error.hpp"
#include "zonal/interruption.hpp"
#include "zonal/normalized_convolution.hpp"

// Maps in which few pixels are not 0, which are spread over the output's rings.
namespace zonal {
namespace {

using test::kernel_to;
using test::rings_of_any_length;
using test::sparse_map;
using test::summed;

constexpr double pi = std::numbers::pi;
constexpr double eps = std::numeric_limits<double>::epsilon();
// The weights are right to `accuracy` = 1e-12 of the largest.
constexpr double tolerance = 1e-11;

std::vector<double> map_of(const Grid& grid, std::initializer_list<std::int64_t> pixels) {
    std::vector<double> map(static_cast<std::size_t>(grid.n_pixels()), 0.);
    for (const std::int64_t pixel : pixels) map[static_cast<std::size_t>(pixel)] = 1.25;
    return map;
}

/// The pixels of maps, [map, pixel], that are filled in any of them, as rings of one pixel each, and their
/// values.
struct Points {
    Grid grid;
    Array<double, 2> values;
};

Points filled_points(const Grid& grid, View<const double, 2> maps) {
    std::vector<Ring> rings;
    std::vector<std::int64_t> pixels;
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const std::int64_t pixel = ring.first_pixel + k;
            bool is_filled = false;
            for (std::int64_t map = 0; map < maps.extent(0); ++map) is_filled |= maps(map, pixel) != 0;
            if (!is_filled) continue;
            Ring point = ring;
            point.phi_0 = ring.phi_0 + 2 * pi * static_cast<double>(k) / static_cast<double>(ring.n_pixels);
            point.n_pixels = 1;
            point.first_pixel = std::ssize(rings);
            rings.push_back(point);
            pixels.push_back(pixel);
        }
    Array<double, 2> values({maps.extent(0), std::ssize(pixels)});
    for (std::int64_t map = 0; map < maps.extent(0); ++map)
        for (std::int64_t i = 0; i < std::ssize(pixels); ++i)
            values(map, i) = maps(map, pixels[static_cast<std::size_t>(i)]);
    return {Grid(rings), std::move(values)};
}

std::vector<double> reference_of(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                 const std::vector<double>& map) {
    std::vector<double> out(static_cast<std::size_t>(grid_out.n_pixels()), 0.);
    const Points points = filled_points(grid, {map.data(), {1, grid.n_pixels()}});
    reference::convolve(points.grid, kernel, grid_out, points.values.view()[0],
                        {out.data(), {grid_out.n_pixels()}});
    return out;
}

void expect_reference(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                      const std::vector<double>& map, double allowed = tolerance) {
    const std::vector<double> expected = reference_of(grid, kernel, grid_out, map);
    EXPECT_LE(test::largest_difference(test::summed_over_pixels(grid, kernel, grid_out, map), expected),
              allowed * test::largest(expected))
        << grid.name() << " to " << grid_out.name() << ", " << kernel.name() << ", support "
        << kernel.support() << ", " << std::ranges::count_if(map, [](double x) { return x != 0; })
        << " filled";
}

// From one pixel in 4, which is never few, over what is few between uneven rings (one in 32) and between
// equal ones (one in 64).
TEST(FewPixels, AreSummedAsAllAre) {
    const Grid healpix = Grid::healpix(16), car = Grid::equidistant_cylindrical(20, 160),
               gauss = Grid::gauss_legendre(15, 150, 1.), any = rings_of_any_length(300);
    for (const auto& [grid, grid_out] :
         {std::pair{healpix, healpix}, std::pair{healpix, Grid::healpix(13)}, std::pair{car, car},
          std::pair{healpix, car}, std::pair{car, healpix}, std::pair{gauss, gauss}, std::pair{any, any},
          std::pair{gauss, any}, std::pair{healpix.subset({3, 4, 5, 6, 40, 41, 55}), healpix},
          std::pair{healpix, healpix.subset({0, 1, 9, 15, 16, 31, 32, 62})},
          std::pair{Grid::clenshaw_curtis(9, 128, 0.3), car}, std::pair{Grid::fejer2(9, 1), gauss}})
        for (const auto& [one_in, support] : {std::pair{4., 0.3}, std::pair{20., 0.3}, std::pair{40., 0.04},
                                              std::pair{70., 0.1}, std::pair{70., 0.3}, std::pair{300., 0.1}})
            expect_reference(grid, kernel_to(support), grid_out,
                             sparse_map(grid, one_in, static_cast<unsigned>(one_in)));
}

TEST(FewPixels, AreSummedOverTheWholeSphere) {
    for (const Grid& grid :
         {Grid::healpix(20), Grid::equidistant_cylindrical(10, 80), rings_of_any_length(200)})
        for (const double support : {2., pi})
            expect_reference(grid, kernel_to(support), grid, sparse_map(grid, 100, 7));
}

TEST(FewPixels, OfOneTwoOrNone) {
    const Grid grid = Grid::healpix(48);
    const std::int64_t last = grid.n_pixels() - 1;
    const RadialKernel gaussian = RadialKernel::gaussian(0.05).truncated(0.12);
    for (const std::int64_t pixel : {std::int64_t{0}, std::int64_t{3000}, last / 2, last - 2000, last})
        expect_reference(grid, gaussian, grid, map_of(grid, {pixel}));
    expect_reference(grid, gaussian, grid, map_of(grid, {last / 2, last / 2 + 1}));
    const std::vector<double> nothing = test::summed_over_pixels(grid, gaussian, grid, map_of(grid, {}));
    EXPECT_TRUE(std::ranges::all_of(nothing, [](double x) { return x == 0; }));
}

TEST(FewPixels, AtTheEdgeOfTheSupportCountAsInside) {
    const Grid grid = Grid::equidistant_cylindrical(36, 72), finer = Grid::equidistant_cylindrical(36, 144);
    // A top hat's weights are right to some tens of eps.
    const double rounding = 200 * eps;
    for (const int pixels : {1, 2, 5, 18, 35})
        for (const auto& [from, to] : {std::pair{grid, grid}, std::pair{grid, finer}, std::pair{finer, grid}})
            expect_reference(from, RadialKernel::top_hat(pixels * pi / 36), to,
                             sparse_map(from, 0.02 * static_cast<double>(from.n_pixels()), 3), rounding);
}

// Rings whose pixels are few beside rings, and parts of rings, whose are not.
TEST(FewPixels, BesideMany) {
    const Grid grid = Grid::healpix(32);
    std::vector<double> map = sparse_map(grid, 200, 1);
    const std::vector<double> many = sparse_map(grid, 2, 2);
    for (const int ring : {10, 25, 26, 40, 63, 64, 100, 120}) {
        const Ring& full = grid.rings()[static_cast<std::size_t>(ring)];
        const std::int64_t n = ring == 63 ? full.n_pixels / 4 : full.n_pixels;
        std::copy_n(many.begin() + full.first_pixel, n, map.begin() + full.first_pixel);
    }
    for (const double support : {0.05, 0.4}) expect_reference(grid, kernel_to(support), grid, map);
}

// What is cut out of a full map is summed with the same weights, tables in HEALPix's caps.
TEST(FewPixels, AreNotThoseOfAFullPart) {
    const Grid grid = Grid::healpix(256);
    const RadialKernel kernel = RadialKernel::gaussian(0.01).truncated(0.02);
    const std::vector<double> full = sparse_map(grid, 1, 2);
    auto options = summed();
    options.accuracy = 1e-4;  // shows where others are taken
    const std::vector<double> expected = test::summed_over_pixels(grid, kernel, grid, full, options);
    for (const int middle : {180, 230, 512}) {
        std::vector<double> part(full.size(), 0.);
        for (int ring = middle - 20; ring <= middle + 20; ++ring)
            std::copy_n(full.begin() + grid.rings()[ring].first_pixel + 30, 20,
                        part.begin() + grid.rings()[ring].first_pixel + 30);
        const std::vector<double> found = test::summed_over_pixels(grid, kernel, grid, part, options);
        const auto pixel = static_cast<std::size_t>(grid.rings()[middle].first_pixel + 40);
        EXPECT_NEAR(found[pixel], expected[pixel], 1e-13 * test::largest(expected)) << middle;
    }
}

TEST(FewPixels, InSinglePrecision) {
    const Grid grid = Grid::healpix(64);
    const RadialKernel kernel = RadialKernel::gaussian(0.04).truncated(0.1);
    std::vector<double> map = sparse_map(grid, 100, 5);
    const std::vector<float> single(map.begin(), map.end());
    map.assign(single.begin(), single.end());
    const std::vector<double> expected = reference_of(grid, kernel, grid, map);
    // some tens of terms whose rounding errors, 6e-8 each, add up at random
    const auto in_single = summed(Precision::float32);
    EXPECT_LT(test::relative_difference(
                  test::summed_over_pixels<float>(grid, kernel, grid, single, in_single), expected),
              5e-7);
    EXPECT_LT(test::relative_difference(test::summed_over_pixels<double>(grid, kernel, grid, map, in_single),
                                        expected),
              5e-7);
    // the output's rounding after each of two stages
    EXPECT_LT(
        test::relative_difference(test::summed_over_pixels<float>(grid, kernel, grid, single), expected),
        1.3e-7);
}

TEST(FewPixels, DoNotDependOnThreadsOrOnTheBatch) {
    const Grid grid = Grid::healpix(40);
    const RadialKernel kernel = kernel_to(0.15);
    std::vector<double> maps;
    const double one_in[] = {1, 200, 70, 33, 3, 1e9, 40};
    for (const double each : one_in) {
        const std::vector<double> map = sparse_map(grid, each, static_cast<unsigned>(each));
        maps.insert(maps.end(), map.begin(), map.end());
    }
    const std::vector<double> batch =
        test::summed_over_pixels(grid, kernel, grid, maps, summed(Precision::float64, 5));
    const auto n = static_cast<std::size_t>(grid.n_pixels());
    for (std::size_t map = 0; map < std::size(one_in); ++map) {
        const auto first = maps.begin() + static_cast<std::ptrdiff_t>(map * n);
        const std::vector<double> one(first, first + static_cast<std::ptrdiff_t>(n));
        EXPECT_TRUE(std::ranges::equal(
            test::summed_over_pixels(grid, kernel, grid, one, summed(Precision::float64, 1)),
            std::span(batch).subspan(map * n, n)))
            << "one in " << one_in[map];
    }
}

TEST(FewPixels, ThatAreNoNumbersShowWithinTheSupport) {
    const Grid grid = Grid::healpix(32);
    const RadialKernel kernel = RadialKernel::top_hat(0.1), wider = RadialKernel::top_hat(0.2);
    const std::int64_t n = grid.n_pixels();
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        for (const std::int64_t pixel : {std::int64_t{700}, n / 2, n - 300}) {
            std::vector<double> map = map_of(grid, {});
            map[static_cast<std::size_t>(pixel)] = 1;
            const std::vector<double> inside = test::summed_over_pixels(grid, kernel, grid, map),
                                      near = test::summed_over_pixels(grid, wider, grid, map);
            map[static_cast<std::size_t>(pixel)] = bad;
            const std::vector<double> out = test::summed_over_pixels(grid, kernel, grid, map);
            for (std::size_t k = 0; k < out.size(); ++k) {
                EXPECT_TRUE(inside[k] == 0 || !std::isfinite(out[k])) << k;
                EXPECT_TRUE(near[k] != 0 || out[k] == 0) << k;
            }
        }
}

TEST(FewPixels, OfPolarizationAreTheDirectSum) {
    const PolarizationKernel kernel =
        PolarizationKernel(test::random_windows(40, 4), test::random_windows(40, 5)).truncated(0.3);
    const Grid healpix = Grid::healpix(20), gauss = Grid::gauss_legendre(12, 130, 0.2);
    for (const auto& [grid, grid_out] : {std::pair{healpix, healpix}, std::pair{gauss, gauss},
                                         std::pair{gauss, healpix}, std::pair{healpix, gauss}})
        for (const double one_in : {20., 80., 400.}) {
            test::Maps maps({1, 2, grid.n_pixels()});
            for (int c = 0; c < 2; ++c) {
                const std::vector<double> map = sparse_map(grid, one_in, static_cast<unsigned>(one_in) + c);
                std::copy(map.begin(), map.end(), &maps(0, c, 0));
            }
            test::Maps direct({1, 2, grid_out.n_pixels()});
            const Points points = filled_points(grid, std::as_const(maps).view()[0]);
            reference::convolve(points.grid, kernel, grid_out, points.values.view(), direct.view()[0]);
            EXPECT_LT(
                test::relative_difference(test::convolved(grid, kernel, grid_out, maps, summed()), direct),
                tolerance)
                << grid.name() << " to " << grid_out.name() << ", one in " << one_in;
            Array<float, 3> single({1, 2, grid.n_pixels()});
            std::copy(maps.begin(), maps.end(), single.begin());
            EXPECT_LT(test::relative_difference(
                          test::convolved<float>(grid, kernel, grid_out, single, summed(Precision::float32)),
                          direct),
                      2e-6);  // single precision's rounding, and that of the map
        }
}

TEST(FewPixels, WithCountsKeepThem) {
    const Grid grid = Grid::healpix(64), car = Grid::equidistant_cylindrical(40, 160);
    const RadialKernel kernel = RadialKernel::gaussian(0.06).truncated(0.15);
    for (const auto& grids : {std::pair{grid, grid}, std::pair{grid, car}, std::pair{car, grid}}) {
        const Grid &from = grids.first, &to = grids.second;
        const CountConvolutionPlan plan(from, kernel, to, summed());
        std::vector<double> counts = sparse_map(from, 150, 4);
        for (double& count : counts) count = std::ceil(std::abs(count));
        const std::vector<double> few = counts;
        std::vector<double> out(static_cast<std::size_t>(to.n_pixels()));
        const auto convolve = [&] {
            plan.convolve<double>(View<const double, 2>(counts.data(), {1, from.n_pixels()}),
                                  View<double, 2>(out.data(), {1, to.n_pixels()}));
            return std::accumulate(out.begin(), out.end(), 0.) /
                   std::accumulate(counts.begin(), counts.end(), 0.);
        };
        EXPECT_NEAR(convolve(), 1, 1e-13);  // the sum of some hundreds of weights each, and of 5e4 pixels
        const std::vector<double> of_few = out;
        // The same spread by the sums of all columns
        const auto& all = plan.column_sums();
        for (std::size_t k = 0; k < counts.size(); ++k) counts[k] /= all[k];
        std::vector<Ring> rings = from.rings();
        for (Ring& ring : rings) ring.weight = 1;
        EXPECT_LT(test::relative_difference(
                      of_few, test::summed_over_pixels(Grid(rings, from.n_pixels(), from.name()), kernel, to,
                                                       counts)),
                  tolerance);
        // Beside as many counts as make sums of all columns worth while
        counts = sparse_map(from, 3, 5);
        for (std::size_t k = 0; k < counts.size(); ++k) counts[k] = std::abs(counts[k]) + few[k];
        EXPECT_NEAR(convolve(), 1, 1e-13);
    }
}

TEST(FewPixels, ReportProgressAndStop) {
    const Grid grid = Grid::healpix(64);
    const std::vector<double> map = sparse_map(grid, 100, 1);
    const PixelConvolutionPlan plan(grid, kernel_to(2), grid, summed());
    std::vector<double> out(map.size()), done;
    const View<const double, 2> in(map.data(), {1, grid.n_pixels()});
    const View<double, 2> view(out.data(), {1, grid.n_pixels()});
    plan.convolve<double>(in, view, [&](double share) {
        done.push_back(share);
        return true;
    });
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_LE(done.back(), 1);
    EXPECT_THROW(plan.convolve<double>(in, view, [](double share) { return share < 0.6; }), Cancelled);
    // The check is asked after 50 ms, which is longer than all of this takes on a fast machine.
    const InterruptionCheck check([] { return true; });
    const auto wait = [](double) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        return true;
    };
    EXPECT_THROW(plan.convolve<double>(in, view, wait), Cancelled);
}

TEST(FewPixels, AreFoundRingByRing) {
    const Grid grid = Grid::equidistant_cylindrical(4, 1024);
    const auto at = [&](std::int64_t ring, std::int64_t k) {
        return static_cast<std::size_t>(grid.rings()[static_cast<std::size_t>(ring)].first_pixel + k);
    };
    std::vector<float> map(static_cast<std::size_t>(grid.n_pixels()), 0);
    for (int k = 0; k < 16; ++k) map[at(0, 64 * k)] = 1;              // few for all
    for (int k = 0; k < 32; ++k) map[at(1, 30 * k)] = std::nanf("");  // few for weights
    for (int k = 0; k < 16; ++k) map[at(2, 256 + 5 * k)] = 1;         // many in a block
    for (int k = 0; k < 33; ++k) map[at(3, 30 * k)] = 1;              // many
    const radial::SumRings rings(grid);
    const radial::FilledPixels filled(rings, View<const float, 2>(map.data(), {1, grid.n_pixels()}),
                                      radial::few_pixels<double>, 2);
    using radial::PairKind;
    EXPECT_TRUE(filled.any());
    const bool for_filters[] = {true, false, false, false}, for_weights[] = {true, true, false, false};
    for (int ring = 0; ring < 4; ++ring) {
        EXPECT_EQ(filled.are_few(0, ring, PairKind::equal), for_filters[ring]) << ring;
        EXPECT_EQ(filled.are_few(0, ring, PairKind::square), for_weights[ring]) << ring;
        EXPECT_EQ(filled.are_few(0, ring, PairKind::general), for_weights[ring]) << ring;
    }
    EXPECT_TRUE(filled.of(0, 3).empty());
    ASSERT_EQ(filled.of(0, 1).size(), 32);
    EXPECT_EQ(filled.of(0, 1)[31], 930);
}

}  // namespace
}  // namespace zonal
