// Bounds of requests, part by part, against their formulas: of windows above lmax, of splits, of kernels with
// kinks and of quotients, and how requests are completed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "planning/certificate/rounding_bound.hpp"
#include "planning/certificate/window_norms.hpp"
#include "radial/kernels/chord_table.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/split.hpp"

namespace zonal {
namespace {

using std::numbers::pi;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double close = 1e-9;

ConvolutionRequest request_of(const RadialKernel& kernel,
                              ConvolutionReference reference = ConvolutionReference::discrete) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(16);
    request.kernel = kernel;
    request.lmax = 38;
    request.reference = reference;
    request.gain = 0.1;
    request.threads = 1;
    return request;
}

ConvolutionChoice choice_of(ConvolutionMethod method, double support = 0, double accuracy = 1e-6) {
    return {method, Device::cpu(), Precision::float64, support, accuracy};
}

double largest(const std::vector<double>& values, std::size_t first) {
    double most = 0;
    for (std::size_t l = first; l < values.size(); ++l) most = std::max(most, std::abs(values[l]));
    return most;
}

TEST(RequestBounds, WindowsAboveLmaxAreFollowedAndThenBoundedByTheirLastHalf) {
    // Gaussians that have fallen to 0.8e-3 and to 1.2e-3 at half of the degrees 4 lmax + 64: up to a
    // thousandth what lies beyond is twice the largest of the last half times the eigenvalue there.
    const std::int64_t last = 4 * 38 + 64;
    for (const double left : {0.8e-3, 1.2e-3}) {
        const double half = static_cast<double>(last + 1) / 2;
        const double sigma = std::sqrt(-2 * std::log(left) / (half * (half + 1)));
        const auto request =
            request_of(RadialKernel::gaussian(sigma * std::sqrt(8 * std::log(2.0))).scaled(-3));
        const auto window = request.kernel.window(last);
        const double known = planning::window_norms_from(request.grid, {window})[39] +
                             2 * largest(window, window.size() / 2) * largest_eigenvalue(request.grid, last);
        const double most =
            KernelNorms(request.grid, request.kernel).whole() + 3 * largest_eigenvalue(request.grid, 38);
        const auto bound = bound_of(request, choice_of(ConvolutionMethod::harmonic));
        EXPECT_NEAR(bound.window / (left < 1e-3 ? std::min(known, most) : most), 1, close) << left;
        EXPECT_NE(known<most, left> 1e-3 && known > most);
    }
    // One that ends with a step has no such bound, and the row sums and the transforms' own norm serve.
    const auto hard = request_of(RadialKernel::gaussian(0.4).truncated(0.4));
    EXPECT_NEAR(bound_of(hard, choice_of(ConvolutionMethod::harmonic)).window,
                KernelNorms(hard.grid, hard.kernel).whole() +
                    hard.kernel.window(0)[0] * largest_eigenvalue(hard.grid, 38),
                close);
    // A window that ends has nothing beyond its end, and one that ends before lmax nothing above that.
    std::vector<double> window(60, 0.5);
    window[50] = -0.7;
    const auto ends = request_of(RadialKernel::from_window(window));
    EXPECT_NEAR(bound_of(ends, choice_of(ConvolutionMethod::harmonic)).window,
                planning::window_norms_from(ends.grid, {window})[39], close);
    window.resize(30);
    EXPECT_EQ(bound_of(request_of(RadialKernel::from_window(window)), choice_of(ConvolutionMethod::harmonic))
                  .window,
              0);
    auto higher = choice_of(ConvolutionMethod::harmonic);
    higher.lmax = 55;
    EXPECT_NEAR(bound_of(ends, higher).window,
                planning::window_norms_from(ends.grid, {ends.kernel.window(59)})[56], close);
}

TEST(RequestBounds, NormsOfWindowsThatEndAreTheSmallerOfTheTwo) {
    // One rings, and its window is a closer bound; the other is a Gaussian that N of the profile bounds as
    // well.
    for (const auto& window : {std::vector<double>(17, -1.0), std::vector<double>{0.1, 0.2, 0.3, 0.2, 0.1}}) {
        auto request = request_of(RadialKernel::from_window(window));
        const double norm =
            std::min(KernelNorms(request.grid, request.kernel).whole(), window_norm(request.grid, {window}));
        const auto choice = choice_of(ConvolutionMethod::pixel_sum);
        const auto grows =
            planning::rounding_of_sums(request, choice, KernelNorms(request.grid, request.kernel));
        EXPECT_NEAR(bound_of(request, choice).rounding / (grows.input * norm), 1, close);
        request.lmax = 10;  // does not cut it
        EXPECT_NEAR(bound_of(request, choice).rounding / (grows.input * norm), 1, close);
    }
}

TEST(RequestBounds, CutsEndWhereTheKernelDoes) {
    const auto kernel = RadialKernel::gaussian(0.35).truncated(0.5);
    const auto request = request_of(kernel);
    const KernelNorms norms(request.grid, kernel);
    EXPECT_EQ(bound_of(request, choice_of(ConvolutionMethod::ring_fft, 0.3)).cut, norms.beyond(0.3));
    for (const double support : {0.0, 0.5, 0.7})
        EXPECT_EQ(bound_of(request, choice_of(ConvolutionMethod::ring_fft, support)).cut, 0);
}

TEST(RequestBounds, SumsHaveNoBoundFromTheContinuousReference) {
    const auto request = request_of(RadialKernel::gaussian(0.35), ConvolutionReference::continuous);
    for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft})
        EXPECT_EQ(bound_of(request, choice_of(method)).quadrature, infinite);
    EXPECT_EQ(
        bound_of(request_of(RadialKernel::gaussian(0.35)), choice_of(ConvolutionMethod::ring_fft)).quadrature,
        0);
    // The discrete one is the sum itself, which no analysis is better or worse for.
    const auto discrete = request_of(RadialKernel::gaussian(0.35));
    AnalysisReport report;
    report.residual = 0.1;
    const auto after = bound_of(discrete, choice_of(ConvolutionMethod::harmonic), {}, report, 2),
               before = bound_of(discrete, choice_of(ConvolutionMethod::harmonic));
    EXPECT_EQ(after.total(), before.total());
    EXPECT_GT(before.window, 0);
}

