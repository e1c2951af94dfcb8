// Where kernels may be cut and with what sums and analyses are computed, against the shares of the error that
// src/planning/limits gives to each.
#include "planning/limits/error_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/planning/certificate.hpp"
#include "zonal/split.hpp"

namespace zonal {
namespace {

using planning::ErrorLimits;
using testing::HasSubstr;
using enum ConvolutionMethod;

constexpr double close = 1e-9;

ConvolutionRequest request_of(const RadialKernel& kernel, double error,
                              ConvolutionReference reference = ConvolutionReference::discrete) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(16);
    request.kernel = kernel;
    request.lmax = 38;
    request.reference = reference;
    request.error = error;
    request.gain = 0.1;
    request.threads = 1;
    return request;
}

/// The reference may be smaller than the output by the error.
double allowed(const ConvolutionRequest& request) {
    return request.error / (1 + request.error) * *request.gain;
}

ErrorBound uncut(const ConvolutionRequest& request, ConvolutionMethod method, Precision precision,
                 double accuracy) {
    return bound_of(request, {method, Device::cpu(), precision, 0, accuracy});
}

double of_both(const ErrorBound& bound, const ConvolutionRequest& request) {
    return bound.total() + bound.of_output * *request.gain;
}

TEST(ErrorLimits, TablesGetAHundredthOrLessWhereTheirBoundIsMoreThanAFifth) {
    // Ringing kernels do not fade away, so that a table errs over the whole sphere.
    const auto ringing = RadialKernel::from_window(std::vector<double>(20, 1.0));
    for (const auto& kernel : {RadialKernel::gaussian(0.35), RadialKernel::gaussian(0.35).scaled(5), ringing})
        for (const double error : {1e-1, 1e-3, 1e-6, 1e-9})
            for (const auto precision : {Precision::float32, Precision::float64}) {
                const auto request = request_of(kernel, error);
                const auto window =
                    kernel.band_limit() < 0 ? std::vector<double>{} : kernel.window(kernel.band_limit());
                double norm = KernelNorms(request.grid, kernel).whole();
                if (!window.empty()) norm = std::min(norm, window_norm(request.grid, {window}));
                const double share = 0.01 * std::min(error, allowed(request) / norm),
                             least = default_accuracy(precision),
                             most = std::min(1e-5, std::max(least, share));
                const double bound = std::max(uncut(request, ring_fft, precision, most).accuracy,
                                              uncut(request, pixel_sum, precision, most).accuracy);
                const double expected = std::max(least, most * std::min(1.0, 0.2 * allowed(request) / bound));
                EXPECT_NEAR(ErrorLimits(request).accuracy(precision) / expected, 1, close)
                    << kernel.name() << error;
            }
}

TEST(ErrorLimits, CutsGetWhatTheOtherPartsLeave) {
    for (const double error : {1e-1, 1e-3, 1e-6})
        for (const auto precision : {Precision::float32, Precision::float64}) {
            auto request = request_of(RadialKernel::gaussian(0.35), error);
            const ErrorLimits limits(request);
            const double accuracy = limits.accuracy(precision);
            const double others = std::max(of_both(uncut(request, ring_fft, precision, accuracy), request),
                                           of_both(uncut(request, pixel_sum, precision, accuracy), request));
            const double left = 0.999 * (allowed(request) - others);
            const double expected = left > 0 ? KernelNorms(request.grid, request.kernel).support_for(left)
                                             : request.kernel.support();
            EXPECT_NEAR(limits.support(precision), expected, 1e-12) << error;
            request.support = 0.25;
            EXPECT_EQ(ErrorLimits(request).support(precision), 0.25);
            request.kernel = request.kernel.truncated(0.2);
            EXPECT_EQ(ErrorLimits(request).support(precision), 0.2);
            request.support = 0;
            EXPECT_LE(ErrorLimits(request).support(precision), 0.2);
        }
}

/// The smallest error for which something holds, from 1e-15 to 0.5.
template <class Holds>
double smallest_error(const Holds& holds) {
    double low = 1e-15, high = 0.5;
    for (int i = 0; i < 40; ++i) {
        const double middle = std::sqrt(low * high);
        (holds(middle) ? high : low) = middle;
    }
    return high;
}

TEST(ErrorLimits, SinglePrecisionMustLeaveHalfToTheCutAndDoubleAnything) {
    const auto kernel = RadialKernel::gaussian(0.35);
    for (const auto precision : {Precision::float32, Precision::float64})
        for (const bool is_cut : {false, true}) {
            const auto method = is_cut ? pixel_sum : ring_fft;
            const double error = smallest_error([&](double one) {
                return ErrorLimits(request_of(kernel, one)).allows(precision, 0.5, is_cut);
            });
            auto request = request_of(kernel, error);
            const double accuracy = ErrorLimits(request).accuracy(precision);
            auto bound = bound_of(request, {method, Device::cpu(), precision, 0.5, accuracy});
            bound.cut = 0;
            const double rest = of_both(bound, request);
            EXPECT_NEAR(rest / allowed(request), precision == Precision::float32 ? 0.5 : 1, 1e-3) << is_cut;
            request.error = std::min(0.9, 2 * error);
            EXPECT_TRUE(ErrorLimits(request).allows(precision, 0.5, is_cut));
            request.allow_single = false;
            EXPECT_EQ(ErrorLimits(request).allows(precision, 0.5, is_cut), precision == Precision::float64);
        }
}

TEST(ErrorLimits, SayWhyNoSumKeepsTheError) {
    const auto kernel = RadialKernel::gaussian(0.35);
    EXPECT_EQ(ErrorLimits(request_of(kernel, 1e-5)).why_no_sums(), "");
    EXPECT_THAT(ErrorLimits(request_of(kernel, 1e-5, ConvolutionReference::continuous)).why_no_sums(),
                HasSubstr("depends on the map"));
    const double least = smallest_error(
        [&](double error) { return ErrorLimits(request_of(kernel, error)).why_no_sums().empty(); });
    const auto request = request_of(kernel, 0.9 * least);
    const ErrorLimits limits(request);
    const double rest =
        of_both(uncut(request, ring_fft, Precision::float64, limits.accuracy(Precision::float64)), request);
    EXPECT_NEAR(rest / allowed(request_of(kernel, least)), 1, 0.01);
    // Over the gain, as the error is.
    const auto number = limits.why_no_sums().substr(limits.why_no_sums().rfind(' ') + 1);
    EXPECT_NEAR(std::stod(number) / (rest / *request.gain), 1, 0.5);
    EXPECT_THAT(limits.why_no_sums(), HasSubstr("rounding alone may be"));
    EXPECT_THAT(limits.why_none(), HasSubstr("rounding and tables alone may be " + number));
}

TEST(ErrorLimits, HarmonicSpaceGoesToTheLowestDegreeThatLeavesHalfOfTheError) {
    for (const double fwhm : {0.2, 0.35, 0.8})
        for (const double error : {1e-2, 1e-5, 1e-9}) {
            const auto request = request_of(RadialKernel::gaussian(fwhm), error);
            ConvolutionChoice choice;
            ErrorLimits(request).complete_harmonic(choice);
            EXPECT_EQ(choice.excluded, "");
            EXPECT_EQ(choice.iterations, 0);
            EXPECT_NEAR(choice.error, certified_error(bound_of(request, choice), 1, *request.gain), 1e-15);
            const auto above = [&](std::int64_t lmax) {
                auto one = choice;
                one.lmax = lmax;
                return bound_of(request, one).window;
            };
            EXPECT_LE(above(choice.lmax), 0.5 * allowed(request)) << fwhm << ", " << error;
            const auto step = std::max<std::int64_t>(1, choice.lmax / 64);
            EXPECT_GT(above(choice.lmax - step), 0.5 * allowed(request)) << fwhm << ", " << error;
        }
    // Where no degree suffices, it is the request's.
    auto request = request_of(RadialKernel::top_hat(0.3), 0.1);
    ConvolutionChoice choice;
    ErrorLimits(request).complete_harmonic(choice);
    EXPECT_EQ(choice.lmax, 38);
    EXPECT_THAT(choice.excluded, HasSubstr("has no bound that holds for every map"));
    request.gain = 10;
    choice = {};
    ErrorLimits(request).complete_harmonic(choice);
    EXPECT_EQ(choice.lmax, 38);
    EXPECT_THAT(choice.excluded, HasSubstr("its certified error is "));
    EXPECT_GT(choice.error, 0.1);
}

TEST(ErrorLimits, AnalysesGetNineTenthsOfTheErrorLessTheirRounding) {
    const auto continuous = ConvolutionReference::continuous;
    const auto kernel = RadialKernel::gaussian(0.35).scaled(2);
    for (const double error : {1e-1, 3e-3, 1e-5, 2e-8, 1e-10}) {
        const auto request = request_of(kernel, error, continuous);
        ConvolutionChoice choice, plain;
        plain.lmax = 38;
        ErrorLimits(request).complete_harmonic(choice);
        EXPECT_EQ(choice.excluded, "");
        EXPECT_EQ(choice.lmax, 38);
        EXPECT_TRUE(choice.until_certified);
        const double left = 0.9 * allowed(request) - bound_of(request, plain).rounding;
        plain.tolerance = 1;
        EXPECT_NEAR(choice.tolerance / (left / bound_of(request, plain).quadrature), 1, close);
        // The first update is a fiftieth of the alm, and each a tenth of the one before.
        int expected = 0;
        for (double update = 0.02; update > choice.tolerance; update /= 10) ++expected;
        EXPECT_EQ(choice.iterations, std::max(1, expected)) << error;
    }
    // Conjugate gradients end where rounding does; before that the rounding of the iterations may be too
    // much.
    const auto why_not = [&](double error) {
        const auto request = request_of(kernel, error, continuous);
        ConvolutionChoice choice;
        ErrorLimits(request).complete_harmonic(choice);
        return choice.excluded;
    };
    const double least = smallest_error([&](double error) {
        return why_not(error).find("before they reach the error") == std::string::npos;
    });
    auto request = request_of(kernel, least, continuous);
    ConvolutionChoice choice;
    choice.lmax = 38;
    const double left = 0.9 * allowed(request) - bound_of(request, choice).rounding;
    choice.tolerance = 1;
    EXPECT_NEAR(left / bound_of(request, choice).quadrature / 2e-13, 1, 0.01);
    EXPECT_THAT(why_not(0.99 * least), HasSubstr("rounding ends its iterations"));
    request.lmax = 39;
    choice = {};
    ErrorLimits(request).complete_harmonic(choice);
    EXPECT_THAT(choice.excluded, HasSubstr("above lmax = 38 has no bound"));
    // Exact quadrature needs no iterations.
    request = request_of(kernel, 1e-5, continuous);
    request.grid = Grid::gauss_legendre(50, 100);
    choice = {};
    ErrorLimits(request).complete_harmonic(choice);
    EXPECT_EQ(choice.tolerance, 0);
    EXPECT_EQ(choice.iterations, 0);
    EXPECT_FALSE(choice.until_certified);
    EXPECT_EQ(choice.excluded, "");
}

TEST(ErrorLimits, SplitsKeepTheErrorOrAreNotThere) {
    std::vector<double> window(39);
    for (std::size_t l = 0; l < window.size(); ++l)
        window[l] = std::exp(-0.012 * static_cast<double>(l * l)) / (1 + static_cast<double>(l));
    int n_found = 0, n_single = 0, n_missed = 0;
    for (const double error : {1e-2, 1e-3, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12})
        for (const bool allow_single : {false, true}) {
            auto request = request_of(RadialKernel::from_window(window), error);
            request.allow_single = allow_single;
            const ErrorLimits limits(request);
            ConvolutionChoice choice{split, Device::cpu(), Precision::float64, 0.8};
            if (!limits.complete_split(choice, window)) {
                ++n_missed;
                continue;
            }
            ++n_found;
            EXPECT_EQ(choice.excluded, "");
            EXPECT_LE(choice.error, error * (1 + 1e-9));
            EXPECT_NEAR(choice.error, certified_error(bound_of(request, choice), 1, *request.gain), 1e-15);
            ASSERT_NE(choice.split, nullptr);
            EXPECT_EQ(choice.split->quality.l_cut, choice.l_cut);
            EXPECT_EQ(std::ssize(choice.split->window), choice.l_cut + 1);
            // Single precision where its rounding is below a quarter; tables get a quarter at most.
            auto other = choice;
            other.precision = Precision::float32;
            other.accuracy = planning::least_accuracy_of_splits;
            const bool is_single =
                allow_single && bound_of(request, other).rounding < 0.25 * allowed(request);
            EXPECT_EQ(choice.precision == Precision::float32, is_single) << error;
            n_single += is_single ? 1 : 0;
            other.precision = choice.precision;
            const double accuracy = 1e-5 * 0.25 * allowed(request) / bound_of(request, other).accuracy;
            EXPECT_NEAR(choice.accuracy / std::clamp(accuracy, default_accuracy(choice.precision), 1e-5), 1,
                        close);
        }
    EXPECT_GE(n_found, 5);
    EXPECT_GE(n_single, 1);
    EXPECT_GE(n_missed, 2);
}

TEST(ErrorLimits, SplitsNeedAProfileOfEitherSignAndNoSinglePrecision) {
    std::vector<double> window(39);
    for (std::size_t l = 0; l < window.size(); ++l)
        window[l] = -std::exp(-0.012 * static_cast<double>(l * l)) / (1 + static_cast<double>(l));
    const auto has_split = [](const std::vector<double>& one, double error, bool allow_single) {
        auto request = request_of(RadialKernel::from_window(one), error);
        request.allow_single = allow_single;
        ConvolutionChoice choice{split, Device::cpu(), Precision::float64, 0.8};
        return ErrorLimits(request).complete_split(choice, one);
    };
    // Where single precision is allowed but too coarse, the split is that in double precision.
    for (const double error : {1e-3, 2e-5, 1e-5, 7e-6, 1e-6}) {
        EXPECT_TRUE(has_split(window, error, false)) << error;
        EXPECT_TRUE(has_split(window, error, true)) << error;
    }
    // One that ends at a low degree leaves nothing to a profile.
    std::fill(window.begin() + 3, window.end(), 0.0);
    EXPECT_FALSE(has_split(window, 1e-3, false));
}

TEST(FadedSupport, IsWhereHalfOfTheAccuracyIsLeft) {
    // exp(-theta / 0.1)
    std::vector<double> theta, value;
    for (int i = 0; i <= 300; ++i) {
        theta.push_back(i / 100.0);
        value.push_back(i == 300 ? 0 : -3 * std::exp(-theta.back() / 0.1));
    }
    const auto request = request_of(RadialKernel::from_profile(theta, value), 1e-3);
    const auto kernel = split::planned_kernel(request);
    for (const double accuracy : {1e-1, 1e-2, 1e-4})
        for (const double support : {0.1, 0.3, 0.6}) {
            const double at = -0.1 * std::log(0.5 * accuracy), step = 4 * support / 400;
            const double found = planning::faded_support(*kernel, accuracy, support);
            if (at > 4 * support || at < support) {
                EXPECT_EQ(found, support) << accuracy << ", " << support;
                continue;
            }
            // Linear between the profile's angles it may be a little more; the first of 400 angles from there
            // on.
            EXPECT_GE(found, at - 1e-3) << accuracy << ", " << support;
            EXPECT_LE(found, at + step + 1e-3) << accuracy << ", " << support;
            EXPECT_NEAR(std::remainder(found, step), 0, 1e-12);
            EXPECT_LE(kernel->values({found})[0], 0.5 * accuracy * 3);
            EXPECT_GT(kernel->values({found - step})[0], 0.5 * accuracy * 3);
        }
    // Not beyond the kernel's end.
    EXPECT_LE(planning::faded_support(*kernel, 1e-13, 2.9), 3);
}

}  // namespace
}  // namespace zonal
