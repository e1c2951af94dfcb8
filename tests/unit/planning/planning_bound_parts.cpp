// What every part of a bound counts, against the formulas of docs/decisions/certificate.md. Maps seldom come
// near a bound, so that comparing it with their errors would not tell that a part is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "convolution_helpers.hpp"
#include "planning/certificate/rounding_bound.hpp"
#include "planning/certificate/window_norms.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal::test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double close = 1e-9;  // of sums and quotients of a few numbers, and of errors of 1e-12

ConvolutionRequest request_of(ConvolutionReference reference, double fwhm = 0.35, std::int64_t lmax = 38) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(16);
    request.kernel = RadialKernel::gaussian(fwhm);
    request.lmax = lmax;
    request.reference = reference;
    request.threads = 1;
    return request;
}

ConvolutionOptions renormalizing(double threshold) {
    ConvolutionOptions options;
    options.mask.mode = MaskMode::renormalize;
    options.mask.threshold = threshold;
    return options;
}

TEST(AnalysisNormParts, GrowWithTheRootOfTheLargestWeight) {
    // |f| in the analysis's weights is up to their root larger than in the grid's.
    const auto grid = Grid::healpix(16);
    AnalysisReport none, moved, solved;
    moved.iterations = 2;
    moved.last_update = 1e-3;
    solved.residual = 1e-4;
    for (const auto& report : {none, moved, solved})
        for (const std::int64_t lmax : {16, 38}) {
            const double one = analysis_norm(grid, lmax, report);
            EXPECT_GT(one, 0);
            EXPECT_NEAR(analysis_norm(grid, lmax, report, 4) / one, 2, close);
        }
    // The formulas in the comment before the function.
    const double least = smallest_eigenvalue(grid, 38), most = largest_eigenvalue(grid, 38),
                 away = std::max(1 - least, most - 1), step = away * 1e-3 / least;
    EXPECT_NEAR(analysis_norm(grid, 38, none) / (std::sqrt(most / least) * away), 1, close);
    EXPECT_NEAR(analysis_norm(grid, 38, none) / analysis_norm(grid, 38, 0), 1, close);
    EXPECT_NEAR(analysis_norm(grid, 38, moved) / (std::sqrt(most / least) * step / (1 - step)), 1, close);
    EXPECT_NEAR(analysis_norm(grid, 38, solved) / (most * 1e-4 / least), 1, close);
    moved.last_update = 0.9 * least / away;
    EXPECT_TRUE(std::isfinite(analysis_norm(grid, 38, moved)));
    moved.last_update = 1.1 * least / away;
    EXPECT_EQ(analysis_norm(grid, 38, moved), infinite);
    for (double AnalysisReport::*part : {&AnalysisReport::residual, &AnalysisReport::last_update}) {
        AnalysisReport unknown;
        unknown.*part = std::nan("");
        EXPECT_EQ(analysis_norm(grid, 38, unknown), infinite);
    }
}

TEST(BoundParts, OfSumsCountTablesSeriesAndRounding) {
    const auto request = request_of(ConvolutionReference::discrete);
    const KernelNorms norms(request.grid, request.kernel);
    const double accuracy = 1e-6, of_values = norms.table(1e-13), whole = norms.whole();
    for (const auto precision : {Precision::float32, Precision::float64}) {
        const ConvolutionChoice sum{ConvolutionMethod::pixel_sum, Device::cpu(), precision, 0, accuracy},
            rings{ConvolutionMethod::ring_fft, Device::cpu(), precision, 0, accuracy};
        const auto of_sum = bound_of(request, sum), of_rings = bound_of(request, rings);
        EXPECT_NEAR(of_sum.accuracy / (norms.table(accuracy) + of_values), 1, close);
        // Tables get a tenth of it, and the series over longitude twelve times.
        EXPECT_NEAR(of_rings.accuracy / (norms.table(0.1 * accuracy) + of_values + 12 * accuracy * whole), 1,
                    close);
        for (const auto& [choice, bound] : {std::pair{sum, of_sum}, {rings, of_rings}}) {
            const auto rounding = planning::rounding_of_sums(request, choice, norms);
            EXPECT_NEAR(bound.rounding / (rounding.input * whole), 1, close);
            EXPECT_EQ(bound.of_output, rounding.output);
            EXPECT_EQ(bound.cut, 0);
        }
    }
}

