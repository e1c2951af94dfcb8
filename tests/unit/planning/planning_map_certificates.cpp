// What certificates of maps are made of: the rms of what goes in and of what comes out, weights and rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "convolution_helpers.hpp"
#include "planning/certificate/map_certificate.hpp"
#include "sky/sky_part.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/planning/convolution_plan.hpp"

namespace zonal::test {
namespace {

using Rows = Array<double, 2>;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double close = 1e-9;  // of sums and quotients of some numbers

TEST(LargestWeight, IsThatOfRingsAndPixelsAndAtLeastOne) {
    const auto grid = Grid::healpix(1);
    const WholeSky sky(grid);
    const std::vector<double> pixels{0.5, 1.2, 0.9};
    const View<const double, 1> of_pixels(pixels.data(), {3});
    EXPECT_EQ(planning::largest_weight({}, {}, sky), 1);
    EXPECT_EQ(planning::largest_weight({0.5, 0.7, 0.2}, {}, sky), 1);
    EXPECT_EQ(planning::largest_weight({0.5, 1.7, 0.2}, {}, sky), 1.7);
    EXPECT_EQ(planning::largest_weight({1.1, 0.7, 0.2}, of_pixels, sky), 1.2);
}

TEST(ConvolutionCertificates, CountTheWeightsOfTheAnalysis) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(16);
    request.kernel = RadialKernel::gaussian(0.35);
    request.lmax = 38;
    request.reference = ConvolutionReference::continuous;
    request.threads = 1;
    const auto n_pixels = request.grid.n_pixels();
    const auto values = random_map(n_pixels, 3);
    std::vector<double> pixels(values.size(), 1.0);
    pixels[7] = 1.3;
    ConvolutionOptions of_rings, of_pixels;
    of_rings.ring_weights.assign(static_cast<std::size_t>(request.grid.n_rings()), 1.0);
    of_rings.ring_weights[5] = 1.3;
    of_pixels.pixel_weights = View<const double, 1>(pixels.data(), {n_pixels});
    for (const auto& options : {of_rings, of_pixels})
        for (const int iterations : {0, 2}) {
            ConvolutionChoice choice;
            choice.iterations = iterations;
            Rows out({1, n_pixels});
            const auto result = ConvolutionPlan(request, choice, options)
                                    .convolve<double>({values.data(), {1, n_pixels}}, out.view());
            const double expected =
                analysis_norm(request.grid, request.lmax, result.analysis, 1.3);  // times a window of 1
            EXPECT_NEAR(result.certificates.at(0).bound.quadrature / expected, 1, close) << iterations;
        }
}

TEST(ConvolutionCertificates, CountTheRoundingOfWhatIsWritten) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(8);
    request.kernel = RadialKernel::gaussian(0.6);
    request.lmax = 18;
    request.threads = 1;
    const auto values = random_map(768, 3);
    for (const auto reference : {ConvolutionReference::continuous, ConvolutionReference::discrete}) {
        request.reference = reference;
        const bool is_sum = reference == ConvolutionReference::discrete;
        const ConvolutionChoice choice{is_sum ? ConvolutionMethod::pixel_sum : ConvolutionMethod::harmonic};
        const auto of_output = [&](double rounding) {
            ConvolutionOptions options;
            options.output_rounding = rounding;
            Rows out({1, 768});
            return ConvolutionPlan(request, choice, options)
                .convolve<double>({values.data(), {1, 768}}, out.view())
                .certificates.at(0)
                .bound.of_output;
        };
        EXPECT_NEAR(of_output(1e-7) - of_output(0), 1e-7, 1e-15) << is_sum;
    }
}

TEST(MapCertificates, CountTheRoundingOfFloats) {
    const auto grid = Grid::healpix(2);
    const WholeSky sky(grid);
    Array<float, 2> narrow({1, 48});
    Rows wide({1, 48});
    std::fill(narrow.begin(), narrow.end(), 3.0F);
    std::fill(wide.begin(), wide.end(), 3.0);
    ErrorBound bound;
    bound.of_output = 1e-8;
    const auto of_floats =
                   planning::certificates_of<float>(bound, {2.0}, sky, std::as_const(narrow).view(), 1).at(0),
               of_doubles =
                   planning::certificates_of<double>(bound, {2.0}, sky, std::as_const(wide).view(), 1).at(0);
    EXPECT_EQ(of_floats.bound.of_output, 1e-8 + 0x1p-24);
    EXPECT_EQ(of_doubles.bound.of_output, 1e-8);
    EXPECT_NEAR(of_floats.error / (1e-8 + 0x1p-24), 1, 1e-6);
    EXPECT_NEAR(of_doubles.error / 1e-8, 1, 1e-6);
    EXPECT_EQ(of_floats.rms_in, 2);
    EXPECT_NEAR(of_floats.rms_out, 3, close);
    // Of a constant map an offset hides everything.
    EXPECT_EQ(of_doubles.error_of_variations, infinite);
}

