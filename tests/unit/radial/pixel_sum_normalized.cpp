#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "radial/reference.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/normalized_convolution.hpp"

namespace zonal {
namespace {

PixelConvolutionOptions pixel_sum(Precision precision = Precision::float64) {
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.device = Device::cpu();
    options.precision = precision;
    return options;
}

template <class T>
std::vector<T> random_map(const Grid& grid, unsigned seed) {
    std::mt19937 generator(seed);
    std::poisson_distribution<int> counts(3.);
    std::vector<T> map(static_cast<std::size_t>(grid.n_pixels()));
    for (T& pixel : map) pixel = static_cast<T>(counts(generator));
    return map;
}

template <class T>
View<const T, 2> one_map(const std::vector<T>& map) {
    return {map.data(), {1, static_cast<std::int64_t>(map.size())}};
}
template <class T>
View<T, 2> one_map(std::vector<T>& map) {
    return {map.data(), {1, static_cast<std::int64_t>(map.size())}};
}
template <class T>
View<const T, 1> pixels(const std::vector<T>& map) {
    return {map.data(), {static_cast<std::int64_t>(map.size())}};
}

RadialKernel compact_kernel() {
    return RadialKernel::gaussian(0.2).truncated(0.5);
}

/// The northern half and a few pixels beyond are known.
std::vector<double> partial_mask(const Grid& grid) {
    std::vector<double> mask(static_cast<std::size_t>(grid.n_pixels()), 0.);
    std::fill(mask.begin(), mask.begin() + grid.n_pixels() / 2 + 7, 1.);
    mask[3] = 0;
    mask[40] = 0.25;
    return mask;
}

TEST(MaskedConvolution, IsTheRatioOfDirectSums) {
    const Grid grid = Grid::healpix(8);
    const PixelConvolutionPlan plan(grid, compact_kernel(), grid, pixel_sum());
    const std::vector<double> mask = partial_mask(grid);
    std::vector<double> map = random_map<double>(grid, 1), out(map.size()), masked(map.size());
    for (std::size_t k = 0; k < map.size(); ++k) masked[k] = mask[k] * map[k];
    const auto sums = [&](const std::vector<double>& from) {
        std::vector<double> to(from.size());
        reference::convolve(grid, compact_kernel(), grid, pixels(from),
                            View<double, 1>(to.data(), {grid.n_pixels()}));
        return to;
    };
    const std::vector<double> numerator = sums(masked), denominator = sums(mask);
    const std::vector<double> all = sums(std::vector<double>(map.size(), 1.));
    for (std::size_t k = 0; k < map.size(); ++k)
        if (mask[k] == 0) map[k] = k % 2 == 0 ? unseen_value : std::numeric_limits<double>::quiet_NaN();
    convolve_masked<double>(plan, one_map(std::as_const(map)), pixels(mask), one_map(out), 0.3);
    std::int64_t n_unseen = 0;
    for (std::size_t k = 0; k < map.size(); ++k) {
        if (denominator[k] < 0.3 * all[k]) {
            EXPECT_EQ(out[k], unseen_value) << k;
            ++n_unseen;
        } else {
            EXPECT_NEAR(out[k], numerator[k] / denominator[k], 1e-10) << k;
        }
    }
    EXPECT_GT(n_unseen, 100);
}

TEST(MaskedConvolution, OfAKernelTimesMinusOneIsTheSame) {
    const Grid grid = Grid::healpix(8);
    const auto mask = partial_mask(grid);
    const auto map = random_map<double>(grid, 1);
    std::vector<double> out(map.size()), of_negative(map.size());
    const PixelConvolutionPlan plan(grid, compact_kernel(), grid, pixel_sum()),
        negative(grid, compact_kernel().scaled(-1), grid, pixel_sum());
    convolve_masked<double>(plan, one_map(map), pixels(mask), one_map(out), 0.3);
    convolve_masked<double>(negative, one_map(map), pixels(mask), one_map(of_negative), 0.3);
    EXPECT_EQ(of_negative, out);
}

TEST(MaskedConvolution, KeepsAConstantOutOfSinglePrecisionToo) {
    const Grid grid = Grid::equidistant_cylindrical(24, 48);
    const PixelConvolutionPlan plan(grid, compact_kernel(), grid, pixel_sum(Precision::float32));
    const std::vector<double> mask = partial_mask(grid);
    const std::vector<float> single_mask(mask.begin(), mask.end()), map(mask.size(), 7.F);
    std::vector<float> out(mask.size());
    convolve_masked<float>(plan, one_map(map), pixels(single_mask), one_map(out), 1e-3);
    for (const float pixel : out) {
        if (!is_unseen_value(pixel)) {
            EXPECT_NEAR(pixel, 7, 2e-5);  // rounding of two sums
        }
    }
}

TEST(MaskedConvolution, RejectsMasksAndSharesOutOfRange) {
    const Grid grid = Grid::healpix(2);
    const PixelConvolutionPlan plan(grid, compact_kernel(), grid, pixel_sum());
    std::vector<double> map(48, 1.), out(48), mask(48, 1.);
    const auto call = [&](double share) {
        convolve_masked<double>(plan, one_map(std::as_const(map)), pixels(mask), one_map(out), share);
    };
    EXPECT_THROW(call(0), InvalidArgument);
    EXPECT_THROW(call(1.1), InvalidArgument);
    for (const double share : {1.5, std::nextafter(1.0, 2.0), -std::numeric_limits<double>::min()}) {
        mask[5] = share;
        EXPECT_THROW(call(0.5), InvalidArgument);
    }
    mask[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(call(0.5), InvalidArgument);
    mask.resize(47);
    EXPECT_THROW(call(0.5), InvalidArgument);
}

template <class T>
void expect_counts_conserved(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                             const PixelConvolutionOptions& options, double tolerance) {
    const CountConvolutionPlan plan(grid, kernel, grid_out, options);
    const std::vector<T> counts = random_map<T>(grid, 2);
    std::vector<T> out(static_cast<std::size_t>(grid_out.n_pixels()), T(0));
    plan.convolve<T>(one_map(counts), one_map(out));
    const double before = std::accumulate(counts.begin(), counts.end(), 0.);
    EXPECT_NEAR(std::accumulate(out.begin(), out.end(), 0.) / before, 1, tolerance)
        << grid.name() << " to " << grid_out.name();
}

TEST(CountConvolution, ConservesCountsToRounding) {
    const Grid healpix = Grid::healpix(32), car = Grid::equidistant_cylindrical(30, 60);
    const RadialKernel kernel = RadialKernel::gaussian(0.06).truncated(0.15);
    for (const auto& [grid, grid_out] : {std::pair{healpix, healpix}, std::pair{car, car},
                                         std::pair{healpix, car}, std::pair{car, healpix}}) {
        // the sum of 300 weights each, and of 1e4 pixels
        expect_counts_conserved<double>(grid, kernel, grid_out, pixel_sum(), 1e-13);
        // single precision's errors, 6e-8 each, average out over pixels
        expect_counts_conserved<float>(grid, kernel, grid_out, pixel_sum(Precision::float32), 1e-7);
    }
    expect_counts_conserved<double>(healpix, RadialKernel::top_hat(0.1), healpix, pixel_sum(), 1e-13);
    PixelConvolutionOptions ring_fft = pixel_sum();
    ring_fft.method = PixelMethod::ring_fft;
    expect_counts_conserved<double>(healpix, kernel, healpix, ring_fft, 1e-11);  // its modes' accuracy
}

TEST(CountConvolution, DividesByTheSumsOfColumns) {
    const Grid grid = Grid::healpix(4), grid_out = Grid::equidistant_cylindrical(9, 18);
    const CountConvolutionPlan plan(grid, compact_kernel(), grid_out, pixel_sum());
    // one count in one pixel: its column
    std::vector<double> counts(static_cast<std::size_t>(grid.n_pixels()), 0.);
    counts[77] = 1;
    std::vector<double> out(static_cast<std::size_t>(grid_out.n_pixels())), column(out.size());
    plan.convolve<double>(one_map(std::as_const(counts)), one_map(out));
    counts[77] = 1 / grid.rings()[0].weight;
    reference::convolve(grid, compact_kernel(), grid_out, pixels(counts),
                        View<double, 1>(column.data(), {grid_out.n_pixels()}));
    const double sum = std::accumulate(column.begin(), column.end(), 0.);
    // Errors of 1e-12 of the largest weight, of either sign, average over some tens of pixels.
    EXPECT_NEAR(plan.column_sums()[77], sum, 4e-13 * sum);
    for (std::size_t k = 0; k < out.size(); ++k) EXPECT_NEAR(out[k], column[k] / sum, 1e-11);
}

TEST(CountConvolution, ColumnSumsOfSinglePrecisionAreInDouble) {
    const Grid grid = Grid::healpix(4);
    const auto single = CountConvolutionPlan(grid, compact_kernel(), grid, pixel_sum(Precision::float32)),
               exact = CountConvolutionPlan(grid, compact_kernel(), grid, pixel_sum());
    EXPECT_EQ(single.column_sums(), exact.column_sums());
}

TEST(CountConvolution, RejectsPixelsThatReachNothing) {
    // Between the output's rings lie input pixels that a narrow kernel does not spread to any of them.
    const Grid grid = Grid::healpix(16), grid_out = Grid::equidistant_cylindrical(9, 18);
    const CountConvolutionPlan plan(grid, RadialKernel::top_hat(0.01), grid_out, pixel_sum());
    std::vector<double> counts(static_cast<std::size_t>(grid.n_pixels()), 0.),
        out(static_cast<std::size_t>(grid_out.n_pixels()));
    const auto convolve = [&] { plan.convolve<double>(one_map(std::as_const(counts)), one_map(out)); };
    EXPECT_NO_THROW(convolve());
    const auto& sums =
        plan.column_sums();  // of which the first that is 0 in a ring of 64 pixels, where one is few
    const auto lost = std::find(sums.begin() + grid.rings()[16].first_pixel, sums.end(), 0.) - sums.begin();
    ASSERT_LT(lost, grid.n_pixels());
    for (const bool are_few : {true, false}) {
        if (are_few)
            counts[static_cast<std::size_t>(lost)] = 1;
        else
            std::fill(counts.begin() + lost, counts.end(), 1.);
        try {
            convolve();
            FAIL() << "accepted";
        } catch (const InvalidArgument& error) {
            EXPECT_THAT(error.what(),
                        testing::HasSubstr(fmt::format("input pixel {}, which holds counts, is 0", lost)));
        }
    }
}

}  // namespace
}  // namespace zonal
