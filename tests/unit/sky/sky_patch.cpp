#include "sky/sky_patch.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/comparison.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/resampling.hpp"
#include "zonal/sky/udgrade.hpp"

// Partial skies with memory for their own pixels, compared with the same on the whole sky.
namespace zonal {
namespace {

using healpix::Order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr std::int64_t nside = 8, n_pixels = 12 * nside * nside;

/// A part around longitude 0, whose rings' first and last pixels it has, in no order.
MapFile part_of_sky(Order order, std::vector<std::int64_t> pixels = {300, 17, 18, 319, 288, 5, 301, 100}) {
    MapFile file;
    file.pixelization = HealpixPixels{nside, order};
    for (const char* name : {"A", "HITS"}) {
        MapColumn column{.name = name};
        for (const auto pixel : pixels)
            column.values.push_back(std::sin(static_cast<double>(pixel + 3 * std::ssize(file.columns))));
        file.columns.push_back(std::move(column));
    }
    file.columns[0].values[2] = unseen_value;
    file.columns[1].auxiliary = Auxiliary::hits;
    file.pixels = std::move(pixels);
    return file;
}

SkyMap patch(Order order) {
    return SkyMap(part_of_sky(order), Extent::own_pixels);
}
SkyMap whole(Order order) {
    return SkyMap(part_of_sky(order));
}

/// Says whether two maps hold the same, in the same pixels.
void expect_same(SkyMap found, const SkyMap& expected) {
    found.expand();
    for (std::int64_t row = 0; row < expected.rows().extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < expected.rows().extent(1); ++pixel)
            ASSERT_EQ(found.rows()(row, pixel), expected.rows()(row, pixel)) << row << " " << pixel;
}

TEST(CopiesBetween, FindsWhatBothHave) {
    const std::vector<PixelRange> a{{0, 10}, {40, 50}}, b{{5, 15}, {35, 50}}, c{{40, 50}, {0, 10}};
    EXPECT_THAT(copies_between(a, b), ElementsAre(PixelCopy{5, 0, 5}, PixelCopy{10, 15, 10}));
    EXPECT_THAT(copies_between(c, b), ElementsAre(PixelCopy{15, 0, 5}, PixelCopy{0, 15, 10}));
    EXPECT_THAT(copies_between(std::vector<PixelRange>{{0, 5}}, std::vector<PixelRange>{{5, 15}}), IsEmpty());
}

TEST(SkyPatches, HaveTheirPixelsAndNoOthers) {
    for (const auto order : {Order::ring, Order::nest}) {
        const auto map = patch(order);
        EXPECT_TRUE(map.is_patch());
        EXPECT_EQ(map.rows().extent(1), 8);
        EXPECT_EQ(map.grid().n_pixels(), 8);
        EXPECT_EQ(map.whole_grid().n_pixels(), n_pixels);
        expect_same(map, whole(order));
    }
    EXPECT_EQ(patch(Order::ring).place(17), 1);
    EXPECT_EQ(patch(Order::ring).place(16), -1);
    EXPECT_EQ(patch(Order::ring).place(n_pixels - 1), -1);
    EXPECT_FALSE(SkyMap(whole(Order::ring).to_file(), Extent::whole_sky).is_patch());
}

TEST(SkyPatches, NameTheFirstPixelThatIsNotKnown) {
    const auto refusal_of = [](std::vector<std::int64_t> pixels) {
        return [pixels = std::move(pixels)] {
            SkyMap map(part_of_sky(Order::ring, pixels), Extent::own_pixels);
            Array<double, 2> known(map.rows().extents());
            apply_mask(map, {}, MaskMode::error, known.view(), 1);
        };
    };
    EXPECT_THAT(refusal_of({0, 1, 40, 2}), ThrowsMessage<InvalidArgument>(HasSubstr(
                                               "765 pixels are UNSEEN or masked, the first is pixel 3 in")));
    EXPECT_THAT(refusal_of({0, 1, 2, 40}),
                ThrowsMessage<InvalidArgument>(HasSubstr("the first is pixel 2 in")));
    EXPECT_THAT(refusal_of({5, 1, 40, 2}),
                ThrowsMessage<InvalidArgument>(HasSubstr("the first is pixel 0 in")));
}

TEST(SkyPatches, FilesComeBackAsTheyWere) {
    for (const auto order : {Order::ring, Order::nest}) {
        const auto file = part_of_sky(order), back = patch(order).to_file();
        EXPECT_EQ(back.pixels, file.pixels);
        for (std::size_t k = 0; k < file.columns.size(); ++k)
            EXPECT_EQ(back.columns[k].values, file.columns[k].values);
    }
}

TEST(SkyPatches, GridHasTheirWeights) {
    double area = 0;
    const auto map = patch(Order::nest);
    for (const Ring& ring : map.grid().rings()) area += ring.weight * static_cast<double>(ring.n_pixels);
    EXPECT_NEAR(area, 8 * map.whole_grid().rings()[0].weight, 8e-15);
}

TEST(SkyPatches, AreReorderedUdgradedAndComparedAsWholeSkies) {
    for (const auto order : {Order::ring, Order::nest}) {
        const HealpixPixels other{nside, order == Order::ring ? Order::nest : Order::ring};
        const auto reordered = reorder(patch(order), other);
        EXPECT_TRUE(reordered.is_patch());
        EXPECT_TRUE(std::is_sorted(reordered.header().pixels.begin(), reordered.header().pixels.end()));
        expect_same(reordered, reorder(whole(order), other));
        EXPECT_EQ(reordered.header().pixels, reorder(whole(order), other).header().pixels);
        for (const std::int64_t to : {1, 4, 8, 32})
            for (const bool pessimistic : {false, true})
                for (const auto combine : {Combine::mean, Combine::sum}) {
                    const auto result = udgrade(patch(order), to, {combine, pessimistic});
                    EXPECT_TRUE(result.is_patch());
                    expect_same(result, udgrade(whole(order), to, {combine, pessimistic}));
                }
    }
    auto file = part_of_sky(Order::ring, {301, 17, 5, 6, 700, 701, 702, 703});
    const SkyMap other(file, Extent::own_pixels), other_whole(file);
    const auto expected = compare(whole(Order::ring), other_whole);
    for (const auto& [a, b] : {std::pair{patch(Order::ring), other},
                               {whole(Order::ring), other},
                               {patch(Order::ring), other_whole}}) {
        const auto found = compare(a, b);
        for (std::size_t row = 0; row < expected.size(); ++row) {
            EXPECT_EQ(found[row].n_unseen_in_one, expected[row].n_unseen_in_one);
            EXPECT_EQ(found[row].n_pixels, expected[row].n_pixels);
            EXPECT_EQ(found[row].largest, expected[row].largest);
            EXPECT_EQ(found[row].at_pixel, expected[row].at_pixel);
            EXPECT_EQ(found[row].rms, expected[row].rms);
        }
    }
}

TEST(SkyPatches, LoseUnseenPixelsOrBecomeFullSkies) {
    auto map = patch(Order::ring);
    for (std::int64_t row = 0; row < 2; ++row) map.rows()(row, map.place(18)) = unseen_value;
    auto full = map;
    map.make_partial_sky();
    EXPECT_THAT(map.header().pixels, ElementsAre(300, 17, 319, 288, 5, 301, 100));
    EXPECT_EQ(map.to_file().columns[0].values.size(), 7U);
    full.make_full_sky();
    EXPECT_FALSE(full.is_patch());
    EXPECT_FALSE(full.header().partial());
    EXPECT_EQ(full.to_file().columns[0].values.size(), static_cast<std::size_t>(n_pixels));
}

TEST(SkyPatches, OfCarImagesAreTheirRings) {
    MapFile file;
    file.pixelization = CarPixels{6, 10, 0.1, false};
    for (std::int64_t pixel = 20; pixel < 40; ++pixel) file.pixels.push_back(pixel);
    file.columns.push_back({.name = "A", .values = std::vector<double>(20, 2.5)});
    const SkyMap map(file, Extent::own_pixels);
    EXPECT_EQ(map.grid().n_rings(), 2);
    expect_same(map, SkyMap(file));
}

TEST(SkyPatches, RejectPixelsOutsideAndTransforms) {
    EXPECT_THAT(
        [] {
            SkyMap(part_of_sky(Order::ring, {1, 2, n_pixels}), Extent::own_pixels);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("pixels = 768: must be from 0 to 767")));
    EXPECT_THAT([] { patch(Order::ring).part()->halo(0.1); },
                ThrowsMessage<InvalidArgument>(HasSubstr("SkyMap::expand")));
}

}  // namespace
}  // namespace zonal
