#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "polarization_helpers.hpp"
#include "sanitized.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/planner.hpp"

// The choice of a way to convolve Q and U.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ConvolutionRequest request_for(std::int64_t nside, const PolarizationKernel& kernel, double error) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(nside);
    request.lmax = 3 * nside - 1;
    request.polarization = kernel;
    request.error = error;
    request.reference = ConvolutionReference::discrete;
    request.threads = 1;
    return request;
}

/// What a choice makes of maps.
template <class T>
Maps convolved_by(const ConvolutionRequest& request, const ConvolutionChoice& choice, const Maps& maps) {
    const auto n_pixels = request.grid.n_pixels();
    Array<T, 3> in(maps.extents()), out(maps.extents());
    std::copy(maps.begin(), maps.end(), in.begin());
    ConvolutionPlan(request, choice).convolve<T>({in.data(), {2, n_pixels}}, {out.data(), {2, n_pixels}});
    Maps result(maps.extents());
    std::copy(out.begin(), out.end(), result.begin());
    return result;
}

/// The sum over all pixels of the map, which the direct sum is as well (PolarizationSum tests) but slower.
Maps summed(const ConvolutionRequest& request, const Maps& maps) {
    const auto windows = request.polarization->windows(request.polarization->band_limit());
    return harmonically(request.grid, windows.gradient, windows.curl, request.grid, maps);
}

/// Every way that may be taken, on white noise beside the sum over all pixels; ring FFTs also where discs are
/// so wide that nobody takes them for their speed.
void expect_errors_within_the_bound(ConvolutionRequest request, std::size_t least_ways) {
    const auto maps = random_maps(1, request.grid, 3);
    const auto expected = summed(request, maps);
    auto choices = plan_convolution(request, default_cost_model(1));
    request.method = ConvolutionMethod::ring_fft;
    for (auto& choice : plan_convolution(request, default_cost_model(1)))
        if (choice.method == ConvolutionMethod::ring_fft) choices.push_back(std::move(choice));
    std::size_t n_ways = 0;
    for (const auto& choice : choices) {
        if (!choice.excluded.empty()) continue;
        ++n_ways;
        EXPECT_LE(choice.error, request.error);
        const auto found = choice.precision == Precision::float32
                               ? convolved_by<float>(request, choice, maps)
                               : convolved_by<double>(request, choice, maps);
        EXPECT_LE(test::relative_rms(found, expected), request.error)
            << request.grid.name() << ' ' << to_string(choice.method) << ' ' << request.error << ' '
            << choice.support << (choice.precision == Precision::float32 ? " float" : " double");
    }
    EXPECT_GE(n_ways, least_ways);
}

TEST(PlanPolarization, ErrorsOfAllWaysAreWithinTheBound) {
    for (const std::int64_t nside : {8, 16, 32, 64})
        for (const double error : {1e-2, 1e-4, 1e-6, 1e-9}) {
            if (test::sanitized && nside > 32) continue;
            expect_errors_within_the_bound(
                request_for(nside, PolarizationKernel::gaussian(4.0 / nside), error), 2);
        }
}

TEST(PlanPolarization, ErrorsAreWithinTheBoundWhereEAndBHaveOtherWindows) {
    const std::int64_t nside = 12;
    const auto e = gaussian_window(0.4, 36);
    auto b = gaussian_window(0.6, 36);
    for (double& value : b) value *= -0.5;
    expect_errors_within_the_bound(request_for(nside, PolarizationKernel(e, b), 1e-4), 3);
    expect_errors_within_the_bound(request_for(nside, PolarizationKernel(e, {}), 1e-3), 3);
    expect_errors_within_the_bound(request_for(nside, PolarizationKernel({}, b), 1e-3), 3);
}

/// Steep at low l, faded away at lmax; white maps and maps of other spectra of E and B.
TEST(PlanPolarization, SplitsKeepTheBound) {
    auto window = gaussian_window(0.1, 128);
    for (std::size_t l = 0; l < window.size(); ++l) window[l] /= static_cast<double>(l + 1);
    auto request = request_for(64, PolarizationKernel(window, window), 1e-4);
    request.lmax = 128;
    request.method = ConvolutionMethod::split;
    const auto maps = random_maps(1, request.grid, 3);
    const auto expected = summed(request, maps);
    for (const double error : {1e-3, 1e-5}) {
        request.error = error;
        int n_splits = 0;
        for (const auto& choice : plan_convolution(request, default_cost_model(1))) {
            if (choice.method != ConvolutionMethod::split) continue;
            ++n_splits;
            EXPECT_EQ(choice.split->spin, 2);
            EXPECT_LE(choice.error, error);
            const auto found = choice.precision == Precision::float32
                                   ? convolved_by<float>(request, choice, maps)
                                   : convolved_by<double>(request, choice, maps);
            EXPECT_LE(test::relative_rms(found, expected), error) << choice.l_cut;
        }
        EXPECT_GE(n_splits, 1) << error;
    }
}

