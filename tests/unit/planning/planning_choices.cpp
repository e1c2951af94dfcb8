// Which ways the planner looks at, and what their seconds are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "planning/planned_kernel.hpp"
#include "planning/way_seconds.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using enum ConvolutionMethod;

ConvolutionRequest request_of(std::int64_t nside, std::int64_t lmax, double fwhm) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(nside);
    request.lmax = lmax;
    request.kernel = RadialKernel::gaussian(fwhm);
    request.error = 1e-4;
    request.gain = 0.1;
    request.reference = ConvolutionReference::discrete;
    request.threads = 1;
    return request;
}

/// The default costs, with all that ways cost `times` as much.
CostModel costs_times(double times) {
    auto costs = default_cost_model(1);
    auto& scalar = costs.devices[0].scalar;
    for (auto* cost : {&scalar.smoothing, &scalar.iteration}) {
        cost->legendre_flop *= times;
        cost->pixel *= times;
    }
    for (auto* cost : {&scalar.ring_fft_single, &scalar.ring_fft_double, &scalar.pixel_sum_single,
                       &scalar.pixel_sum_double})
        for (auto* each : {&cost->kernel_value, &cost->mode_product, &cost->pixel_product,
                           &cost->uneven_product, &cost->pixel_row, &cost->fft_pixel})
            *each *= times;
    return costs;
}

bool has(const std::vector<ConvolutionChoice>& choices, ConvolutionMethod method) {
    return std::any_of(choices.begin(), choices.end(), [&](const auto& one) { return one.method == method; });
}

TEST(PlannedWays, SplitsAreTriedOnlyWhereTheySaveMoreThanTheirPlanningAndReachFar) {
    // As the sky's: steep at low l, and a beam.
    auto request = request_of(64, 128, 0.1);
    auto window = request.kernel.window(128);
    for (std::size_t l = 0; l < window.size(); ++l) window[l] *= l < 2 ? 0 : 1 / static_cast<double>(l);
    request.kernel = RadialKernel::from_window(window);
    EXPECT_FALSE(has(plan_convolution(request, costs_times(1e4)), split)) << "lmax below 256";
    // Half a second of what is fastest is worth it.
    request.lmax = 256;
    window.resize(257, 0.0);
    request.kernel = RadialKernel::from_window(window);
    request.theta_cut = 0.3;
    request.consider_split = false;
    const double fastest = plan_convolution(request, costs_times(1)).front().seconds;
    request.consider_split = true;
    EXPECT_FALSE(has(plan_convolution(request, costs_times(0.49 / fastest)), split));
    EXPECT_TRUE(has(plan_convolution(request, costs_times(0.51 / fastest)), split));
}

TEST(PlannedWays, PixelSumsHaveDiscsOfUpTo5000Pixels) {
    // cos(t) = 1 - 2 * 5000 / n_pixels
    auto request = request_of(64, 128, 0.2);
    const double most = std::acos(1 - 1e4 / static_cast<double>(request.grid.n_pixels()));
    for (const double factor : {0.99, 1.01}) {
        request.support = factor * most;
        request.method = automatic;
        EXPECT_EQ(has(plan_convolution(request, default_cost_model(1)), pixel_sum), factor < 1);
        request.method = pixel_sum;
        const auto choices = plan_convolution(request, default_cost_model(1));
        EXPECT_TRUE(has(choices, pixel_sum));
        EXPECT_FALSE(has(choices, ring_fft));
        request.method = ring_fft;
        EXPECT_FALSE(has(plan_convolution(request, default_cost_model(1)), pixel_sum));
    }
}

