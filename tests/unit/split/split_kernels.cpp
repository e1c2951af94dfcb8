#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/split.hpp"
#include "zonal/window.hpp"

// Kernels split between harmonic and pixel space.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double arcmin = std::numbers::pi / (180 * 60);
constexpr double eps = std::numeric_limits<double>::epsilon();

/// A kernel like the sky's: a steep power law with ripples, seen through a beam.
std::vector<double> rippled_kernel(std::int64_t lmax, double fwhm) {
    auto window = gaussian_window(fwhm, lmax);
    for (std::int64_t l = 0; l <= lmax; ++l) window[l] *= l < 2 ? 0 : (1 + 0.3 * std::cos(0.02 * l)) / l;
    return window;
}

KernelSplitOptions options_for(double theta_cut) {
    KernelSplitOptions options;
    options.theta_cut = theta_cut;
    options.threads = 2;
    return options;
}

double error_of(const std::vector<double>& kernel, const KernelSplit& split) {
    double error = 0, all = 0;
    for (std::int64_t l = 0; l < std::ssize(kernel); ++l) {
        const double sum = split.profile_window[l] + (l <= split.quality.l_cut ? split.window[l] : 0);
        error += (2 * l + 1) * std::pow(sum - kernel[l], 2);
        all += (2 * l + 1) * kernel[l] * kernel[l];
    }
    return std::sqrt(error / all);
}

TEST(KernelSplitter, WeighsLeakageByTheSpectrumAboveLmax) {
    const auto kernel = rippled_kernel(300, 60 * arcmin);
    auto options = options_for(0.1);
    options.input_spectrum.assign(301, 1.0);
    const double as_the_last = KernelSplitter(kernel, options).quality(100).leakage;
    options.spectrum_beyond = 1;
    EXPECT_DOUBLE_EQ(KernelSplitter(kernel, options).quality(100).leakage, as_the_last);
    options.input_spectrum.back() = 1e-6;  // a map that ends there, but whose pixels alias
    EXPECT_GT(KernelSplitter(kernel, options).quality(100).leakage, 0.9 * as_the_last);
    options.spectrum_beyond = -1;
    EXPECT_THAT([&] { KernelSplitter(kernel, options); },
                ThrowsMessage<InvalidArgument>(HasSubstr("spectrum_beyond = -1")));
}

TEST(KernelSplitter, LeakageIsAllThatTheProfileHasAboveLmax) {
    // Parseval: the sum of (2l+1)/(4 pi) p_l^2 over all l is the integral of the profile's square. At l_cut
    // near lmax the profile has much below, which splines bring again at degrees far above lmax.
    const auto kernel = rippled_kernel(300, 90 * arcmin);
    double of_kernel = 0;
    for (std::int64_t l = 0; l < std::ssize(kernel); ++l)
        of_kernel += (2 * l + 1) / (4 * std::numbers::pi) * kernel[l] * kernel[l];
    const double theta_cut = 16 * 60 * arcmin;
    const KernelSplitter splitter(kernel, options_for(theta_cut));
    for (const std::int64_t l_cut : {100, 200, 280}) {
        const auto split = splitter.split(l_cut);
        double beyond = 0;
        constexpr std::int64_t n = 200000;  // the midpoint rule, right to 1e-10
        for (std::int64_t i = 0; i < n; ++i) {
            const double theta = (static_cast<double>(i) + 0.5) / n * theta_cut;
            beyond += std::pow(split.profile(theta), 2) * std::sin(theta);
        }
        beyond *= 2 * std::numbers::pi * theta_cut / n;
        for (std::int64_t l = 0; l < std::ssize(kernel); ++l)
            beyond -= (2 * l + 1) / (4 * std::numbers::pi) * std::pow(split.profile_window[l], 2);
        // Four degrees of a period of the window's square stand for all, in steep parts to some per cent.
        EXPECT_NEAR(split.quality.leakage, std::sqrt(beyond / of_kernel), 0.1 * split.quality.leakage)
            << l_cut;
    }
}

TEST(KernelSplitter, LeakageOfSplinesThatEndFarBelowLmaxIsThatOfTheNextDegree) {
    // Knots of 1/7 rad: what splines hold has come again below 3 pi 7 = 66. One degree is left to look at.
    const std::int64_t lmax = 100;
    const auto kernel = rippled_kernel(lmax, 60 * arcmin);
    auto options = options_for(1);
    options.n_intervals = 7;
    const KernelSplitter splitter(kernel, options);
    double all = 0;
    for (std::int64_t l = 0; l <= lmax; ++l) all += (2 * l + 1) * kernel[l] * kernel[l];
    for (const std::int64_t l_cut : {5, 40}) {
        const auto split = splitter.split(l_cut);
        const double next = std::abs(split.profile.window(lmax + 1).back());
        const double expected = std::sqrt((2 * lmax + 3) / all) * next;
        // The profile's window rounds as its largest value.
        EXPECT_NEAR(split.quality.leakage, expected, split.quality.amplification * eps) << l_cut;
        EXPECT_GT(expected, 1e-6) << l_cut;
    }
}