TEST(RequestBounds, TablesOfKernelsWithKinksAreMadeAndCompared) {
    const auto kernel = RadialKernel::from_profile({0, 0.2, 0.3, 0.7, 1.2}, {1, 0.9, 0.2, 0.15, 0});
    const auto request = request_of(kernel);
    const KernelNorms norms(request.grid, kernel);
    const auto of_table = [&](double accuracy) {
        const radial::ChordTable table(kernel, accuracy);
        std::vector<std::pair<double, double>> checks;
        for (const auto& check : table.checks(kernel)) checks.emplace_back(check.theta, check.error);
        std::sort(checks.begin(), checks.end());
        std::vector<double> theta, error;
        for (const auto& [at, one] : checks) {
            theta.push_back(at);
            error.push_back(one);
        }
        return norms.errors(theta, error) + norms.beyond(std::min(table.theta_end(), pi));
    };
    const double exact = norms.table(1e-13);
    const auto sum = bound_of(request, choice_of(ConvolutionMethod::pixel_sum, 0, 1e-5)),
               rings = bound_of(request, choice_of(ConvolutionMethod::ring_fft, 0, 1e-5));
    EXPECT_NEAR(sum.accuracy / (of_table(1e-5) + exact), 1, close);
    EXPECT_NEAR(rings.accuracy / (of_table(1e-6) + exact + 12e-5 * norms.whole()), 1, close);
    // Without an accuracy it is the default of the precision, and no table is better than 1e-14.
    const auto smooth = request_of(RadialKernel::gaussian(0.35));
    const KernelNorms of_smooth(smooth.grid, smooth.kernel);
    for (const auto precision : {Precision::float32, Precision::float64}) {
        const double wanted = default_accuracy(precision);
        const ConvolutionChoice choice{ConvolutionMethod::ring_fft, Device::cpu(), precision};
        EXPECT_NEAR(
            bound_of(smooth, choice).accuracy / (of_smooth.table(std::max(0.1 * wanted, 1e-14)) +
                                                 of_smooth.table(1e-13) + 12 * wanted * of_smooth.whole()),
            1, close);
    }
}