TEST(PlannedWays, DiscsOfMoreThanARadianAreForHarmonicSpaceUnlessItIsExcluded) {
    auto request = request_of(16, 38, 0.2);
    const auto costs = default_cost_model(1);
    for (const double support : {0.99, 1.01}) {
        request.support = support;
        request.consider_harmonic = true;
        request.method = automatic;
        EXPECT_EQ(has(plan_convolution(request, costs), ring_fft), support < 1);
        EXPECT_EQ(has(plan_convolution(request, costs), pixel_sum), support < 1);
        request.method = ring_fft;
        EXPECT_TRUE(has(plan_convolution(request, costs), ring_fft));
        request.method = automatic;
        request.consider_harmonic = false;
        const auto choices = plan_convolution(request, costs);
        EXPECT_TRUE(has(choices, ring_fft));
        EXPECT_TRUE(has(choices, pixel_sum));
        const auto found = std::find_if(choices.begin(), choices.end(),
                                        [](const auto& one) { return one.method == harmonic; });
        EXPECT_EQ(found->excluded, "was not to be considered");
    }
    request.method = harmonic;
    for (const auto& choice : plan_convolution(request, costs)) EXPECT_EQ(choice.method, harmonic);
}

TEST(PlannedWays, RingFftsAreCutHardAndWhereTheProfileHasFaded) {
    auto request = request_of(16, 38, 0.2);
    request.allow_single = false;
    std::vector<double> supports;
    for (const auto& choice : plan_convolution(request, default_cost_model(1)))
        if (choice.method == ring_fft) supports.push_back(choice.support);
    ASSERT_EQ(supports.size(), 2U);
    std::sort(supports.begin(), supports.end());
    // The fading ends at half of the accuracy, a hundredth of the error or less.
    const double sigma = 0.2 / std::sqrt(8 * std::log(2.0));
    EXPECT_GT(supports[1], sigma * std::sqrt(2 * std::log(2 / 1e-6)));
    EXPECT_LT(supports[0], supports[1]);
    request.support = 0.5;
    supports.clear();
    for (const auto& choice : plan_convolution(request, default_cost_model(1)))
        if (choice.method == ring_fft) supports.push_back(choice.support);
    EXPECT_EQ(supports, std::vector<double>{0.5});
}

TEST(PlannedWays, SumsThatNoPrecisionAllowsAreExplained) {
    auto request = request_of(16, 38, 0.2);
    request.error = 3e-12;
    for (const auto method : {ring_fft, pixel_sum}) {
        request.method = method;
        const auto choices = plan_convolution(request, default_cost_model(1));
        ASSERT_TRUE(has(choices, method));
        for (const auto& choice : choices)
            if (choice.method == method) {
                EXPECT_THAT(choice.excluded, HasSubstr("rounding"));
                EXPECT_EQ(choice.error, HUGE_VAL);
            }
    }
}

TEST(PlannedWays, AMethodWhoseOwnRoundingIsTooMuchIsExplained) {
    // Sums over the pixels of a wide beam lose more digits than ring FFTs.
    auto request = request_of(16, 38, 0.8);
    request.gain = 1e4;  // beside which tables are exact
    int n_explained = 0;
    for (request.error = 1e-15; request.error < 1e-13; request.error *= 1.5) {
        for (const auto method : {ring_fft, pixel_sum}) {
            request.method = method;
            const auto choices = plan_convolution(request, default_cost_model(1));
            EXPECT_TRUE(has(choices, method)) << request.error;
            for (const auto& choice : choices) {
                if (choice.excluded.empty()) {
                    EXPECT_LE(choice.error, request.error * (1 + 1e-9));
                }
                if (choice.excluded.find("rounding and tables alone") == std::string::npos) continue;
                ++n_explained;
                EXPECT_EQ(choice.method, method);
                EXPECT_EQ(choice.error, HUGE_VAL);
            }
        }
    }
    EXPECT_GE(n_explained, 1);
}