TEST(KernelSplit, IsExactUpToLCut) {
    const auto kernel = rippled_kernel(1000, 50 * arcmin);
    const auto split = KernelSplitter(kernel, options_for(0.2)).split(250);
    const auto profile_window = split.profile.window(1000);
    ASSERT_EQ(split.window.size(), 251u);
    for (std::int64_t l = 0; l <= 250; ++l)
        EXPECT_NEAR(split.window[l] + profile_window[l], kernel[l],
                    eps * (std::abs(split.window[l]) + std::abs(kernel[l])))
            << l;
}

TEST(KernelSplit, OfQAndUIsExactUpToLCutAndWithinItsEstimateAbove) {
    const auto kernel = rippled_kernel(1000, 50 * arcmin);
    auto options = options_for(0.2);
    options.spin = 2;
    const KernelSplitter splitter(kernel, options);
    const auto l_cut = splitter.find_l_cut(1e-4);
    ASSERT_TRUE(l_cut);
    EXPECT_LT(*l_cut, 500);
    const auto split = splitter.split(*l_cut);
    EXPECT_EQ(split.spin, 2);
    const auto of_profile = split.profile.window(1000, 2);
    for (std::int64_t l = 0; l <= *l_cut; ++l)
        EXPECT_NEAR(split.window[l] + of_profile[l], kernel[l], 1e-15) << l;
    EXPECT_LE(split.quality.estimated_error, 1e-4);
    EXPECT_NEAR(split.actual_error, error_of(kernel, split), 1001 * eps * split.actual_error);
    // Both round as the kernel, which they are relative to.
    EXPECT_NEAR(split.quality.estimated_error, 5 * split.actual_error, 20 * eps);
}

TEST(KernelSplit, OfQAndUDoesNotSeeWhatIsBelowTheirSpin) {
    const auto kernel = rippled_kernel(300, 60 * arcmin);
    auto other = kernel;
    other[0] = 7;
    other[1] = -3;
    auto options = options_for(0.2);
    options.spin = 2;
    const auto split = KernelSplitter(other, options).split(60);
    EXPECT_EQ(split.window, KernelSplitter(kernel, options).split(60).window);
    EXPECT_EQ(split.window[0], 0);
    EXPECT_EQ(split.window[1], 0);
}

TEST(KernelSplit, ActualErrorIsThatOfWindowAndProfile) {
    const auto kernel = rippled_kernel(1000, 50 * arcmin);
    const KernelSplitter splitter(kernel, options_for(0.2));
    for (const std::int64_t l_cut : {100, 250, 400}) {
        const auto split = splitter.split(l_cut);
        EXPECT_EQ(split.quality.l_cut, l_cut);
        EXPECT_NEAR(split.actual_error, error_of(kernel, split), 1001 * eps * split.actual_error) << l_cut;
        // The estimate speaks of the profile that is applied: alpha times its error, to the kernel's
        // rounding.
        EXPECT_NEAR(split.quality.estimated_error, 5 * split.actual_error, 20 * eps);
    }
}

TEST(KernelSplit, ErrorsFallAsLCutGrows) {
    // Down to what the cutoff leaves.
    const KernelSplitter splitter(rippled_kernel(1000, 50 * arcmin), options_for(0.05));
    double before = 5;  // alpha times the kernel itself
    for (const std::int64_t l_cut : {10, 60, 120, 200}) {
        const double error = splitter.quality(l_cut).estimated_error;
        EXPECT_LT(error, before) << l_cut;
        before = error;
    }
}

TEST(KernelSplit, ErrorsFallAsThetaCutGrows) {
    const auto kernel = rippled_kernel(1000, 50 * arcmin);
    double before = 1;
    for (const double theta_cut : {0.03, 0.05, 0.1}) {
        const double error = KernelSplitter(kernel, options_for(theta_cut)).quality(150).estimated_error;
        EXPECT_LT(error, before) << theta_cut;
        before = error;
    }
}

TEST(KernelSplit, DoesNotDependOnThreads) {
    const auto kernel = rippled_kernel(600, 40 * arcmin);
    auto options = options_for(0.2);
    const auto three = KernelSplitter(kernel, options);
    options.threads = 1;
    const auto one = KernelSplitter(kernel, options);
    EXPECT_EQ(one.split(200).profile.coefficients(), three.split(200).profile.coefficients());
    EXPECT_EQ(one.find_l_cut(1e-5), three.find_l_cut(1e-5));
}