TEST(BoundParts, OfHarmonicSpaceCountTheEigenvaluesOfBothGrids) {
    auto request = request_of(ConvolutionReference::continuous);
    request.kernel = request.kernel.scaled(3);
    const double in = largest_eigenvalue(request.grid, 38);
    for (const std::int64_t nside : {16, 11}) {
        request.grid_out = Grid::healpix(nside);
        const double out = largest_eigenvalue(*request.grid_out, 38);
        ConvolutionChoice choice;
        choice.iterations = 2;
        const auto bound = bound_of(request, choice);
        EXPECT_NEAR(bound.quadrature / (3 * analysis_norm(request.grid, 38, 2) * std::sqrt(out / in)), 1,
                    close);
        EXPECT_NEAR(bound.rounding / (3 * planning::rounding_of_transforms(38, 2) * std::sqrt(out * in)), 1,
                    close);
        AnalysisReport report;
        report.iterations = 4;
        report.last_update = 1e-5;
        const auto after = bound_of(request, choice, {}, report, 1.44);
        EXPECT_NEAR(after.quadrature / (3.6 * analysis_norm(request.grid, 38, report) * std::sqrt(out / in)),
                    1, close);
        EXPECT_NEAR(after.rounding / (3 * planning::rounding_of_transforms(38, 4) * std::sqrt(out * in)), 1,
                    close);
        choice.tolerance = 1e-5;
        report = {};
        report.residual = 1e-5;
        EXPECT_NEAR(bound_of(request, choice).quadrature /
                        (3 * analysis_norm(request.grid, 38, report) * std::sqrt(out / in)),
                    1, close);
    }
}

TEST(QuotientBounds, CountTheErrorsOfNumeratorAndDenominator) {
    // (d - g e) / (K(m) + e), with |d|, |e| <= N of what the cut leaves out; K(m) as seen with this error is
    // at least the threshold times K(1).
    auto request = request_of(ConvolutionReference::discrete, 0.35, 47);
    const double cut = 0.5, threshold = 0.25;
    const ConvolutionChoice choice{ConvolutionMethod::pixel_sum, Device::cpu(), Precision::float64, cut,
                                   1e-13};
    const KernelNorms scalar(request.grid, request.kernel);
    const double error = scalar.beyond(cut), least = threshold * (scalar.least_row_sum() - error) - error;
    ASSERT_GT(least, 0.1);
    const double nearly = 1e-6;  // tables and rounding
    const auto bound = bound_of(request, choice, renormalizing(threshold));
    EXPECT_NEAR(bound.cut / (error / least), 1, nearly);
    EXPECT_NEAR(bound.of_output / (error / least), 1, nearly);
    EXPECT_NEAR(bound.accuracy / (bound_of(request, choice).accuracy / least), 1, nearly);
    EXPECT_NEAR(bound.rounding / (bound_of(request, choice).rounding / least), 1, nearly);
    // Q and U are divided by what the kernel of spin 0 makes of the mask.
    request.polarization = PolarizationKernel::gaussian(0.3);
    const double of_pairs = KernelNorms(request.grid, *request.polarization).beyond(cut);
    const auto pairs = bound_of(request, choice, renormalizing(threshold));
    EXPECT_NEAR(pairs.cut / (of_pairs / least), 1, nearly);
    EXPECT_NEAR(pairs.of_output / (error / least), 1, nearly);
    // No bound where the denominator may vanish.
    EXPECT_EQ(bound_of(request, choice, renormalizing(error / 2)).total(), infinite);
}

TEST(QuotientBounds, OfUncutSinglePrecisionCountRoundingAndTables) {
    const auto request = request_of(ConvolutionReference::discrete, 0.35, 47);
    const ConvolutionChoice choice{ConvolutionMethod::pixel_sum, Device::cpu(), Precision::float32, 0, 1e-5};
    const KernelNorms scalar(request.grid, request.kernel);
    const auto plain = bound_of(request, choice), quotient = bound_of(request, choice, renormalizing(0.5));
    // Of a mask, whose values are 1 at most: tables, and rounding of the sum.
    const double error = plain.accuracy + plain.of_output * scalar.whole(),
                 least = 0.5 * (scalar.least_row_sum() - error) - error;
    EXPECT_NEAR(quotient.of_output / (plain.of_output + error / least), 1, close);
}

