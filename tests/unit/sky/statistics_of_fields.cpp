#include "zonal/sky/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "zonal/mask.hpp"

namespace zonal {
namespace {

TEST(Statistics, CountApartWhatIsNoNumber) {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> values{1, unseen_value, std::nan(""), -3, -infinity, 5};
    const auto found = statistics({values.data(), {6}});
    EXPECT_EQ(found.count, 6);
    EXPECT_EQ(found.unseen, 1);
    EXPECT_EQ(found.nan, 1);
    EXPECT_EQ(found.infinite, 1);
    EXPECT_EQ(found.minimum, -3);
    EXPECT_EQ(found.maximum, 5);
    EXPECT_DOUBLE_EQ(found.mean, 1);
    EXPECT_DOUBLE_EQ(found.deviation, std::sqrt(32.0 / 3));
    EXPECT_DOUBLE_EQ(found.rms, std::sqrt(35.0 / 3));
    EXPECT_FALSE(statistics({values.data() + 1, {2}}).any());
}

/// Of more values than are worked on between two looks for an interruption, about a mean that is large.
TEST(Statistics, DeviationIsAboutTheMean) {
    constexpr std::int64_t n = 70'000;
    constexpr double offset = 1e6, eps = std::numeric_limits<double>::epsilon();
    std::vector<double> values(n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = offset + std::sin(static_cast<double>(i));
    values[0] = offset + 3;
    values.back() = offset - 2;
    long double sum = 0, squares = 0;
    for (const double value : values) sum += static_cast<long double>(value) - offset;
    for (const double value : values)
        squares += std::pow(static_cast<long double>(value) - offset - sum / n, 2);
    const auto found = statistics({values.data(), {n}});
    // A sum of n numbers of one sign errs by n eps / 2 of itself at most.
    const double error_of_mean = n * eps / 2 * offset,
                 deviation = static_cast<double>(std::sqrt(squares / n));
    EXPECT_NEAR(found.mean - offset, static_cast<double>(sum / n), error_of_mean);
    EXPECT_NEAR(found.deviation, deviation, error_of_mean * error_of_mean / deviation + n * eps * deviation);
    EXPECT_NEAR(found.rms, std::hypot(offset + static_cast<double>(sum / n), deviation), error_of_mean);
    EXPECT_EQ(found.minimum, offset - 2);
    EXPECT_EQ(found.maximum, offset + 3);
}

}  // namespace
}  // namespace zonal