TEST(PlannedWays, SecondsAreOfTheTransformsAndSumsOfAllMaps) {
    auto request = request_of(16, 38, 0.3);
    request.reference = ConvolutionReference::continuous;
    request.n_maps = 3;
    auto costs = default_cost_model(1);
    auto& scalar = costs.devices[0].scalar;
    scalar.smoothing = {.call = 2};
    scalar.iteration = {.call = 7};
    const auto analysis = plan_convolution(request, costs).front();
    EXPECT_DOUBLE_EQ(analysis.seconds, 3 * (2 + 7.0 * analysis.iterations));
    EXPECT_EQ(analysis.exchange_seconds, 0);
    // Pixels and Legendre sums count for what they are, too.
    scalar.smoothing = {.legendre_flop = 1e-3, .pixel = 5};
    scalar.iteration = {};
    const auto work = transform_work(request.grid, 38, Device::cpu());
    EXPECT_NEAR(plan_convolution(request, costs).front().seconds,
                3 * (1e-3 * work.legendre_flops + 5 * work.pixels), 1e-6);
    request.reference = ConvolutionReference::discrete;
    for (auto* cost : {&scalar.ring_fft_single, &scalar.ring_fft_double}) *cost = {.map = 3, .call = 11};
    for (auto* cost : {&scalar.pixel_sum_single, &scalar.pixel_sum_double}) *cost = {.pixel_product = 1};
    for (const auto& choice : plan_convolution(request, costs)) {
        if (choice.method == ring_fft) {
            EXPECT_DOUBLE_EQ(choice.seconds, 11 + 3 * 3);
        }
        if (choice.method != pixel_sum) continue;
        PixelConvolutionOptions options;
        options.method = PixelMethod::pixel_sum;
        options.precision = choice.precision;
        options.accuracy = choice.accuracy;
        options.threads = 1;
        const auto sums = PixelConvolutionPlan(request.grid, request.kernel.truncated(choice.support),
                                               request.grid, options)
                              .work();
        EXPECT_NEAR(choice.seconds / (3 * (sums.pixel_products - sums.uneven_products)), 1, 1e-9);
    }
}

TEST(PlannedWays, SumsOverPixelsTakeLessWhereFewAreFilled) {
    auto request = request_of(64, 128, 0.1);
    request.consider_harmonic = request.consider_split = false;
    const auto seconds = [&](ConvolutionMethod method, double filled) {
        request.filled = filled;
        const auto choices = plan_convolution(request, default_cost_model(1));
        const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& one) {
            return one.method == method && one.excluded.empty();
        });
        return found == choices.end() ? std::nan("") : found->seconds;
    };
    const double all = seconds(pixel_sum, 1);
    EXPECT_GT(all, 0);
    EXPECT_EQ(seconds(pixel_sum, 0.03), all);  // too many to spread
    EXPECT_LT(seconds(pixel_sum, 1e-2), 0.7 * all);
    EXPECT_LT(seconds(pixel_sum, 0), 0.2 * all);
    EXPECT_EQ(seconds(ring_fft, 1e-3), seconds(ring_fft, 1));
    request.filled = 1;
    EXPECT_EQ(plan_convolution(request, default_cost_model(1)).front().method, ring_fft);
    request.filled = 1e-3;
    EXPECT_EQ(plan_convolution(request, default_cost_model(1)).front().method, pixel_sum);
}

