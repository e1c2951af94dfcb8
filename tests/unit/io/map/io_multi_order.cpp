// Maps of pixels of several nside.
#include "io/map/multi_order.hpp"

#include <gmock/gmock.h>

#include <array>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/io/sky_map.hpp"
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

MapFile nested(std::int64_t nside, std::vector<double> values) {
    MapFile map;
    map.pixelization = HealpixPixels{nside, healpix::Order::nest};
    map.columns = {{.name = "A", .values = std::move(values)}};
    return map;
}

TEST(MultiOrder, PixelsThatAgreeAreMerged) {
    std::vector<double> values(192, 7);
    for (std::size_t i = 0; i < 16; ++i)
        values[i] = i < 12 ? static_cast<double>(i / 4) : static_cast<double>(i);
    values[15] = unseen_value;
    auto map = nested(4, values);
    const auto merged = merge_cells(map);
    std::vector<std::int64_t> expected;
    for (int i = 1; i < 12; ++i) expected.push_back(unique(0, i));
    for (int i = 0; i < 3; ++i) expected.push_back(unique(1, i));
    for (int i = 12; i < 15; ++i) expected.push_back(unique(2, i));
    EXPECT_EQ(merged.unique, expected);
    EXPECT_EQ(merged.finest_order, 2);
    EXPECT_THAT(std::vector<std::int64_t>(merged.places.end() - 6, merged.places.end()),
                ElementsAre(0, 4, 8, 12, 13, 14));
    // One column that tells them apart keeps four pixels apart.
    map.columns.push_back(map.columns[0]);
    map.columns[1].values[5] = -1;
    EXPECT_EQ(merge_cells(map).unique.size(), expected.size() + 3);
    EXPECT_EQ(merge_cells(nested(8, std::vector<double>(768, 3.5))).unique.size(), 12U);
}

TEST(MultiOrder, FourCellsInARowThatAreNotSiblingsStayApart) {
    auto map = nested(4, std::vector<double>(10, 1));
    map.pixels = {0, 1, 2, 3, 4, 8, 12, 13, 14, 15};  // a first child, two finer cells, and the last child
    EXPECT_THAT(merge_cells(map).unique, ElementsAre(unique(1, 0), unique(1, 3), unique(2, 4), unique(2, 8)));
}

TEST(MultiOrder, MergedCellsHoldTheMapInEitherOrderAndInPart) {
    const std::int64_t nside = 8;
    std::vector<double> values(768);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i % 64 < 21 ? static_cast<double>(i % 5) : static_cast<double>(i / 64);
    for (std::size_t i = 100; i < 130; ++i) values[i] = unseen_value;
    const MapFile nest = nested(nside, values);
    MapFile ring = nest, part = nest;
    ring.pixelization = HealpixPixels{nside, healpix::Order::ring};
    for (std::int64_t i = 0; i < 768; ++i) ring.columns[0].values[healpix::nest2ring(nside, i)] = values[i];
    part.pixelization = ring.pixelization;
    part.columns[0].values.clear();
    for (std::int64_t i = 767; i >= 0; --i) {
        if (is_unseen_value(ring.columns[0].values[i])) continue;
        part.pixels.push_back(i);
        part.columns[0].values.push_back(ring.columns[0].values[i]);
    }
    for (const MapFile* map : std::array<const MapFile*, 3>{&nest, &ring, &part}) {
        const auto merged = merge_cells(*map);
        EXPECT_LT(merged.unique.size(), 500U);
        std::vector<double> of_cells;
        for (const auto place : merged.places) of_cells.push_back(map->columns[0].values[place]);
        const MultiOrderCells cells(merged.unique, nside, "map");
        std::vector<double> again(768, unseen_value);
        const auto spread = cells.spread(of_cells);
        for (std::size_t i = 0; i < spread.size(); ++i) again[cells.pixels()[i]] = spread[i];
        EXPECT_EQ(again, values);
    }
}

TEST(MultiOrder, MemoryOfMergingIsKnownBefore) {
    // A cell has a number and a place of 8 bytes each, once while cells are merged and once in the result.
    constexpr double of_cell = 2 * (8 + 8);
    EXPECT_EQ(bytes_of_merging(192), 192 * of_cell);
    EXPECT_EQ(bytes_of_merging(std::int64_t{12} << 58), 12 * 0x1p58 * of_cell);
    // A map of several columns is copied first; of a part, its pixels' numbers, too.
    auto file = nested(4, std::vector<double>(192, 1));
    file.columns.push_back({.name = "B", .values = std::vector<double>(192, 2)});
    EXPECT_EQ(bytes_of_multi_order(SkyMap(file)), 192 * (2 * 8 + of_cell));
    for (auto& column : file.columns) column.values.resize(3);
    file.pixels = {5, 7, 100};
    EXPECT_EQ(bytes_of_multi_order(SkyMap(file)), 3 * (2 * 8 + 8 + of_cell));
}

TEST(MultiOrder, WhatHasNoCellsIsNotMerged) {
    EXPECT_THAT(
        message_of<InvalidArgument>([] { merge_cells(nested(2, std::vector<double>(48, unseen_value))); }),
        HasSubstr("every pixel is UNSEEN"));
    auto map = nested(3, std::vector<double>(108, 1));
    map.pixelization = HealpixPixels{3, healpix::Order::ring};
    EXPECT_THAT(message_of<InvalidArgument>([&] { merge_cells(map); }),
                HasSubstr("nside that is a power of 2"));
    auto twice = nested(2, {1, 1, 1, 1});
    twice.pixels = {0, 1, 1, 3};
    EXPECT_THAT(message_of<InvalidArgument>([&] { merge_cells(twice); }),
                HasSubstr("nested pixel 1 occurs twice"));
    map.pixelization = CarPixels{9, 12};
    EXPECT_THAT(message_of<InvalidArgument>([&] { merge_cells(map); }),
                HasSubstr("nside that is a power of 2"));
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