TEST(RequestBounds, SplitsCountBothPartsAndWhatTheyMiss) {
    for (const int spin : {0, 2}) {
        std::vector<double> window(17);
        for (std::size_t l = 0; l < window.size(); ++l)
            window[l] = std::exp(-0.02 * static_cast<double>(l * l)) / (1 + static_cast<double>(l));
        if (spin == 2) window[0] = window[1] = 0;
        auto request = request_of(RadialKernel::from_window(window));
        if (spin == 2) request.polarization = PolarizationKernel(window, window);
        request.lmax = 16;
        KernelSplitOptions options;
        options.theta_cut = 2.4;
        options.threads = 1;
        options.spin = spin;
        auto choice = choice_of(ConvolutionMethod::split, 0, 1e-5);
        choice.l_cut = 5;
        choice.split = std::make_shared<const KernelSplit>(KernelSplitter(window, options).split(5));
        const auto& profile = choice.split->profile;
        const std::int64_t last = 4 * 16 + 64;
        const auto of_profile = profile.window(last, spin);
        auto missed = of_profile;
        for (std::size_t l = 0; l < missed.size(); ++l) {
            missed[l] += l < choice.split->window.size() ? choice.split->window[l] : 0;
            missed[l] -= l < window.size() ? window[l] : 0;
            if (l < static_cast<std::size_t>(spin)) missed[l] = 0;
        }
        // What a spline has beyond these degrees falls at least as l^-4.
        const auto norm = [&](const std::vector<double>& one) {
            return window_norm(request.grid, {one}) +
                   2 * largest(one, one.size() / 2) * largest_eigenvalue(request.grid, last);
        };
        const auto norms = spin == 2 ? KernelNorms(request.grid, profile.polarization_kernel())
                                     : KernelNorms(request.grid, profile.kernel());
        const double whole = std::min(norms.whole(), norm(of_profile));
        const auto grows = planning::rounding_of_sums(request, choice, norms);
        const auto bound = bound_of(request, choice);
        EXPECT_NEAR(bound.window / norm(missed), 1, 1e-6) << spin;
        EXPECT_NEAR(bound.accuracy / (norms.table(1e-6) + norms.table(1e-13) + 12e-5 * whole), 1, close)
            << spin;
        const double transforms = planning::rounding_of_transforms(5, 0) * largest(choice.split->window, 0) *
                                  largest_eigenvalue(request.grid, 5);
        EXPECT_NEAR(bound.rounding / ((grows.input + grows.output) * whole + transforms), 1, close) << spin;
        EXPECT_EQ(bound.cut, 0);
        EXPECT_EQ(bound.quadrature, 0);
        EXPECT_EQ(bound.of_output, 0);
        request.reference = ConvolutionReference::continuous;
        EXPECT_EQ(bound_of(request, choice).quadrature, infinite);
    }
}

ConvolutionOptions renormalizing(double threshold) {
    ConvolutionOptions options;
    options.mask.mode = MaskMode::renormalize;
    options.mask.threshold = threshold;
    return options;
}