TEST(MapCertificates, AreOfTheirOwnRows) {
    const auto grid = Grid::healpix(2);
    const WholeSky sky(grid);
    Rows maps({4, 48});
    for (std::int64_t row = 0; row < 4; ++row)
        for (std::int64_t pixel = 0; pixel < 48; ++pixel)
            maps(row, pixel) = std::pow(10, row) * (5 + (pixel % 2 == 0 ? 1 : -1));
    maps(2, 3) = unseen_value;
    ErrorBound bound;
    bound.cut = 1e-3;
    const auto pairs =
        planning::certificates_of<double>(bound, {1.0, 7.0}, sky, std::as_const(maps).view(), 1);
    ASSERT_EQ(pairs.size(), 2U);
    // 26 is the mean of 5^2 + 1; a pixel counts if both rows have it.
    const double first = std::sqrt(26 * 101.0), second = std::sqrt((24 * 36 + 23 * 16) / 48.0 * 1.01e6);
    EXPECT_NEAR(pairs[0].rms_out / first, 1, close);
    EXPECT_NEAR(pairs[1].rms_out / second, 1, close);
    EXPECT_EQ(pairs[1].rms_in, 7);
    EXPECT_NEAR(pairs[0].error / (1e-3 / (first - 1e-3)), 1, close);
    // Without their means the rows are 1 and 10.
    const double deviation = std::sqrt(101.0);
    EXPECT_NEAR(pairs[0].error_of_variations / (1e-3 / (deviation - 1e-3)), 1, close);
}

TEST(MapCertificates, InputsCountWithTheirFactorsAndRingsWithTheirWeights) {
    const auto grid = Grid::gauss_legendre(4, 6);
    const WholeSky sky(grid);
    const auto values = random_map(3 * grid.n_pixels(), 5);
    std::vector<double> mask, pixels;
    ConvolutionOptions options;
    for (std::int64_t pixel = 0; pixel < grid.n_pixels(); ++pixel) {
        mask.push_back(static_cast<double>(pixel % 3) / 2);
        pixels.push_back(1 + 0.01 * static_cast<double>(pixel));
    }
    options.ring_weights = {1, 2, 3, 4};
    options.pixel_weights = View<const double, 1>(pixels.data(), {grid.n_pixels()});
    const View<const double, 2> maps(values.data(), {3, grid.n_pixels()});
    const auto found =
        planning::rms_of_input<double>(sky, 1, options, maps, {mask.data(), {grid.n_pixels()}}, 1);
    ASSERT_EQ(found.size(), 3U);
    for (std::int64_t row = 0; row < 3; ++row) {
        double sum = 0;
        for (std::size_t r = 0; r < 4; ++r)
            for (std::int64_t p = grid.rings()[r].first_pixel; p < grid.rings()[r].first_pixel + 6; ++p)
                sum += grid.rings()[r].weight *
                       std::pow(maps(row, p) * mask[p] * pixels[p] * options.ring_weights[r], 2);
        EXPECT_NEAR(found[row] / std::sqrt(sum / (4 * std::numbers::pi)), 1, close);
    }
}

TEST(MapCertificates, TheLargestErrorAndTheSmallestGainAreOfAllMaps) {
    const std::vector<Certificate> all{{1e-3, 0, 2, 1}, {1e-2, 0, 0, 0}, {1e-4, 0, 4, 1}};
    EXPECT_EQ(planning::largest_error(all), 1e-2);
    EXPECT_EQ(planning::smallest_gain(all), 0.25);
    EXPECT_EQ(planning::largest_error({{1e-3}, {std::nan("")}}), infinite);
    EXPECT_EQ(planning::smallest_gain({}), infinite);
}

}  // namespace
}  // namespace zonal::test