TEST(KernelSplit, ASmoothKernelOfSmallSupportNeedsNoWindow) {
    // The profile of a Gaussian of 1 degree is 2e-16 of its maximum at 3.7 degrees, its window at l = 1000.
    const auto kernel = gaussian_window(60 * arcmin, 1000);
    auto options = options_for(5 * 60 * arcmin);
    options.n_intervals = 84;  // twice the default: splines between fewer knots leave 2.5e-7 above l = 3000
    const KernelSplitter splitter(kernel, options);
    const auto l_cut = splitter.find_l_cut(1e-7);
    ASSERT_TRUE(l_cut.has_value());
    EXPECT_EQ(*l_cut, 0);
    const auto split = splitter.split(*l_cut);
    EXPECT_LE(split.actual_error, 1001 * eps);  // of 1001 degrees' recurrence
    EXPECT_LE(split.quality.leakage, 1e-7);
    EXPECT_NEAR(split.quality.amplification, 1, 1001 * eps);
}

TEST(KernelSplit, WeightsOfTheInputSpectrumDecideWhereTheErrorLies) {
    // No power above l = 700: what the profile's window is there does not matter.
    const auto kernel = rippled_kernel(1000, 50 * arcmin);
    auto options = options_for(0.1);
    const double white = KernelSplitter(kernel, options).quality(150).estimated_error;
    options.input_spectrum.assign(1001, 1.0);
    for (std::int64_t l = 0; l <= 1000; ++l) options.input_spectrum[l] = std::exp(-std::pow(l / 150.0, 4));
    EXPECT_LT(KernelSplitter(kernel, options).quality(150).estimated_error, white);
}

TEST(FindLCut, ReturnsOneThatPassesAndNoneOfItsNeighbourhoodBelow) {
    const KernelSplitter splitter(rippled_kernel(1000, 50 * arcmin), options_for(0.2));
    for (const double error : {1e-3, 1e-4, 1e-5}) {
        const auto l_cut = splitter.find_l_cut(error, 6);
        ASSERT_TRUE(l_cut.has_value()) << error;
        EXPECT_LE(splitter.quality(*l_cut).estimated_error, error);
        for (std::int64_t below = 1; below <= 6; ++below)
            EXPECT_GT(splitter.quality(*l_cut - below).estimated_error, error) << error << ' ' << below;
    }
}

TEST(FindLCut, KeepsTheLeakageBelowTheErrorUnlessToldOtherwise) {
    // This kernel ends at lmax at a hundredth of its maximum: no profile of 1 degree has such a window.
    const auto kernel = gaussian_window(20 * arcmin, 1500);
    auto options = options_for(60 * arcmin);
    options.leakage_weight = 1e-3;
    const auto strict = KernelSplitter(kernel, options).find_l_cut(1e-5);
    options.max_leakage = 1;
    const KernelSplitter splitter(kernel, options);
    const auto lax = splitter.find_l_cut(1e-5);
    ASSERT_TRUE(lax.has_value());
    EXPECT_GT(splitter.quality(*lax).leakage, 1e-5);
    EXPECT_TRUE(!strict || *strict > *lax);
}

TEST(FindLCut, LooksBetweenTheFirstNine) {
    // Neither error nor amplification is monotone: l_cut = 191 just keeps limits that none of nine keeps.
    const auto kernel = rippled_kernel(300, 50 * arcmin);
    const std::int64_t between = 41 * 299 / 64;
    auto options = options_for(0.2);
    const auto wanted = KernelSplitter(kernel, options).quality(between);
    options.max_amplification = wanted.amplification;
    options.max_leakage = 1;
    const KernelSplitter splitter(kernel, options);
    EXPECT_EQ(splitter.find_l_cut(wanted.estimated_error, 0), std::nullopt);
    const auto found = splitter.find_l_cut(wanted.estimated_error);
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(splitter.quality(*found).estimated_error, wanted.estimated_error);
    EXPECT_LE(splitter.quality(*found).amplification, wanted.amplification);
}

TEST(FindLCut, IsEmptyWhereNothingPasses) {
    auto options = options_for(0.05);
    options.max_amplification = 1e-12;  // a profile that does anything has more
    auto kernel = rippled_kernel(300, 1 * arcmin);
    EXPECT_EQ(KernelSplitter(kernel, options).find_l_cut(1e-14), std::nullopt);
}

