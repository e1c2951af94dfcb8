#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "convolution_helpers.hpp"
#include "planning/explained_times.hpp"
#include "split/non_negative_fit.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/sht.hpp"
#include "zonal/window.hpp"

// Costs, and the choice of a way to convolve.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double arcmin = std::numbers::pi / (180 * 60);

TEST(NonNegativeFit, FindsExactAnswersAndStopsAtZero) {
    const double counts[4][2] = {{1, 2}, {3, 1}, {0, 4}, {5, 5}};
    const View<const double, 2> view(&counts[0][0], {4, 2});
    const auto exact = split::non_negative_fit(view, {8, 9, 12, 25});  // x = 2, 3
    constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(exact[0], 2, rounding);
    EXPECT_NEAR(exact[1], 3, rounding);
    const auto bounded = split::non_negative_fit(view, {-1, 2, -4, 0});
    EXPECT_EQ(bounded[1], 0);
    EXPECT_NEAR(bounded[0], 5.0 / 35, rounding);  // (1, 3, 0, 5) . values / |(1, 3, 0, 5)|^2
}

TEST(ExplainedTimes, ShortMeasurementsCountAsMuchAsLongOnes) {
    constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
    const auto exact = calibration::explain({{{1, 2}, 8}, {{300, 100}, 900}, {{0, 0.01}, 0.03}});
    EXPECT_NEAR(exact[0], 2, rounding * 2);
    EXPECT_NEAR(exact[1], 3, rounding * 3);
    // The least (x - 1)^2 + (x / 100 - 1)^2 is at 1.01 / 1.0001, that of (x - 1)^2 + (x - 100)^2 at 50.5.
    EXPECT_NEAR(calibration::explain({{{1}, 1}, {{1}, 100}})[0], 1.01 / 1.0001, rounding);
}

TEST(TransformWork, AgreesWithThePlansCount) {
    for (const std::int64_t nside : {64, 256})
        for (const std::int64_t lmax : {nside, 2 * nside, 3 * nside - 1}) {
            const auto grid = Grid::healpix(nside);
            const ShtPlan plan(grid, {.lmax = lmax, .device = Device::cpu()});
            const auto work = transform_work(grid, lmax, Device::cpu());
            // the plan prunes rings in blocks of eight
            EXPECT_NEAR(work.legendre_flops / plan.legendre_flops(), 1, 0.04) << nside << ' ' << lmax;
            EXPECT_EQ(work.pixels, grid.n_pixels());
        }
    EXPECT_THROW(transform_work(Grid::healpix(1), -1, Device::cpu()), InvalidArgument);
}

TEST(PredictedSeconds, TransformsAreCountedByFlopsPixelsAndSizes) {
    const TransformCost cost{.legendre_flop = 2, .pixel = 3, .call = 5, .others = {{16, 36}, {7, 9}}};
    EXPECT_EQ(predicted_seconds(cost, TransformWork{.legendre_flops = 10, .pixels = 16}), 20 + 48 + 5 + 7);
}

TEST(PredictedSeconds, OfSizesAreThoseMeasuredAndBetweenThemLinearInTheRootOfThePixels) {
    const SizeCost cost{{16, 64, 256}, {3, 5, 4}};
    const std::pair<double, double> expected[] = {{16, 3}, {64, 5},    {256, 4}, {36, 4},
                                                  {1, 3},  {144, 4.5}, {512, 8}};
    for (const auto& [pixels, seconds] : expected)
        EXPECT_DOUBLE_EQ(predicted_seconds(cost, pixels), seconds) << pixels;
    EXPECT_EQ(predicted_seconds(SizeCost{}, 100), 0);
}

TEST(PredictedSeconds, RowsAreMadeOnceForEveryPass) {
    PixelCost cost;
    cost.kernel_value = 2;
    cost.mode_product = 3;
    cost.call = 5;
    PixelConvolutionWork work;
    work.kernel_values = 10;
    work.mode_products = 100;
    EXPECT_EQ(predicted_seconds(cost, work, 1, 1), 5 + 20 + 300);
    EXPECT_EQ(predicted_seconds(cost, work, 1, 4), 5 + 80 + 1200);
    work.maps_per_pass = 4;
    EXPECT_EQ(predicted_seconds(cost, work, 1, 4), 5 + 20 + 1200);
    EXPECT_EQ(predicted_seconds(cost, work, 1, 9), 5 + 60 + 2700);
}