TEST(RequestBounds, QuotientsInHarmonicSpaceDivideByTheLeastDenominator) {
    // Errors of the mask are up to (lmax + 1) sqrt(2) times their rms in a pixel; its kernel is that of spin
    // 0, and may be negative.
    auto choice = choice_of(ConvolutionMethod::harmonic);
    choice.tolerance = 1e-8;
    for (const double scale : {1.0, -2.0}) {
        auto request =
            request_of(RadialKernel::gaussian(0.35).scaled(scale), ConvolutionReference::continuous);
        for (const bool has_spin : {false, true}) {
            if (has_spin) {
                std::vector<double> small(39, 0);
                small[3] = 0.25;
                request.polarization = PolarizationKernel(small, small);
            }
            const auto plain = bound_of(request, choice),
                       bound = bound_of(request, choice, renormalizing(0.3));
            const double of_mask = has_spin ? std::abs(scale) / 0.25 : 1;
            const double error = 39 * std::sqrt(2.0) * of_mask * plain.total(),
                         least = 0.3 * std::abs(scale) - error;
            EXPECT_NEAR(bound.quadrature / (plain.quadrature / least), 1, close) << scale << has_spin;
            EXPECT_NEAR(bound.rounding / (plain.rounding / least), 1, close) << scale << has_spin;
            EXPECT_NEAR(bound.of_output / (error / least), 1, close) << scale << has_spin;
            AnalysisReport report;
            report.residual = 1e-8;
            EXPECT_NEAR(
                bound_of(request, choice, renormalizing(0.3), report, 1).quadrature / bound.quadrature, 1,
                1e-6);
        }
        // What goes on above lmax has no bound in single pixels, and divides by nothing known.
        request.polarization.reset();
        request.reference = ConvolutionReference::discrete;
        EXPECT_EQ(bound_of(request, choice, renormalizing(0.3)).total(), infinite);
    }
}

TEST(RequestBounds, ErrorsAsLargeAsTheResultHaveNoBound) {
    ErrorBound bound;
    bound.cut = 0.5;
    EXPECT_EQ(certified_error(bound, 2, 1), infinite);
    EXPECT_NEAR(certified_error(bound, 2, 1.25), 4, close);
    EXPECT_EQ(certified_error_of_variations(bound, 2, 5, 1), infinite);
    EXPECT_EQ(certified_error_of_variations(bound, 0, 5, 1), 0);
    bound.cut = infinite;
    bound.of_output = 0.1;
    EXPECT_EQ(largest_error(bound, 0, 3), 0.1 * 3);
    bound = {1, 2, 4, 8, 16, 32};
    EXPECT_EQ(bound.total(), 31);
    EXPECT_EQ(largest_error(bound, 1, 1), 63);
}

TEST(GainOfNoise, OfEAndBIsTheLargerOfTheTwo) {
    auto request = request_of(RadialKernel::gaussian(0.35), ConvolutionReference::continuous);
    std::vector<double> e(39, 0), b(39, 0);
    e[2] = 1;
    b[5] = -0.8;
    for (const auto& [one, other] : {std::pair{e, b}, {b, e}}) {
        request.polarization = PolarizationKernel(one, other);
        EXPECT_NEAR(gain_of_noise(request) / (0.98 * std::sqrt(11 * 0.64 / 3072)), 1, close);
    }
    request.polarization.reset();
    request.kernel = request.kernel.scaled(100);
    EXPECT_EQ(gain_of_noise(request, renormalizing(0.5)), 0.98);
    EXPECT_GT(gain_of_noise(request), 0.98);
}

TEST(EffectiveGain, OfCountsAndNegativeKernelsIsThatOfTheirDenominators) {
    auto request = request_of(RadialKernel::gaussian(0.35));
    const KernelNorms norms(request.grid, request.kernel);
    const double row = norms.least_row_sum();
    ConvolutionOptions counts;
    counts.keep_counts = true;
    EXPECT_NEAR(effective_gain(request, counts, 0.2) / (0.2 * row / (1 + norms.whole() / row)), 1, close);
    request.reference = ConvolutionReference::continuous;
    request.kernel = request.kernel.scaled(-2);
    const double least = 0.25 * 2;
    EXPECT_NEAR(
        effective_gain(request, renormalizing(0.25), 0.2) / (least * 0.2 / (1 + std::sqrt(2.0) * 39 * 0.2)),
        1, close);
    // Where the row sums have no bound above 0, nothing is left to plan by.
    request = request_of(RadialKernel::from_window(std::vector<double>(20, 1.0)));
    EXPECT_EQ(effective_gain(request, renormalizing(0.25), 0.2), 0);
    EXPECT_EQ(effective_gain(request, counts, 0.2), 0);
}

}  // namespace
}  // namespace zonal