TEST(QuotientBounds, InHarmonicSpaceCountTheDenominatorInEveryPixel) {
    // A function of degrees up to lmax is at most lmax + 1 times its rms.
    const auto request = request_of(ConvolutionReference::continuous);
    ConvolutionChoice choice;
    choice.tolerance = 1e-8;
    const auto plain = bound_of(request, choice);
    for (const double threshold : {0.1, 0.5}) {
        const auto bound = bound_of(request, choice, renormalizing(threshold));
        const double in_pixels = static_cast<double>(request.lmax + 1) * plain.total();
        EXPECT_GE(bound.of_output, in_pixels / threshold);
        EXPECT_LE(bound.of_output, 1.5 * in_pixels / threshold);
        EXPECT_GE(bound.quadrature, plain.quadrature / threshold);
        EXPECT_LE(bound.quadrature, plain.quadrature / threshold * (1 + 1e-3));
    }
    auto other = request;
    other.kernel = RadialKernel::gaussian(0.35).scaled(2);
    EXPECT_NEAR(bound_of(other, choice, renormalizing(0.5)).quadrature,
                bound_of(request, choice, renormalizing(0.5)).quadrature, 1e-3 * plain.quadrature);
    choice.tolerance = 0.1;
    EXPECT_EQ(bound_of(request, choice, renormalizing(0.1)).total(), infinite);
}

TEST(CountBounds, CountWhatTheColumnSumsErrBy) {
    // K f / c: the error of K, and K times the error of 1 / c.
    const auto request = request_of(ConvolutionReference::discrete, 0.35, 47);
    const ConvolutionChoice choice{ConvolutionMethod::pixel_sum, Device::cpu(), Precision::float64, 0.5,
                                   1e-13};
    ConvolutionOptions options;
    options.keep_counts = true;
    const KernelNorms norms(request.grid, request.kernel);
    const double error = norms.beyond(0.5), least = norms.least_row_sum() - error;
    const auto bound = bound_of(request, choice, options);
    EXPECT_NEAR(bound.cut / ((error + norms.whole() * error / least) / least), 1, 1e-6);
    EXPECT_EQ(bound.of_output, bound_of(request, choice).of_output);
}

TEST(RoundingModel, IsAboveWhatWasMeasured) {
    // docs/decisions/certificate.md, constant maps: sigma in pixels, measured and modelled in eps of the
    // output. The input's rounding is 3 eps N, which is 3 here.
    const double pixel = std::sqrt(std::numbers::pi / 3) / 256;
    for (const auto& [sigma, measured, model] :
         {std::tuple{0.8, 2.4, 5.0}, {2.0, 4.4, 11.0}, {5.0, 19.0, 43.0}, {20.0, 316.0, 632.0}}) {
        const auto kernel = RadialKernel::gaussian(sigma * pixel * std::sqrt(8 * std::log(2.0)));
        auto request = request_of(ConvolutionReference::discrete);
        request.grid = Grid::healpix(256);
        request.kernel = kernel;
        const KernelNorms norms(request.grid, kernel);
        for (const auto& [precision, eps] :
             {std::pair{Precision::float32, 0x1p-24}, {Precision::float64, 0x1p-53}}) {
            const auto sums = planning::rounding_of_sums(
                request, {ConvolutionMethod::pixel_sum, Device::cpu(), precision}, norms);
            EXPECT_NEAR(sums.input / eps, 3, close);
            EXPECT_NEAR((sums.input + sums.output) / eps / model, 1, 0.2) << sigma;
            EXPECT_GE((sums.input + sums.output) / eps, 1.5 * measured) << sigma;
            // A kernel that has faded is summed by its modes alone, which lose 8 eps.
            const auto rings = planning::rounding_of_sums(
                request, {ConvolutionMethod::ring_fft, Device::cpu(), precision, 0, 1e-6}, norms);
            EXPECT_NEAR(rings.output / eps, 8, close);
            const auto split = planning::rounding_of_sums(
                request, {ConvolutionMethod::split, Device::cpu(), precision, sigma * pixel, 1e-6}, norms);
            EXPECT_EQ(split.output, rings.output);  // its spline fades, wherever it ends
            const auto hard = planning::rounding_of_sums(
                request, {ConvolutionMethod::ring_fft, Device::cpu(), precision, sigma * pixel, 1e-6}, norms);
            EXPECT_EQ(hard.output, sums.output);
        }
    }
    // Transforms: 5 + 20 sqrt(lmax) + lmax / 2.
    for (const auto& [lmax, measured, model] : {std::tuple<std::int64_t, double, double>{4, 9, 47},
                                                {14, 14, 87},
                                                {28, 46, 125},
                                                {47, 75, 166},
                                                {1117, 424, 1232}}) {
        const double eps = planning::rounding_of_transforms(lmax, 0) / 0x1p-53;
        EXPECT_NEAR(eps, model, 1);
        EXPECT_GE(eps, 1.6 * measured);
        EXPECT_NEAR(planning::rounding_of_transforms(lmax, 3) / 0x1p-53, 4 * eps, 1e-9);
    }
}

