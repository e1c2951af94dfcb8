// What the direct stage of the pixel sum does for each pixel on CUDA, done here, against the CPU's pixel sum.
#include <gtest/gtest.h>

#include <limits>

#include "convolution_helpers.hpp"
#include "polarization_helpers.hpp"
#include "radial/pixel_sum/cuda_tables.hpp"

namespace zonal::radial::cuda {
namespace {

using test::degree;
using test::Maps;
using test::random_windows;

// Weights right to 1e-12 of the largest on either side, and by the same tables, which a kernel's values at
// slightly different angles share.
constexpr double tolerance = 1e-12;
// Where the angles are the same: the sums of a few values.
constexpr double rounding = 20 * std::numeric_limits<double>::epsilon();
// Some tens of roundings of 6e-8 with random signs.
constexpr double single_tolerance = 1e-6;
// Accuracy of the kernels' tables.
constexpr double accuracy = 1e-12;

/// Every pair of rings within the support.
DirectPairs all_pairs(const PixelSumSchedule& schedule) {
    DirectPairs pairs;
    for (std::int64_t output = 0; output < schedule.outputs().size(); ++output)
        for (const PairKind kind : {PairKind::equal, PairKind::square, PairKind::general})
            for (const std::int64_t input : schedule.near(output, kind)) pairs.emplace_back(output, input);
    return pairs;
}

template <class T, int components>
KernelTables<T, components> tables_of(const SumKernel& kernel) {
    KernelTables<T, components> tables{};
    for (int part = 0; part < components; ++part) {
        const auto& table = (part == 0 ? kernel.plus() : kernel.minus()).table;
        if (table) tables.part[part] = table->template view<T>();
    }
    return tables;
}

/// One map by the direct stage, a call for each thread of its kernel; what is not set before is set to 7.
template <class T, int components>
Array<double, 2> summed(const PixelSumSchedule& schedule, const DirectTables& tables,
                        View<const double, 2> map, std::int64_t n_pixels_out) {
    Array<double, 2> out({components, n_pixels_out});
    std::fill(out.begin(), out.end(), 7.);
    for (std::int64_t output = 0; output < schedule.outputs().size(); ++output) {
        if (components == 2 && schedule.is_alone(output)) continue;
        const SumRing& ring = schedule.outputs()[output];
        for (int c = 0; c < components; ++c)
            std::fill_n(out.data() + c * n_pixels_out + ring.first_pixel, ring.n_pixels, 0.);
    }
    const DirectView<T, components> view{tables.rings.data(), tables.pairs.data(),
                                         tables_of<T, components>(schedule.kernel())};
    for (const CudaTask& task : tables.tasks) {
        const DirectRing& ring = tables.rings[static_cast<std::size_t>(task.index)];
        const std::int64_t end = ring.side[0].n_pixels / ring.n_turns;
        for (std::int64_t k = task.first; k < std::min(end, task.first + direct_threads); ++k)
            sum_pixel<T, components, double>(view, ring, k, {map.data(), map.extent(1)},
                                             {out.data(), n_pixels_out});
    }
    return out;
}

/// The largest difference from the CPU's sum, of its largest value.
template <class T>
double error_of(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out) {
    const PixelSumSchedule schedule(grid, SumKernel(kernel.plus(), kernel.minus(), accuracy), grid_out,
                                    accuracy);
    const Maps maps = test::random_maps(1, grid, 5);
    Maps expected({1, 2, grid_out.n_pixels()});
    std::fill(expected.begin(), expected.end(), 7.);
    PolarizationConvolutionPlan(grid, kernel, grid_out, test::options_of(PixelMethod::pixel_sum))
        .convolve<double>(maps.view(), expected.view());
    const DirectTables tables = make_direct_tables(schedule, all_pairs(schedule), true);
    return test::relative_difference(
        summed<T, 2>(schedule, tables, std::as_const(maps).view()[0], grid_out.n_pixels()), expected);
}

template <class T>
double error_of(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out) {
    const PixelSumSchedule schedule(grid, SumKernel(kernel, accuracy), grid_out, accuracy);
    const auto map = test::random_map(grid.n_pixels());
    std::vector<double> expected(static_cast<std::size_t>(grid_out.n_pixels()), 7.);
    PixelConvolutionPlan(grid, kernel, grid_out, test::options_of(PixelMethod::pixel_sum))
        .convolve<double>({map.data(), {1, grid.n_pixels()}}, {expected.data(), {1, grid_out.n_pixels()}});
    const DirectTables tables = make_direct_tables(schedule, all_pairs(schedule), false);
    const auto found =
        summed<T, 1>(schedule, tables, {map.data(), {1, grid.n_pixels()}}, grid_out.n_pixels());
    return test::relative_difference(found, expected);
}

std::vector<Grid> grids() {
    return {Grid::healpix(8), Grid::gauss_legendre(14, 29, 0.2), Grid::clenshaw_curtis(13, 20),
            Grid::equidistant_cylindrical(12, 22), test::rings_at_any_longitude()};
}

/// Of one window and of two, of E alone, K- alone; with supports from some pixels to the sphere.
std::vector<PolarizationKernel> kernels() {
    const auto e = random_windows(14, 1), b = random_windows(11, 2);
    std::vector<double> opposite;
    for (const double value : e) opposite.push_back(-value);
    return {PolarizationKernel::gaussian(8 * degree).truncated(17.3 * degree), PolarizationKernel(e, b),
            PolarizationKernel(e, {}).truncated(1.), PolarizationKernel(e, opposite).truncated(2.2)};
}

TEST(DirectPixelSum, OfQAndUIsTheCpusBetweenAnyGrids) {
    for (const PolarizationKernel& kernel : kernels())
        for (const Grid& grid : grids())
            for (const Grid& grid_out : grids())
                EXPECT_LT(error_of<double>(grid, kernel, grid_out), tolerance)
                    << grid.name() << " to " << grid_out.name() << ", support " << kernel.support();
}

TEST(DirectPixelSum, OfOneFieldIsTheCpusBetweenAnyGrids) {
    for (const double support : {0.3, 1.7, std::numbers::pi})
        for (const Grid& grid : grids())
            for (const Grid& grid_out : grids())
                EXPECT_LT(error_of<double>(grid, RadialKernel::gaussian(0.7 * support).truncated(support),
                                           grid_out),
                          tolerance)
                    << grid.name() << " to " << grid_out.name() << ", support " << support;
}

TEST(DirectPixelSum, OfKernelsNarrowerThanAPixelIsTheCpus) {
    for (const Grid& grid : grids()) {
        EXPECT_LT(error_of<double>(grid, PolarizationKernel::gaussian(5 * degree).truncated(degree), grid),
                  rounding)
            << grid.name();
        EXPECT_LT(error_of<double>(grid, RadialKernel::top_hat(degree), grid), rounding) << grid.name();
    }
}

TEST(DirectPixelSum, InSinglePrecisionIsRightToIt) {
    for (const Grid& grid : {Grid::healpix(16), Grid::gauss_legendre(24, 49)})
        for (const PolarizationKernel& kernel : kernels())
            EXPECT_LT(error_of<float>(grid, kernel, grid), single_tolerance)
                << grid.name() << ", support " << kernel.support();
}

TEST(DirectPixelSum, LeavesPixelsOfOtherRings) {
    const Grid grid = Grid::healpix(8), some = grid.subset({0, 1, 6, 12, 13, 15, 25, 30});
    for (const PolarizationKernel& kernel : kernels()) {
        EXPECT_LT(error_of<double>(grid, kernel, some), rounding);
        EXPECT_LT(error_of<double>(some, kernel, grid), tolerance);
    }
}

TEST(DirectPixelSum, SharesWeightsByTurnsAndTheMirror) {
    const auto ring_of = [](const Grid& grid, std::int64_t index) {
        const RadialKernel kernel = RadialKernel::top_hat(0.4);
        const PixelSumSchedule schedule(grid, SumKernel(kernel, accuracy), grid, accuracy);
        return make_direct_tables(schedule, all_pairs(schedule), false)
            .rings[static_cast<std::size_t>(index)];
    };
    const DirectRing cap = ring_of(Grid::healpix(8), 2), equator = ring_of(Grid::healpix(8), 15);
    EXPECT_EQ(cap.n_turns, 4);
    EXPECT_EQ(cap.n_sides, 2);
    EXPECT_EQ(cap.side[1].first_pixel, Grid::healpix(8).rings()[28].first_pixel);
    EXPECT_EQ(equator.n_sides, 1);
    EXPECT_EQ(ring_of(Grid::equidistant_cylindrical(12, 22), 3).n_turns, 2);
    EXPECT_EQ(ring_of(Grid::gauss_legendre(14, 29), 3).n_turns, 1);
}

}  // namespace
}  // namespace zonal::radial::cuda
