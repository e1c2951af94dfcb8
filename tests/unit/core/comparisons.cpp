// The tests' own comparisons: a result that holds one NaN, or that has another length, never passes.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "compare.hpp"
#include "zonal/view.hpp"

namespace zonal::test {
namespace {

using Values = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// EXPECT_LE passes.
bool passes(double error) {
    return error <= 1e300;
}

TEST(Comparisons, LargerKeepsNanOnEitherSide) {
    EXPECT_EQ(larger(1, 2), 2);
    EXPECT_EQ(larger(2.0F, -1.0), 2);
    EXPECT_EQ(larger(1.0, infinity), infinity);
    EXPECT_TRUE(std::isnan(larger(nan, 1.0)));
    EXPECT_TRUE(std::isnan(larger(1.0, nan)));
    EXPECT_TRUE(std::isnan(larger(larger(1.0L, std::nanl("")), 2.0L)));
}

TEST(Comparisons, MeasureDifferences) {
    const Values found{1, 2, -5}, expected{1, 4, -4};
    EXPECT_EQ(largest(found), 5);
    EXPECT_EQ(largest_difference(found, expected), 2);
    EXPECT_EQ(relative_difference(found, expected), 0.5);
    EXPECT_EQ(rms(expected), std::sqrt(11.0));
    EXPECT_EQ(rms_difference(found, expected), std::sqrt(5.0 / 3));
    EXPECT_EQ(relative_rms(found, expected), std::sqrt(5.0 / 3) / std::sqrt(11.0));
    const std::vector<std::complex<float>> single{{0, 3}};
    const std::vector<std::complex<double>> twice{{4, 3}};
    EXPECT_EQ(largest_difference(single, twice), 4);
}

/// Wherever the NaN stands, in what is found or in what is expected, and whether or not others follow it.
TEST(Comparisons, FailWhereOneValueIsNan) {
    const Values good{1, 2, 3};
    for (std::size_t k = 0; k < good.size(); ++k) {
        Values bad = good;
        bad[k] = nan;
        EXPECT_FALSE(passes(largest(bad))) << k;
        EXPECT_FALSE(passes(rms(bad))) << k;
        for (const auto& [found, expected] :
             {std::pair(good, bad), std::pair(bad, good), std::pair(bad, bad)}) {
            EXPECT_FALSE(passes(largest_difference(found, expected))) << k;
            EXPECT_FALSE(passes(relative_difference(found, expected))) << k;
            EXPECT_FALSE(passes(rms_difference(found, expected))) << k;
            EXPECT_FALSE(passes(relative_rms(found, expected))) << k;
        }
    }
}

TEST(Comparisons, FailWhereOnePartOfAComplexNumberIsNan) {
    const std::vector<std::complex<double>> good{{1, 2}, {3, 4}}, bad{{1, nan}, {3, 4}};
    EXPECT_FALSE(passes(largest_difference(bad, good)));
    EXPECT_FALSE(passes(relative_rms(bad, good)));
}

TEST(Comparisons, FailOnInfinitiesOnBothSides) {
    const Values one{1, infinity};
    EXPECT_FALSE(passes(largest_difference(one, one)));
    EXPECT_FALSE(passes(relative_rms(one, one)));
}

TEST(Comparisons, FailOnOtherLengthsAndOnNothing) {
    const Values three{1, 2, 3}, two{1, 2}, none;
    for (const auto& [a, b] : {std::pair(three, two), std::pair(two, three), std::pair(none, none)}) {
        EXPECT_FALSE(passes(largest_difference(a, b)));
        EXPECT_FALSE(passes(relative_difference(a, b)));
        EXPECT_FALSE(passes(rms_difference(a, b)));
    }
}

TEST(Comparisons, FailOnPoisonedMaps) {
    Array<double, 3> expected({2, 1, 4}), found({2, 1, 4});
    for (double& value : expected) value = 1;
    found = expected;
    EXPECT_EQ(largest_difference(found, expected), 0);
    found(1, 0, 2) = nan;
    EXPECT_FALSE(passes(largest_difference(found, expected)));
    EXPECT_FALSE(passes(relative_rms(found, expected)));
}

}  // namespace
}  // namespace zonal::test