TEST(PlanPolarization, ErrorsAreThoseFromTheDirectSum) {
    const auto request = request_for(4, PolarizationKernel::gaussian(0.8), 1e-5);
    const auto maps = random_maps(1, request.grid, 4);
    const auto direct = direct_sum(request.grid, *request.polarization, request.grid, maps);
    EXPECT_LT(relative_rms(summed(request, maps), direct), transform_rounding(30, 2));
}

TEST(PlanPolarization, KernelsWiderThanTheSphereGoToHarmonicSpace) {
    const auto request = request_for(64, PolarizationKernel::gaussian(3), 1e-4);
    EXPECT_EQ(plan_convolution(request, default_cost_model(1))[0].method, ConvolutionMethod::harmonic);
    expect_errors_within_the_bound(request_for(8, PolarizationKernel::gaussian(3), 1e-4), 1);
}

TEST(PlanPolarization, KernelsOfFewPixelsGoToPixelSpace) {
    auto request = request_for(128, PolarizationKernel::gaussian(0.025), 1e-4);
    request.lmax = 256;
    const auto choices = plan_convolution(request, default_cost_model(1));
    EXPECT_NE(choices[0].method, ConvolutionMethod::harmonic);
    const auto harmonic = std::find_if(choices.begin(), choices.end(), [](const auto& choice) {
        return choice.method == ConvolutionMethod::harmonic;
    });
    ASSERT_NE(harmonic, choices.end());
    EXPECT_GT(harmonic->lmax, 256);  // as far as white noise and the kernel go on
    EXPECT_TRUE(std::none_of(choices.begin(), choices.end(),
                             [](const auto& choice) { return choice.method == ConvolutionMethod::split; }));
}

TEST(PlanPolarization, TakesTheCostsOfPolarization) {
    const auto request = request_for(32, PolarizationKernel::gaussian(0.2), 1e-4);
    auto costs = default_cost_model(1);
    const auto before = plan_convolution(request, costs);
    costs.devices[0].scalar = {};
    const auto after = plan_convolution(request, costs);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].seconds, after[i].seconds);
    costs.devices[0].polarization.smoothing.pixel += 1;
    for (const auto& choice : plan_convolution(request, costs))
        if (choice.method == ConvolutionMethod::harmonic) {
            EXPECT_GT(choice.seconds, static_cast<double>(request.grid.n_pixels()));
        }
}

TEST(PlanPolarization, ContinuousReferenceTakesIterationsAndNoSumsOverPixels) {
    auto request = request_for(32, PolarizationKernel::gaussian(0.2), 1e-5);
    request.reference = ConvolutionReference::continuous;
    request.lmax = 64;
    const auto choices = plan_convolution(request, default_cost_model(1));
    EXPECT_EQ(choices[0].method, ConvolutionMethod::harmonic);
    EXPECT_EQ(choices[0].excluded, "");
    EXPECT_TRUE(choices[0].until_certified);
    EXPECT_GE(choices[0].iterations, 1);
    EXPECT_THAT(choices.back().excluded, HasSubstr("depends on the map"));
}

TEST(PlanPolarization, RejectsContradictions) {
    const auto costs = default_cost_model(1);
    const auto with = [&](auto change) {
        auto request = request_for(16, PolarizationKernel::gaussian(1), 1e-4);
        change(request);
        plan_convolution(request, costs);
    };
    EXPECT_THAT(
        [&] {
            with([](auto& r) {
                r.method = ConvolutionMethod::split;
                r.polarization = PolarizationKernel({0, 0, 1, 1}, {0, 0, 1});
            });
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("method = split: kernels whose windows of E and B differ")));
    EXPECT_THAT([&] { with([](auto& r) { r.lmax = 1; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax = 1: must be 2")));
    EXPECT_THAT([&] { with([](auto& r) { r.polarization = r.polarization->truncated(1); }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("truncated")));
}

}  // namespace
}  // namespace zonal::test