TEST(PredictedSeconds, UnevenProductsHaveACostOfTheirOwn) {
    PixelCost cost;
    cost.pixel_product = 2;
    cost.uneven_product = 7;
    cost.ring_value = 11;
    cost.map = 13;
    cost.pixel_row = 17;
    cost.pixel_weight = 19;
    cost.longest_sum = 23;
    cost.others = {{4, 36}, {13, 29}};
    PixelConvolutionWork work;
    work.kernel_values = 40;
    work.pixel_products = 100;
    work.uneven_products = 30;
    work.pixel_rows = 5;
    work.pixel_weights = 3;
    work.longest_sum = 6;
    const double each = 2 * 70 + 7 * 30 + 11 * 10 + 13 + 17 * 5 + 19 * 3 + 23 * 6 + 21;
    EXPECT_EQ(predicted_seconds(cost, work, 16, 1), each);
    EXPECT_EQ(predicted_seconds(cost, work, 16, 3), 3 * each);
}

ConvolutionRequest request_for(std::int64_t nside, double fwhm_arcmin, double error) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(nside);
    request.lmax = 2 * nside;
    request.kernel = RadialKernel::gaussian(fwhm_arcmin * arcmin);
    request.error = error;
    request.reference = ConvolutionReference::discrete;
    request.consider_split = false;
    request.threads = 1;
    return request;
}

TEST(PlanConvolution, ListsWhatMayBeTakenFastestFirst) {
    const auto choices = plan_convolution(request_for(64, 200, 1e-5), default_cost_model(2));
    ASSERT_FALSE(choices.empty());
    EXPECT_TRUE(choices[0].excluded.empty());
    bool has_harmonic = false;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        has_harmonic |= choices[i].method == ConvolutionMethod::harmonic;
        if (i > 0 && choices[i].excluded.empty()) {
            EXPECT_GE(choices[i].seconds, choices[i - 1].seconds);
        }
        if (choices[i].excluded.empty()) {
            EXPECT_LE(choices[i].error, 1e-5 * (1 + 1e-12));
        }
    }
    EXPECT_TRUE(has_harmonic);
}

TEST(PlanConvolution, SinglePrecisionOnlyWhereTheErrorPermits) {
    const auto has_single = [](const std::vector<ConvolutionChoice>& choices) {
        return std::any_of(choices.begin(), choices.end(),
                           [](const auto& c) { return c.precision == Precision::float32; });
    };
    auto request = request_for(32, 400, 1e-4);
    const auto costs = default_cost_model(2);
    EXPECT_TRUE(has_single(plan_convolution(request, costs)));
    request.allow_single = false;
    EXPECT_FALSE(has_single(plan_convolution(request, costs)));
    EXPECT_FALSE(has_single(plan_convolution(request_for(32, 400, 1e-7), costs)));
}

TEST(PlanConvolution, NarrowKernelsGoToPixelSpaceAndWideOnesToHarmonicSpace) {
    const auto costs = default_cost_model(2);
    EXPECT_NE(plan_convolution(request_for(512, 15, 1e-4), costs)[0].method, ConvolutionMethod::harmonic);
    EXPECT_EQ(plan_convolution(request_for(64, 3000, 1e-4), costs)[0].method, ConvolutionMethod::harmonic);
}

TEST(PlanConvolution, ContinuousReferenceTakesIterationsAndNoSumsOverPixels) {
    auto request = request_for(64, 200, 1e-5);
    request.reference = ConvolutionReference::continuous;
    const auto choices = plan_convolution(request, default_cost_model(2));
    EXPECT_EQ(choices[0].method, ConvolutionMethod::harmonic);
    EXPECT_EQ(choices[0].excluded, "");
    EXPECT_TRUE(choices[0].until_certified);
    EXPECT_GE(choices[0].iterations, 1);
    EXPECT_LE(choices[0].error, 1e-5);
    for (const auto& choice : choices)
        if (choice.method != ConvolutionMethod::harmonic) {
            EXPECT_THAT(choice.excluded, HasSubstr("depends on the map"));
        }
}

