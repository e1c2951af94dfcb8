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

}  // namespace
}  // namespace zonal
