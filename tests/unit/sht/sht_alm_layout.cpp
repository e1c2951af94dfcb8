#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zonal/alm.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

using ::testing::HasSubstr;

TEST(AlmLayout, CountsUpMMajorWithoutHoles) {
    for (const auto& [lmax, mmax] : {std::pair{0, 0}, {5, 5}, {7, 3}, {4, 0}}) {
        const AlmLayout layout(lmax, mmax);
        std::int64_t next = 0;
        for (std::int64_t m = 0; m <= mmax; ++m)
            for (std::int64_t l = m; l <= lmax; ++l) {
                EXPECT_EQ(layout.index(l, m), next++);
                EXPECT_EQ(layout.offset(m) + l, layout.index(l, m));
            }
        EXPECT_EQ(layout.size(), next);
    }
}

TEST(AlmLayout, HoldsDegreesThatOverflow32Bits) {
    const AlmLayout layout(100000);
    EXPECT_EQ(layout.size(), std::int64_t{100001} * 100002 / 2);
    EXPECT_EQ(layout.index(100000, 100000), layout.size() - 1);
}

TEST(AlmLayout, CountsAShareOfTheOrdersWithoutHoles) {
    const std::vector<std::int64_t> orders{1, 2, 5};
    const AlmLayout share(7, 6, orders);
    EXPECT_FALSE(share.has_all_orders());
    ASSERT_EQ(share.n_orders(), 3);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(share.order(i), orders[i]);
        for (std::int64_t l = orders[i]; l <= 7; ++l) EXPECT_EQ(share.index(l, orders[i]), next++);
    }
    EXPECT_EQ(share.size(), next);
    for (const std::int64_t missing : {0, 3, 4, 6}) EXPECT_THROW(share.offset(missing), InvalidArgument);
    EXPECT_EQ(AlmLayout(7, 6, {}).size(), 0);
}

TEST(AlmLayout, IsEqualWhereItsOrdersAre) {
    EXPECT_EQ(AlmLayout(3, 2), AlmLayout(3, 2, {0, 1, 2}));
    EXPECT_EQ(AlmLayout(3, 2, {1}), AlmLayout(3, 2, {1}));
    EXPECT_NE(AlmLayout(3, 2), AlmLayout(3, 2, {0, 1}));
    EXPECT_NE(AlmLayout(3, 2, {1}), AlmLayout(3, 2, {2}));
    EXPECT_NE(AlmLayout(3, 2, {1}), AlmLayout(4, 2, {1}));
}

TEST(AlmLayout, RejectsSharesThatDoNotAscend) {
    EXPECT_THROW(AlmLayout(3, 2, {1, 1}), InvalidArgument);
    EXPECT_THROW(AlmLayout(3, 2, {2, 1}), InvalidArgument);
    EXPECT_THROW(AlmLayout(3, 2, {-1}), InvalidArgument);
    EXPECT_THROW(AlmLayout(3, 2, {3}), InvalidArgument);
}

TEST(AlmLayout, RejectsOrdersAboveDegreesAndNegativeOnes) {
    const auto complaint = [](std::int64_t lmax, std::int64_t mmax) {
        try {
            AlmLayout layout(lmax, mmax);
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(complaint(-1, 0), HasSubstr("lmax = -1"));
    EXPECT_THAT(complaint(4, 5), HasSubstr("mmax = 5"));
    EXPECT_THAT(complaint(4, -1), HasSubstr("mmax = -1"));
}

}  // namespace
}  // namespace zonal