TEST(PlanConvolution, SplitsKernelsThatAreCompactNowhere) {
    // As the sky's: steep at low l, and a beam.
    auto request = request_for(256, 100, 1e-4);
    auto window = request.kernel.window(512);
    for (std::int64_t l = 0; l <= 512; ++l) window[l] *= l < 2 ? 0 : 1.0 / l;
    request.kernel = RadialKernel::from_window(window);
    request.consider_split = true;
    auto costs = default_cost_model(1);
    for (auto& device : costs.devices) {  // so slow that planning pays
        device.scalar.smoothing.legendre_flop *= 100;
        device.scalar.iteration.legendre_flop *= 100;
    }
    const auto choices = plan_convolution(request, costs);
    EXPECT_EQ(choices[0].method, ConvolutionMethod::split);
    EXPECT_LE(choices[0].error, 1e-4);
    EXPECT_GT(choices[0].support, 0);
    EXPECT_GE(choices[0].l_cut, 0);
}

/// As the sky's: steep at low l, and a beam.
ConvolutionRequest request_of_sky(double error) {
    auto request = request_for(64, 360, error);
    auto window = request.kernel.window(request.lmax);
    for (std::int64_t l = 0; l <= request.lmax; ++l) window[l] *= l < 2 ? 0 : 1.0 / l;
    request.kernel = RadialKernel::from_window(window);
    request.consider_split = true;
    return request;
}

TEST(PlanConvolution, OnlySplitFindsSplitsWhateverTheySave) {
    const auto costs = default_cost_model(1);
    auto request = request_of_sky(1e-4);
    for (const auto& choice : plan_convolution(request, costs))
        EXPECT_NE(choice.method, ConvolutionMethod::split);  // not worth the planning
    request.method = ConvolutionMethod::split;
    const auto choices = plan_convolution(request, costs);
    const auto split = std::find_if(choices.begin(), choices.end(),
                                    [](const auto& c) { return c.method == ConvolutionMethod::split; });
    ASSERT_NE(split, choices.end());
    ASSERT_NE(split->split, nullptr);
    EXPECT_EQ(split->split->quality.l_cut, split->l_cut);
    EXPECT_EQ(split->split->profile.support(), split->support);
    EXPECT_LE(split->error, 1e-4);
    for (const auto& choice : choices) {
        EXPECT_NE(choice.method, ConvolutionMethod::ring_fft);
        EXPECT_NE(choice.method, ConvolutionMethod::pixel_sum);
    }
    request.theta_cut = 0.4;
    for (const auto& choice : plan_convolution(request, costs))
        if (choice.method == ConvolutionMethod::split) {
            EXPECT_EQ(choice.support, 0.4);
        }
}

TEST(PlanConvolution, PartsOfASplitFollowEachOtherOnOneDeviceAndRunTogetherOnTwo) {
    auto request = request_of_sky(1e-4);
    request.method = ConvolutionMethod::split;
    request.theta_cut = 0.4;
    const auto seconds = [&](bool has_transforms, bool has_sums, int n_devices) {
        CostModel costs = default_cost_model(1);
        auto& costs_here = costs.devices.at(0).scalar;
        costs_here.smoothing = {};
        costs_here.iteration = {};
        costs_here.smoothing.call = has_transforms ? 3 : 0;
        for (auto* sums : {&costs_here.ring_fft_single, &costs_here.ring_fft_double}) {
            *sums = {};
            sums->call = has_sums ? 5 : 0;
        }
        costs.devices.resize(1, costs.devices[0]);
        costs.devices.resize(static_cast<std::size_t>(n_devices), costs.devices[0]);
        for (const auto& choice : plan_convolution(request, costs))
            if (choice.method == ConvolutionMethod::split && choice.excluded.empty()) return choice.seconds;
        return -1.0;
    };
    EXPECT_DOUBLE_EQ(seconds(true, false, 1), 3);
    EXPECT_DOUBLE_EQ(seconds(false, true, 1), 5);
    EXPECT_DOUBLE_EQ(seconds(true, true, 1), 8);
    EXPECT_DOUBLE_EQ(seconds(true, true, 2), 5);
}

