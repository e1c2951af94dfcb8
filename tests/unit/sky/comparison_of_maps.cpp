#include "zonal/sky/comparison.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

FieldDifference difference_of(std::vector<double> a, std::vector<double> b) {
    return difference({a.data(), {std::ssize(a)}}, {b.data(), {std::ssize(b)}});
}

TEST(Comparison, FindsTheLargestDifferenceAndItsPlace) {
    const auto found = difference_of({1, 2, 3, 4}, {1, 2.5, 2, -4});
    EXPECT_EQ(found.largest, 8);
    EXPECT_EQ(found.at_pixel, 3);
    EXPECT_EQ(found.scale, 4);
    EXPECT_EQ(found.relative(), 2);
    EXPECT_DOUBLE_EQ(found.rms, std::sqrt((0.25 + 1 + 64) / 4));
    EXPECT_EQ(found.n_pixels, 4);
}

TEST(Comparison, LeavesOutPixelsThatOneMapLacks) {
    const auto found = difference_of({unseen_value, 2, unseen_value, 1}, {7, unseen_value, unseen_value, 1});
    EXPECT_EQ(found.n_unseen_in_one, 2);
    EXPECT_EQ(found.n_pixels, 1);
    EXPECT_EQ(found.largest, 0);
}

TEST(Comparison, OfNothingButZerosIsZeroOrInfinite) {
    EXPECT_EQ(difference_of({0}, {0}).relative(), 0);
    EXPECT_EQ(difference_of({1}, {0}).relative(), std::numeric_limits<double>::infinity());
}

TEST(Comparison, NamesTheFirstOfEqualDifferencesAndEveryNan) {
    EXPECT_EQ(difference_of({1, 4, -3}, {1, 2, -1}).at_pixel, 1);
    EXPECT_EQ(difference_of({5, 5}, {5, 5}).at_pixel, 0);
    const auto found = difference_of({1, std::nan(""), 9}, {1, 1, 1});
    EXPECT_EQ(found.at_pixel, 1);
    EXPECT_TRUE(std::isnan(found.largest) && std::isnan(found.rms) && std::isnan(found.relative()));
}

TEST(Comparison, TakesMapsOfEitherOrder) {
    auto ring = new_sky_map(HealpixPixels{4, healpix::Order::ring}, false);
    auto nest = new_sky_map(HealpixPixels{4, healpix::Order::nest}, false);
    ring.rows()(0, 100) = nest.rows()(0, 100) = 3;
    const auto found = compare(ring, nest);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].name, "TEMPERATURE");
    EXPECT_EQ(found[0].largest, 0);
    EXPECT_EQ(found[0].scale, 3);
}

TEST(Comparison, RejectsOtherPixelsOrColumns) {
    const auto map = new_sky_map(HealpixPixels{4, healpix::Order::ring}, false);
    EXPECT_THAT(
        [&] {
            compare(map, new_sky_map(HealpixPixels{2, healpix::Order::ring}, false));
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("the pixels must be the same")));
    EXPECT_THAT(
        [&] {
            compare(map, new_sky_map(HealpixPixels{4, healpix::Order::ring}, true));
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("has 1 columns")));
}

}  // namespace
}  // namespace zonal