TEST(WindowNorms, AreOfTheDegreesFromEachOn) {
    const planning::Windows windows{{1, -3, 2, 0.5}, {0, 1, -2.5}};
    EXPECT_EQ(planning::largest_of(windows), 3);
    EXPECT_EQ(planning::largest_of(windows, 2), 2.5);
    EXPECT_EQ(planning::largest_of(windows, 0, 0), 1);
    EXPECT_EQ(planning::largest_of(windows, -3, 1), 3);
    EXPECT_EQ(planning::largest_of(windows, 3, 9), 0.5);
    EXPECT_EQ(planning::largest_of(windows, 4), 0);
    // Where quadrature is exact, the norm is the largest value.
    const auto norms = planning::window_norms_from(Grid::gauss_legendre(8, 16), windows);
    const double expected[] = {3, 3, 2.5, 0.5, 0};
    ASSERT_EQ(norms.size(), 5U);
    for (std::size_t l = 0; l < 5; ++l) EXPECT_NEAR(norms[l], expected[l], 1e-8) << l;
    // Above what HEALPix resolves they grow with the eigenvalues, of which one serves 5 % of the degrees.
    std::vector<double> high(49);
    high[48] = 2;
    const auto grid = Grid::healpix(16);
    EXPECT_NEAR(window_norm(grid, {high}), 2 * largest_eigenvalue(grid, 48), close);
    high[20] = -3;
    EXPECT_NEAR(window_norm(grid, {high}), 2 * largest_eigenvalue(grid, 48) + largest_eigenvalue(grid, 20),
                close);
}

TEST(WindowNorms, TheLastDegreeIsWhereATenthOfTheErrorIsLeft) {
    std::vector<double> window;
    for (int l = 0; l <= 60; ++l) window.push_back(4 * std::pow(10, -l / 10.0));
    EXPECT_EQ(planning::last_degree({window}, 1.001e-3, 60), 39);
    EXPECT_EQ(planning::last_degree({window}, 0.999e-3, 60), 40);
    EXPECT_EQ(planning::last_degree({window}, 1e-9, 50), 50);
    EXPECT_EQ(planning::last_degree({{1, 0, 0, 0}}, 1e-3, 3), 2);
    auto negative = window;
    for (double& value : negative) value = -value;
    EXPECT_EQ(planning::last_degree({{1}, negative}, 1.001e-3, 60), 39);
}

TEST(GainOfNoise, IsALittleLessThanTheTrueOne) {
    constexpr double margin = 0.98;
    auto request = request_of(ConvolutionReference::continuous);
    double power = 0;
    const auto window = request.kernel.window(38);
    for (std::size_t l = 0; l < window.size(); ++l)
        power += (2 * static_cast<double>(l) + 1) * window[l] * window[l];
    const double gain = margin * std::sqrt(power / 3072);
    EXPECT_NEAR(gain_of_noise(request) / gain, 1, close);
    EXPECT_NEAR(gain_of_noise(request, renormalizing(0.5)) / gain, 1, close);
    // Sums of the same kernel, which has faded below lmax, leave the same.
    request.reference = ConvolutionReference::discrete;
    EXPECT_NEAR(gain_of_noise(request) / gain, 1, 1e-2);
    const KernelNorms norms(request.grid, request.kernel);
    EXPECT_NEAR(gain_of_noise(request, renormalizing(0.5)) / (gain / norms.least_row_sum()), 1, 1e-2);
    // At most the margin, however large it is.
    request.kernel = RadialKernel::gaussian(0.02).scaled(30);
    EXPECT_EQ(gain_of_noise(request, renormalizing(0.5)), margin);
}

TEST(EffectiveGain, IsSmallerByWhatTheDenominatorsAdd) {
    auto request = request_of(ConvolutionReference::discrete);
    const KernelNorms norms(request.grid, request.kernel);
    const double row = norms.least_row_sum(), gain = 0.2;
    EXPECT_EQ(effective_gain(request, {}, gain), gain);
    EXPECT_NEAR(effective_gain(request, renormalizing(0.25), gain) / (0.25 * row * gain / (1 + gain)), 1,
                close);
    ConvolutionOptions counts;
    counts.keep_counts = true;
    // N of a Gaussian is a little above 1.
    EXPECT_GE(effective_gain(request, counts, gain), gain * row / (1 + norms.whole() / row) * (1 - close));
    EXPECT_LE(effective_gain(request, counts, gain), gain * row / (1 + 1 / row));
    request.reference = ConvolutionReference::continuous;
    EXPECT_NEAR(
        effective_gain(request, renormalizing(0.25), gain) / (0.25 * gain / (1 + std::sqrt(2.0) * 39 * gain)),
        1, close);
}

}  // namespace
}  // namespace zonal::test