/// Beside the sum over all pixels in its plainest form.
TEST(PlanConvolution, SplitsKeepTheBound) {
    auto request = request_for(16, 1, 1e-4);
    auto window = gaussian_window(0.4, request.lmax);
    for (std::int64_t l = 0; l <= request.lmax; ++l) window[l] /= static_cast<double>(l + 1);
    request.kernel = RadialKernel::from_window(window);
    request.consider_split = true;
    request.method = ConvolutionMethod::split;
    const auto n_pixels = request.grid.n_pixels();
    const auto map = random_map(n_pixels, 3);
    const auto expected = direct_sum(request.grid, request.kernel, request.grid, map);
    for (const double error : {1e-3, 1e-5}) {
        request.error = error;
        int n_splits = 0;
        for (const auto& choice : plan_convolution(request, default_cost_model(1))) {
            if (choice.method != ConvolutionMethod::split || !choice.excluded.empty()) continue;
            ++n_splits;
            EXPECT_LE(choice.error, error);
            std::vector<double> found(map.size());
            ConvolutionPlan(request, choice)
                .convolve<double>({map.data(), {1, n_pixels}}, {found.data(), {1, n_pixels}});
            EXPECT_LE(relative_rms(found, expected), error) << choice.l_cut;
        }
        EXPECT_GE(n_splits, 1) << error;
    }
}

TEST(PlanConvolution, NoSplitOfKernelsThatGoOnAboveLmax) {
    auto request = request_of_sky(1e-4);
    request.kernel = RadialKernel::gaussian(60 * arcmin);  // 0.1 at lmax
    request.method = ConvolutionMethod::split;
    for (const auto& choice : plan_convolution(request, default_cost_model(1)))
        EXPECT_NE(choice.method, ConvolutionMethod::split);
}

TEST(PlanConvolution, CutsKeepTheIntegral) {
    auto request = request_for(64, 200, 1e-4);
    const double integral = request.kernel.window(0)[0];
    for (const auto& choice : plan_convolution(request, default_cost_model(1))) {
        if (choice.support == 0) continue;
        const double lost = std::abs(request.kernel.truncated(choice.support).window(0)[0] / integral - 1);
        EXPECT_LE(lost + truncation_error(request.kernel, {}, choice.support), 1e-4);
    }
}

TEST(PlanConvolution, NoSumsWhereRoundingIsLargerThanTheError) {
    auto request = request_for(64, 200, 1e-12);
    for (const auto& choice : plan_convolution(request, default_cost_model(1)))
        if (choice.method != ConvolutionMethod::harmonic) {
            EXPECT_THAT(choice.excluded, HasSubstr("rounding"));
        }
}

TEST(PlanConvolution, RejectsContradictions) {
    const auto costs = default_cost_model(1);
    const auto with = [&](auto change) {
        auto request = request_for(16, 1000, 1e-4);
        change(request);
        plan_convolution(request, costs);
    };
    EXPECT_THAT([&] { with([](auto& r) { r.error = 0; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("error = 0")));
    EXPECT_THAT([&] { with([](auto& r) { r.n_maps = 0; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("n_maps = 0")));
    EXPECT_THAT([&] { with([](auto& r) { r.theta_cut = 4; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("theta_cut = 4")));
    EXPECT_THAT([&] { with([](auto& r) { r.devices = {Device::cuda(7)}; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("devices")));
}

TEST(MachineFingerprint, NamesInstructionSetAndThreads) {
    EXPECT_THAT(machine_fingerprint(3), HasSubstr("3 threads"));
    EXPECT_THAT(machine_fingerprint(3), HasSubstr(simd_target()));
}

}  // namespace
}  // namespace zonal::test
