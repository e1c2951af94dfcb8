// Angles at which norms sample a kernel: so many that nothing hides between them.
#include "planning/certificate/kernel_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "radial/kernels/kernel_implementation.hpp"
#include "unit/planning/planning_kernels.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal {
namespace {

double area(double theta) {
    return 2 * std::numbers::pi * (1 - std::cos(theta));
}

TEST(KernelSamples, AreDenseAndHoldAllThatCounts) {
    auto all = test::kernels_of_all_kinds();
    all.push_back(RadialKernel::from_window(std::vector<double>(1001, 1.0)));
    all.push_back(RadialKernel::gaussian(0.02));
    for (const auto& kernel : all) {
        const auto samples = planning::sample(kernel);
        const double end = samples.theta.back(), support = kernel.support();
        const double step = std::min(end / 1024, 1 / std::max(1.0, kernel.implementation().bandwidth()));
        ASSERT_EQ(samples.theta.size(), samples.value.size());
        EXPECT_EQ(samples.theta.front(), 0);
        EXPECT_LE(end, support);
        EXPECT_LE(samples.theta[1], end / 4000) << kernel.name();  // 12 octaves
        double largest = 0, least = 0;
        for (std::size_t i = 0; i < samples.theta.size(); ++i) {
            const double value = kernel.profile(samples.theta[i]);
            EXPECT_EQ(samples.value[i], std::abs(value));
            largest = std::max(largest, std::abs(value));
            least = std::min(least, value);
            if (i == 0) continue;
            ASSERT_GT(samples.theta[i], samples.theta[i - 1]);
            ASSERT_LE(samples.theta[i] - samples.theta[i - 1], step * (1 + 1e-9)) << kernel.name();
            // 32 to an octave
            if (samples.theta[i - 1] > end / 4000) {
                ASSERT_LE(samples.theta[i] / samples.theta[i - 1], std::exp2(1 / 31.9)) << kernel.name();
            }
        }
        EXPECT_NEAR(samples.peak / largest, 1, 1e-2) << kernel.name();
        // Rounding may have either sign.
        if (least < -1e-12 * largest) {
            EXPECT_TRUE(samples.is_signed) << kernel.name();
        }
        if (kernel.name().find("profile") != std::string::npos && least == 0) {
            EXPECT_FALSE(samples.is_signed);
        }
        if (samples.is_signed) {
            EXPECT_EQ(samples.integral, kernel.window(0)[0]) << kernel.name();
        }
        for (double theta = end * (1 + 1e-9); theta < support; theta += support / 1000)
            EXPECT_LE(std::abs(kernel.profile(theta)), 1.01e-15 * largest) << kernel.name();
        for (const double edge : kernel.implementation().breaks()) {
            if (edge >= end) break;
            const auto found = std::lower_bound(samples.theta.begin(), samples.theta.end(), edge);
            EXPECT_EQ(*found, edge) << kernel.name();
            EXPECT_EQ(*(found + 1), std::nextafter(edge, 4.0)) << kernel.name();
        }
    }
    // No further than three of 512 steps, or of sixteen to an octave, beyond the last value that counts.
    const auto narrow = RadialKernel::gaussian(0.3);
    const double sigma = 0.3 / std::sqrt(8 * std::log(2.0)),
                 last = sigma * std::sqrt(2 * 15 * std::log(10.0));
    if (last < narrow.support()) {
        EXPECT_LE(planning::sample(narrow).theta.back(), last + 4 * narrow.support() / 512);
    }
}

TEST(KernelSamples, HoldWhatStandsAloneBetweenAnglesOfACoarseGrid) {
    // A hundredth as wide as the steps between the angles that tell where a profile of this support ends.
    const double place = 0.9003, width = 2e-5;
    const auto kernel = RadialKernel::from_profile({0, 0.1, 0.11, place - width, place, place + width, 1.2},
                                                   {1, 1, 0, 0, 50, 0, 0});
    const auto samples = planning::sample(kernel);
    EXPECT_EQ(samples.peak, 50);
    EXPECT_EQ(*std::max_element(samples.value.begin(), samples.value.end()), 50);
    EXPECT_GE(samples.theta.back(), place + width);
}

TEST(KernelSamples, CountWhatLiesBeyondTheLastOne) {
    const double low = 5e-16;
    const auto kernel = RadialKernel::from_profile({0, 0.1, 0.101, 1.2, 1.201}, {1, 1, low, low, 0});
    const auto samples = planning::sample(kernel);
    EXPECT_LT(samples.theta.back(), 0.11);
    const double integral = low * (area(1.2) - area(samples.theta.back()));
    EXPECT_GE(samples.remainder, integral * (1 - 1e-9));
    EXPECT_LE(samples.remainder, 1.01 * integral);
    EXPECT_EQ(KernelNorms(Grid::healpix(4), kernel).beyond(0.5), samples.remainder);
}

TEST(KernelSamples, OfQAndUAreTheSumOfBothParts) {
    std::vector<double> e(20), b(20);
    for (std::size_t l = 2; l < e.size(); ++l) {
        e[l] = 1 / static_cast<double>(l);
        b[l] = std::exp(-0.1 * static_cast<double>(l * l));
    }
    for (const auto& kernel : {PolarizationKernel(e, b), PolarizationKernel::gaussian(0.4)}) {
        const auto samples = planning::sample(kernel);
        double largest = 0;
        for (std::size_t i = 0; i < samples.theta.size(); ++i) {
            const double theta = samples.theta[i];
            double sum = std::abs(kernel.plus()->profile(theta)) * std::pow(std::cos(theta / 2), 4);
            if (kernel.minus() != nullptr)
                sum += std::abs(kernel.minus()->profile(theta)) * std::pow(std::sin(theta / 2), 4);
            largest = std::max(largest, sum);
            EXPECT_NEAR(samples.value[i], sum, 1e-12 * samples.peak);
        }
        EXPECT_NEAR(samples.peak / largest, 1, 1e-2);
        EXPECT_LE(samples.theta.back(), kernel.support());
    }
}

}  // namespace
}  // namespace zonal