TEST(KernelSplitter, RejectsArgumentsOutOfRange) {
    const auto kernel = gaussian_window(0.02, 100);
    const auto with = [&](auto change) {
        auto options = options_for(0.3);
        change(options);
        KernelSplitter splitter(kernel, options);
    };
    EXPECT_THAT([&] { with([](auto& o) { o.theta_cut = 0; }); },
                ThrowsMessage<InvalidArgument>(
                    HasSubstr("theta_cut = 0 rad (0 deg): must be above 0 and at most pi rad")));
    EXPECT_THAT([&] { with([](auto& o) { o.theta_cut = 4; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("theta_cut = 4")));
    EXPECT_THAT([&] { with([](auto& o) { o.cutoff = 2; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("cutoff = 2")));
    EXPECT_THAT([&] { with([](auto& o) { o.alpha = -1; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("alpha = -1")));
    EXPECT_THAT([&] { with([](auto& o) { o.n_intervals = 3; }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("n_intervals = 3: must be from 7")));
    EXPECT_THAT([&] { with([](auto& o) {
                          o.input_spectrum = {1, 2};
                      }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("input_spectrum: 2 values, must be 101")));
    EXPECT_THAT([&] { with([](auto& o) { o.input_spectrum.assign(101, -1.0); }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("input_spectrum: -1 at l = 0")));
    EXPECT_THAT([&] { with([](auto& o) { o.input_spectrum.assign(101, 0.0); }); },
                ThrowsMessage<InvalidArgument>(HasSubstr("input_spectrum: zero wherever the window is not")));
    EXPECT_THAT(
        [] {
            KernelSplitter({1, 2}, options_for(0.3));
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("ends at l = 1")));
    EXPECT_THAT([] { KernelSplitter(std::vector<double>(20), options_for(0.3)); },
                ThrowsMessage<InvalidArgument>(HasSubstr("zero everywhere")));
    const KernelSplitter splitter(kernel, options_for(0.3));
    EXPECT_THAT([&] { splitter.split(100); },
                ThrowsMessage<InvalidArgument>(HasSubstr("l_cut = 100: must be from 0 to 99")));
    EXPECT_THAT([&] { splitter.find_l_cut(0); }, ThrowsMessage<InvalidArgument>(HasSubstr("error = 0")));
}

TEST(KernelSplitter, ReportsItsProgressAndStopsWhereItIsTold) {
    const auto kernel = rippled_kernel(600, 50 * arcmin);
    std::vector<double> done;
    const Progress listen = [&](double share) {
        done.push_back(share);
        return true;
    };
    const auto is_a_progress = [&] {
        return std::is_sorted(done.begin(), done.end()) && done.front() >= 0 && done.back() <= 1;
    };
    auto options = options_for(0.2);
    options.threads = 1;  // others report nothing
    const KernelSplitter splitter(kernel, options, listen);
    EXPECT_GT(done.size(), 5);  // a block of the fit is 128 degrees, and there are windows of splines
    EXPECT_TRUE(is_a_progress());
    done.clear();
    EXPECT_EQ(splitter.find_l_cut(1e-5, 8, listen), splitter.find_l_cut(1e-5, 8));
    EXPECT_GE(done.size(), 9);  // its first tries
    EXPECT_TRUE(is_a_progress());
    for (const double last : {0.0, 0.1, 0.5}) {
        const Progress stop = [last](double share) { return share <= last; };
        EXPECT_THROW(KernelSplitter(kernel, options, stop), Cancelled);
    }
    EXPECT_THROW(splitter.find_l_cut(1e-5, 8, [](double) { return false; }), Cancelled);
}

TEST(SplitError, IsTheActualErrorOfASplitAndGrowsWithWhatIsDoneToIt) {
    const auto kernel = rippled_kernel(600, 50 * arcmin);
    auto options = options_for(0.2);
    for (std::int64_t l = 0; l <= 600; ++l) options.input_spectrum.push_back(1.0 / (l + 1));
    auto split = KernelSplitter(kernel, options).split(200);
    const auto error = [&] {
        return split_error(kernel, split.window, split.profile_window, options.input_spectrum);
    };
    EXPECT_EQ(error(), split.actual_error);
    const double damage = 1e-3 * kernel[100];
    split.window[100] += damage;  // where it made up for the profile exactly
    double all = 0;
    for (std::int64_t l = 0; l <= 600; ++l)
        all += (2 * l + 1) * options.input_spectrum[l] * kernel[l] * kernel[l];
    const double of_damage = std::sqrt(201 * options.input_spectrum[100] / all) * damage;
    // The damage is a thousandth of what it is added to, which rounds.
    EXPECT_NEAR(error(), std::hypot(split.actual_error, of_damage), 10 * eps / 1e-3 * of_damage);
    split.window.resize(602);
    EXPECT_THAT(error, ThrowsMessage<InvalidArgument>(HasSubstr("window: 602 values, must be at most 601")));
    EXPECT_THAT([&] { split_error(kernel, {}, {1}, {}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("profile_window: 1 values, must be 601")));
}

TEST(WienerSpectrum, IsTheSpectrumOfAWienerFilteredMap) {
    EXPECT_EQ(wiener_spectrum({0, 4, 9}, {0, 4, 0}), (std::vector<double>{0, 2, 9}));
}

}  // namespace
}  // namespace zonal::test
