#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare.hpp"
#include "convolution_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/planning/convolution_plan.hpp"

// Plans of requests with a gain: errors are certified for every map of that gain, whatever its spectrum.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t nside = 16;

ConvolutionRequest request_for(const RadialKernel& kernel, double error) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(nside);
    request.kernel = kernel;
    request.lmax = 3 * nside - 1;
    request.error = error;
    request.reference = ConvolutionReference::discrete;
    request.threads = 1;
    request.gain = gain_of_noise(request);
    return request;
}

/// A beam of this width that rings: it ends with a step.
RadialKernel ringing_beam(std::int64_t lmax) {
    return RadialKernel::from_window(std::vector<double>(static_cast<std::size_t>(lmax + 1), 1.0));
}

std::vector<double> convolved(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                              const std::vector<double>& map, ConvolutionResult& result,
                              const ConvolutionOptions& options = {}, const std::vector<double>& mask = {}) {
    std::vector<double> out(map.size());
    const auto n_pixels = request.grid.n_pixels();
    result = ConvolutionPlan(request, choice, options)
                 .convolve<double>({map.data(), {1, n_pixels}}, {mask.data(), {std::ssize(mask)}},
                                   {out.data(), {1, n_pixels}});
    return out;
}

TEST(CertifiedPlans, EveryWayThatMayBeTakenIsCertified) {
    for (const double error : {1e-2, 1e-4, 1e-7})
        for (const double fwhm : {0.16, 0.3}) {
            auto request = request_for(RadialKernel::gaussian(fwhm), error);
            int n_taken = 0;
            for (const auto& choice : plan_convolution(request, default_cost_model(1))) {
                if (!choice.excluded.empty()) continue;
                ++n_taken;
                EXPECT_LE(choice.error, error * (1 + 1e-9)) << to_string(choice.method);
                EXPECT_DOUBLE_EQ(choice.error, certified_error(bound_of(request, choice), 1, *request.gain));
            }
            EXPECT_GE(n_taken, 3);
        }
}

TEST(CertifiedPlans, AMapThatKeepsLessNeedsAWiderKernel) {
    auto request = request_for(RadialKernel::gaussian(0.3), 1e-4);
    request.method = ConvolutionMethod::pixel_sum;
    const auto wide = plan_convolution(request, default_cost_model(1));
    *request.gain *= 0.01;
    const auto wider = plan_convolution(request, default_cost_model(1));
    const auto support = [](const std::vector<ConvolutionChoice>& choices) {
        const auto sum = std::find_if(choices.begin(), choices.end(), [](const auto& choice) {
            return choice.method == ConvolutionMethod::pixel_sum && choice.excluded.empty();
        });
        return sum == choices.end() ? 0 : sum->support;
    };
    EXPECT_GT(support(wider), 1.1 * support(wide));
    *request.gain = 1e-14;
    for (const auto& choice : plan_convolution(request, default_cost_model(1)))
        EXPECT_NE(choice.excluded, "") << to_string(choice.method);
}

TEST(CertifiedPlans, HarmonicSpaceGoesAsFarAsTheKernel) {
    auto request = request_for(RadialKernel::gaussian(0.6), 1e-4);
    request.method = ConvolutionMethod::harmonic;
    const auto wide = plan_convolution(request, default_cost_model(1)).front();
    EXPECT_EQ(wide.excluded, "");
    EXPECT_LT(wide.lmax, request.lmax);
    // exp(-l(l+1) sigma^2 / 2) is 1e-4 at l = 16, and the gain is 0.1.
    EXPECT_GT(wide.lmax, 16);
    EXPECT_LT(wide.lmax, 30);
    const std::int64_t ends = 52;  // above 3 nside
    request.kernel = ringing_beam(ends);
    const auto ringing = plan_convolution(request, default_cost_model(1)).front();
    EXPECT_EQ(ringing.lmax, ends);
    const std::vector<double> map = random_map(request.grid.n_pixels(), 3);
    Array<double, 1> exact({request.grid.n_pixels()});
    reference::convolve(request.grid, request.kernel, request.grid, {map.data(), {std::ssize(map)}},
                        exact.view());
    ConvolutionResult result;
    // Rounding of transforms to degree 52: eps (18 sqrt(53) + 26).
    EXPECT_LE(relative_rms(convolved(request, ringing, map, result), exact), 4e-14);
}

TEST(CertifiedPlans, RenormalisedMapsAreCertifiedInHarmonicSpace) {
    auto request = request_for(RadialKernel::gaussian(0.2), 1e-6);
    request.reference = ConvolutionReference::continuous;
    request.lmax = certified_lmax(request);
    ConvolutionOptions options;
    options.mask.mode = MaskMode::renormalize;
    options.mask.threshold = 0.1;
    const auto n_pixels = request.grid.n_pixels();
    std::vector<double> mask(static_cast<std::size_t>(n_pixels), 1.0);
    for (std::size_t pixel = 500; pixel < 1250; ++pixel) mask[pixel] = 0;
    const auto map = random_map(n_pixels, 8);
    request.gain = effective_gain(request, options, 0.1);
    const auto choice = plan_convolution(request, default_cost_model(1)).front();
    ASSERT_EQ(choice.excluded, "");
    auto converged = choice;
    converged.tolerance = 1e-14;
    ConvolutionResult result, other;
    const auto found = convolved(request, choice, map, result, options, mask);
    const auto truth = convolved(request, converged, map, other, options, mask);
    double error = 0, norm = 0;
    for (std::size_t pixel = 0; pixel < found.size(); ++pixel) {
        if (is_unseen_value(found[pixel]) || is_unseen_value(truth[pixel])) continue;
        error += std::pow(found[pixel] - truth[pixel], 2);
        norm += std::pow(truth[pixel], 2);
    }
    ASSERT_EQ(result.certificates.size(), 1U);
    EXPECT_LE(result.certificates[0].error, 1e-6);
    // A certificate for any map and any kept share above a tenth; this map has more.
    EXPECT_LE(std::sqrt(error), result.certificates[0].error * std::sqrt(norm));
}

TEST(CertifiedPlans, TheLmaxOfTheContinuousReferenceIsTheKernelsOrTheGrids) {
    auto request = request_for(RadialKernel::gaussian(0.4), 1e-4);
    request.reference = ConvolutionReference::continuous;
    // A tenth of the error: 1e-5 at l = 28.
    EXPECT_NEAR(static_cast<double>(certified_lmax(request)), 28, 1);
    request.kernel = RadialKernel::gaussian(0.05);
    EXPECT_EQ(certified_lmax(request), certifiable_lmax(request.grid));
    request.kernel = ringing_beam(20);
    EXPECT_EQ(certified_lmax(request), 20);
    request.kernel = RadialKernel::gaussian(0.02);
    request.lmax = certifiable_lmax(request.grid) + 1;
    request.method = ConvolutionMethod::harmonic;
    EXPECT_THAT(plan_convolution(request, default_cost_model(1)).front().excluded, HasSubstr("has no bound"));
}

TEST(CertifiedPlans, AGainMustBeANumberAboveZero) {
    auto request = request_for(RadialKernel::gaussian(0.4), 1e-4);
    for (const double gain : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
        request.gain = gain;
        EXPECT_THAT([&] { plan_convolution(request, default_cost_model(1)); },
                    ThrowsMessage<InvalidArgument>(HasSubstr("must be above 0 and finite")));
    }
}

}  // namespace
}  // namespace zonal::test
