// Maps of pixels of several nside.
#include "io/map/multi_order.hpp"

#include <gmock/gmock.h>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t unique(int order, std::int64_t pixel) {
    return (std::int64_t{4} << (2 * order)) + pixel;
}

/// Pixel 0 of nside 1 in four, of which the last is in four again.
std::vector<std::int64_t> cells() {
    std::vector<std::int64_t> all{unique(1, 0), unique(1, 1), unique(1, 2)};
    for (int i = 12; i < 16; ++i) all.push_back(unique(2, i));
    for (int i = 1; i < 12; ++i) all.push_back(unique(0, i));
    return all;
}

TEST(MultiOrder, CellsAreSpreadOnTheFinestOfThem) {
    const MultiOrderCells all(cells(), {}, "map");
    EXPECT_EQ(all.pixelization(), (HealpixPixels{4, healpix::Order::nest}));
    EXPECT_THAT(all.pixels(), ElementsAre());
    std::vector<double> values{0, 1, 2, 3, 4, 5, unseen_value};
    for (int i = 1; i < 12; ++i) values.push_back(100 + i);
    const auto map = all.spread(values);
    ASSERT_EQ(map.size(), 192u);
    EXPECT_THAT(std::vector<double>(map.begin(), map.begin() + 16),
                ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, unseen_value));
    for (int i = 1; i < 12; ++i)
        EXPECT_THAT(std::vector<double>(map.begin() + 16 * i, map.begin() + 16 * (i + 1)), Each(100 + i));
}

TEST(MultiOrder, CoarserPixelsHaveTheMeanByArea) {
    std::vector<double> values{0, 1, 2, 3, 4, 5, unseen_value};
    for (int i = 1; i < 12; ++i) values.push_back(100 + i);
    const MultiOrderCells coarse(cells(), 1, "map"), middle(cells(), 2, "map"), fine(cells(), 8, "map");
    EXPECT_NEAR(coarse.spread(values)[0], (0 + 1 + 2 + (3 + 4 + 5) / 4.0) / (3 + 3 / 4.0), 1e-15);
    EXPECT_EQ(coarse.spread(values)[11], 111);
    EXPECT_EQ(middle.spread(values)[3], 4);
    EXPECT_EQ(middle.spread(values)[2], 2);
    EXPECT_EQ(fine.spread(values).size(), 768u);
    EXPECT_EQ(fine.spread(values)[48], 3);
}

TEST(MultiOrder, CellsMayCoverAPart) {
    const std::vector<std::int64_t> part{unique(2, 12), unique(1, 7), unique(2, 191)};
    const MultiOrderCells fine(part, {}, "map"), coarse(part, 1, "map");
    EXPECT_THAT(fine.pixels(), ElementsAre(12, 28, 29, 30, 31, 191));
    EXPECT_THAT(fine.spread({1, 2, 3}), ElementsAre(1, 2, 2, 2, 2, 3));
    EXPECT_THAT(coarse.pixels(), ElementsAre(0, 1, 11));
    EXPECT_THAT(coarse.spread({1, 2, 3}), ElementsAre(1, 2, 3));
}

TEST(MultiOrder, WhatAreNoCellsIsRefused) {
    const auto error = [](const std::vector<std::int64_t>& numbers, std::optional<std::int64_t> nside = {}) {
        return message_of<InvalidArgument>([&] { MultiOrderCells(numbers, nside, "map"); });
    };
    for (const std::int64_t number :
         {std::int64_t{-1}, std::int64_t{0}, std::int64_t{3}, unique(30, 0), INT64_MAX})
        EXPECT_THAT(error({number}), HasSubstr("must be 4 nside^2 plus a pixel number")) << number;
    EXPECT_THAT(error({unique(1, 3), unique(2, 12)}), HasSubstr("overlap"));
    EXPECT_THAT(error({unique(1, 3), unique(1, 3)}), HasSubstr("overlap"));
    EXPECT_THAT(error({}), HasSubstr("without cells"));
    EXPECT_THAT(error({unique(1, 3)}, 3), HasSubstr("nside = 3: must be a power of 2"));
    EXPECT_THAT(
        message_of<OutOfMemory>([] { MultiOrderCells({unique(29, 5)}, {}, "big.fits"); }),
        HasSubstr("big.fits: nside 536870912 for a multi-order map (a smaller one: multi_order_nside"));
}

}  // namespace
}  // namespace zonal::io