TEST(PlannedWays, OfADeviceThatNobodyMeasuredAreInTheOrderOfAnother) {
    const auto request = request_of(16, 38, 0.2);
    auto costs = default_cost_model(1);
    const auto cpu = plan_convolution(request, costs);
    const auto here = plan_convolution(request, costs, Device::cpu());
    ASSERT_EQ(here.size(), cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) EXPECT_EQ(here[i].seconds, cpu[i].seconds);
    const auto there = plan_convolution(request, costs, Device::cuda(3));
    ASSERT_EQ(there.size(), cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) {
        EXPECT_EQ(there[i].device, Device::cuda(3));
        EXPECT_EQ(there[i].harmonic_device, Device::cuda(3));
        EXPECT_EQ(there[i].seconds, 0);
        EXPECT_EQ(there[i].method, cpu[i].method);
    }
    // Costs of another GPU of the machine serve; the work of sums on one is counted without it.
    auto only_harmonic = request;
    only_harmonic.method = harmonic;
    auto other = costs.devices[0];
    other.device = Device::cuda(0);
    other.scalar.smoothing = {.call = 5};
    costs.devices.push_back(other);
    const auto on_gpu = plan_convolution(only_harmonic, costs, Device::cuda(3));
    EXPECT_EQ(on_gpu.front().device, Device::cuda(3));
    EXPECT_EQ(on_gpu.front().seconds, 5);
    EXPECT_TRUE(has_costs(costs, Device::cuda(0)));
    EXPECT_FALSE(has_costs(costs, Device::cuda(3)));
    // All devices that are known, or those that are asked for.
    EXPECT_EQ(plan_convolution(only_harmonic, costs).size(), 2U);
    only_harmonic.devices = {Device::cuda(0)};
    EXPECT_EQ(plan_convolution(only_harmonic, costs).size(), 1U);
    EXPECT_EQ(plan_convolution(only_harmonic, costs).front().device, Device::cuda(0));
    EXPECT_THAT([&] { plan_convolution(request, CostModel{}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("no device")));
    EXPECT_THAT([&] { plan_convolution(request, CostModel{}, Device::cpu()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("no device")));
}

TEST(PlannedWays, HaveNames) {
    const std::pair<ConvolutionMethod, const char*> names[] = {{pixel_sum, "pixel-sum"},
                                                               {ring_fft, "ring-fft"},
                                                               {harmonic, "harmonic"},
                                                               {split, "split"},
                                                               {automatic, "auto"}};
    for (const auto& [method, name] : names) EXPECT_EQ(to_string(method), name);
}

TEST(PlannedKernels, KnowTheirValuesWindowsAndCosts) {
    auto request = request_of(16, 38, 0.3);
    std::vector<double> e(30), b(30);
    for (std::size_t l = 2; l < e.size(); ++l) {
        e[l] = std::exp(-0.1 * static_cast<double>(l));
        b[l] = -0.5 * std::exp(-0.2 * static_cast<double>(l));
    }
    DeviceCosts costs;
    const std::vector<double> theta{0, 0.1, 0.7, 1.5, 2.8, std::numbers::pi};
    request.kernel = request.kernel.scaled(-2);
    const auto scalar = split::planned_kernel(request);
    EXPECT_EQ(scalar->support(), request.kernel.support());
    EXPECT_EQ(scalar->spin(), 0);
    EXPECT_EQ(&scalar->costs(costs), &costs.scalar);
    EXPECT_EQ(scalar->window_to_split(), request.kernel.window(38));
    for (std::size_t i = 0; i < theta.size(); ++i)
        EXPECT_EQ(scalar->values(theta)[i], std::abs(request.kernel.profile(theta[i])));
    for (const double sign : {1, -1}) {
        for (auto* window : {&e, &b})
            for (double& value : *window) value *= sign;
        request.polarization = PolarizationKernel(e, b);
        const auto pairs = split::planned_kernel(request);
        EXPECT_EQ(pairs->support(), request.polarization->support());
        EXPECT_EQ(pairs->spin(), 2);
        EXPECT_EQ(&pairs->costs(costs), &costs.polarization);
        EXPECT_EQ(pairs->window_to_split(), request.polarization->windows(38).gradient);
        for (std::size_t i = 0; i < theta.size(); ++i) {
            const double plus = std::abs(request.polarization->plus()->profile(theta[i])) *
                                std::pow(std::cos(theta[i] / 2), 4),
                         minus = std::abs(request.polarization->minus()->profile(theta[i])) *
                                 std::pow(std::sin(theta[i] / 2), 4);
            EXPECT_NEAR(pairs->values(theta)[i], std::max(plus, minus), 1e-12) << theta[i];
        }
    }
}

}  // namespace
}  // namespace zonal
