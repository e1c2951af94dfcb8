#include "zonal/sky/sky_map.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <span>

#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

using healpix::Order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t nside = 4, n_pixels = 12 * nside * nside;

/// Values 1000 k + i in pixel i of column k, in the file's order.
MapFile content(Order order, const std::vector<Stokes>& stokes, std::vector<std::int64_t> pixels = {}) {
    MapFile file;
    file.pixelization = HealpixPixels{nside, order};
    file.pixels = std::move(pixels);
    const auto size = file.partial() ? file.pixels.size() : static_cast<std::size_t>(n_pixels);
    for (std::size_t k = 0; k < stokes.size(); ++k) {
        MapColumn column{
            .name = "C" + std::to_string(k), .stokes = stokes[k], .values = std::vector<double>(size)};
        std::iota(column.values.begin(), column.values.end(), 1000.0 * static_cast<double>(k));
        file.columns.push_back(std::move(column));
    }
    return file;
}

TEST(SkyMaps, RowsAreInRingOrder) {
    const SkyMap map(content(Order::nest, {Stokes::none}));
    for (std::int64_t pixel = 0; pixel < n_pixels; ++pixel)
        EXPECT_EQ(map.rows()(0, pixel), healpix::ring2nest(nside, pixel));
}

TEST(SkyMaps, FileComesBackAsItWas) {
    for (const auto order : {Order::ring, Order::nest})
        for (const auto& pixels : {std::vector<std::int64_t>{}, std::vector<std::int64_t>{17, 3, 100}}) {
            const auto file = content(order, {Stokes::U, Stokes::none, Stokes::Q, Stokes::I}, pixels);
            const auto back = SkyMap(file).to_file();
            EXPECT_EQ(back.pixelization, file.pixelization);
            EXPECT_EQ(back.pixels, file.pixels);
            for (std::size_t k = 0; k < file.columns.size(); ++k)
                EXPECT_EQ(back.columns[k].values, file.columns[k].values);
        }
}

TEST(SkyMaps, PartialSkyIsUnseenElsewhere) {
    const SkyMap map(content(Order::nest, {Stokes::none}, {5, 2}));
    EXPECT_EQ(map.rows()(0, healpix::nest2ring(nside, 5)), 0);
    EXPECT_EQ(map.rows()(0, healpix::nest2ring(nside, 2)), 1);
    const auto row = map.rows()[0];
    EXPECT_EQ(std::count(row.data(), row.data() + row.size(), unseen_value), n_pixels - 2);
}

TEST(SkyMaps, GroupsStokesColumnsWhereverTheyStand) {
    const SkyMap map(content(Order::ring, {Stokes::U, Stokes::none, Stokes::Q, Stokes::I}));
    ASSERT_EQ(map.groups().size(), 2u);
    EXPECT_EQ(map.groups()[0].fields, Fields::iqu);
    EXPECT_EQ(map.groups()[1].fields, Fields::scalars);
    EXPECT_EQ(map.row_name(0), "C3");
    EXPECT_EQ(map.row_name(1), "C2");
    EXPECT_EQ(map.row_name(2), "C0");
    EXPECT_EQ(map.row_name(3), "C1");
    EXPECT_EQ(map.rows()(1, 0), 2000);
    EXPECT_EQ(map.intensity_row(), 0);
}

TEST(SkyMaps, ColumnsWithoutValuesAreZero) {
    auto file = content(Order::ring, {Stokes::none});
    file.columns[0].values.clear();
    const SkyMap map(std::move(file));
    EXPECT_EQ(map.to_file().columns[0].values, std::vector<double>(n_pixels));
}

TEST(SkyMaps, MapOnOtherPixelsIsAFullSkyOfZeros) {
    const SkyMap map(content(Order::ring, {Stokes::Q, Stokes::U}, {1, 2}));
    const SkyMap other(map, HealpixPixels{8, Order::nest});
    EXPECT_EQ(other.nside(), 8);
    EXPECT_FALSE(other.header().partial());
    EXPECT_EQ(other.rows()(1, 700), 0);
    EXPECT_TRUE(SkyMap(map, map.header().pixelization).header().partial());
}

TEST(SkyMaps, PartialSkyKeepsWhatAnyRowHas) {
    SkyMap map(content(Order::ring, {Stokes::none, Stokes::none}));
    for (double& value : std::span(map.rows().data(), 2 * n_pixels)) value = unseen_value;
    map.rows()(0, 7) = 1;
    map.rows()(1, 9) = 2;
    map.make_partial_sky();
    EXPECT_THAT(map.header().pixels, ElementsAre(7, 9));
    EXPECT_THAT(map.to_file().columns[1].values, ElementsAre(unseen_value, 2));
}

TEST(SkyMaps, PartialSkyLosesWhatHasBecomeUnseen) {
    SkyMap map(content(Order::nest, {Stokes::none}, {17, 3, 100}));
    map.rows()(0, healpix::nest2ring(nside, 3)) = unseen_value;
    map.make_partial_sky();
    EXPECT_THAT(map.header().pixels, ElementsAre(17, 100));
    EXPECT_THAT(map.to_file().columns[0].values, ElementsAre(0, 2));
}

TEST(SkyMaps, RowsAreCopiedThereAndBackAndNoFurther) {
    SkyMap map(content(Order::ring, {Stokes::none, Stokes::none}));
    std::vector<double> memory(4 * n_pixels, -7);
    const View<double, 2> middle(memory.data() + n_pixels, {2, n_pixels});
    map.copy_rows<double>(middle, 1);
    for (std::int64_t i = 0; i < 4 * n_pixels; ++i) {
        const auto row = i / n_pixels - 1, pixel = i % n_pixels;
        EXPECT_EQ(memory[static_cast<std::size_t>(i)],
                  row < 0 || row > 1 ? -7 : static_cast<double>(1000 * row + pixel));
    }
    middle(1, 9) = static_cast<float>(unseen_value);
    middle(0, n_pixels - 1) = 5;
    map.set_rows<double>(std::as_const(middle), 1);
    EXPECT_EQ(map.rows()(1, 9), unseen_value);
    EXPECT_EQ(map.rows()(0, n_pixels - 1), 5);
    EXPECT_EQ(map.rows()(1, n_pixels - 1), 1000 + n_pixels - 1);
    const View<double, 2> other(memory.data(), {1, n_pixels});
    EXPECT_THAT([&] { map.copy_rows<double>(other, 1); },
                ThrowsMessage<InvalidArgument>(
                    HasSubstr("values: are 1 x 192: must be the map's 2 rows of 192 pixels")));
}

TEST(SkyMaps, OfAPartTakeTheValuesOfItsPixels) {
    const std::shared_ptr<const SkyPart> part = std::make_shared<const WholeSky>(Grid::healpix(nside));
    const SkyMap map(content(Order::ring, {Stokes::U, Stokes::none, Stokes::Q}), part);
    for (std::int64_t row = 0; row < 3; ++row)
        for (const std::int64_t pixel : {std::int64_t{0}, n_pixels - 1})
            EXPECT_EQ(map.rows()(row, pixel), (row == 0 ? 2000 : row == 1 ? 0 : 1000) + pixel);
    auto file = content(Order::ring, {Stokes::none, Stokes::none});
    file.columns[0].values.clear();
    EXPECT_EQ(SkyMap(file, part).rows()(0, 5), 0);
    EXPECT_EQ(SkyMap(file, part).rows()(1, 5), 1005);
    file.columns[1].values.pop_back();
    EXPECT_THAT([&] { SkyMap(file, part); },
                ThrowsMessage<InvalidArgument>(HasSubstr("column C1: 191 pixels, must be 192")));
}

TEST(SkyMaps, IntensityIsTheColumnThatSaysSoOrTheOnlyOne) {
    const auto row = [](const std::vector<Stokes>& stokes) {
        return SkyMap(content(Order::ring, stokes)).intensity_row();
    };
    EXPECT_EQ(row({Stokes::none}), 0);
    EXPECT_EQ(row({Stokes::none, Stokes::none}), -1);
    EXPECT_EQ(row({Stokes::Q, Stokes::U}), -1);
    EXPECT_EQ(row({Stokes::none, Stokes::none, Stokes::I}), 2);
}

TEST(SkyMaps, AreOneSkyWithOneFieldOrIquAlone) {
    const auto require = [](const std::vector<Stokes>& stokes) {
        return [stokes] { require_one_sky(SkyMap(content(Order::ring, stokes))); };
    };
    EXPECT_NO_THROW(require({Stokes::none})());
    EXPECT_NO_THROW(require({Stokes::I, Stokes::Q, Stokes::U})());
    EXPECT_NO_THROW(require({Stokes::Q, Stokes::U})());
    EXPECT_THAT(require({Stokes::none, Stokes::none}),
                ThrowsMessage<InvalidArgument>(HasSubstr("has 2 columns: choose one of them")));
    EXPECT_THROW(require({Stokes::Q, Stokes::U, Stokes::none})(), InvalidArgument);
}

TEST(SkyMaps, RowsThatAreTakenOutKeepTheirColumns) {
    const SkyMap map(content(Order::ring, {Stokes::none, Stokes::none, Stokes::none}));
    const SkyMap some(map, Fields::scalars, {2, 0});
    EXPECT_EQ(some.rows().extents(), (std::array<std::int64_t, 2>{2, n_pixels}));
    EXPECT_EQ(some.row_name(0), "C2");
    EXPECT_EQ(some.row_name(1), "C0");
    EXPECT_EQ(some.rows()(0, n_pixels - 1), 2000 + n_pixels - 1);
    EXPECT_EQ(some.rows()(1, 1), 1);
}

TEST(SkyMaps, RejectsWhatIsNoMap) {
    const auto make = [](MapFile file) { return [file] { SkyMap{file}; }; };
    EXPECT_THAT(make(content(Order::ring, {Stokes::Q})),
                ThrowsMessage<InvalidArgument>(HasSubstr("Q without U")));
    auto file = content(Order::ring, {Stokes::none});
    file.columns[0].values[5] = std::nan("");
    EXPECT_THAT(make(file),
                ThrowsMessage<InvalidArgument>(HasSubstr("1 pixels are NaN, the first is pixel 5")));
    file.columns[0].values.resize(100);
    EXPECT_THAT(make(file), ThrowsMessage<InvalidArgument>(HasSubstr("100 pixels, must be 192")));
    file = content(Order::ring, {Stokes::none});
    for (double& value : file.columns[0].values) value = unseen_value;
    EXPECT_THAT([&] { SkyMap(file).make_partial_sky(); },
                ThrowsMessage<InvalidArgument>(HasSubstr("UNSEEN")));
}

TEST(SkyMaps, SayWhatMemoryTheyTakeBesideTheirFiles) {
    constexpr double rings = (4 * nside - 1) * sizeof(Ring), all = n_pixels;
    auto whole = content(Order::ring, {Stokes::none, Stokes::none, Stokes::none});
    // A column at a time is there twice.
    EXPECT_EQ(SkyMap::bytes_beside(whole, Extent::whole_sky), 8 * all + rings);
    EXPECT_EQ(SkyMap::bytes_beside(whole, Extent::own_pixels), 8 * all + rings);
    for (auto& column : whole.columns) column.values.clear();
    EXPECT_EQ(SkyMap::bytes_beside(whole, Extent::whole_sky), 8 * 3 * all + rings);
    auto part = content(Order::ring, {Stokes::none, Stokes::none, Stokes::none}, {1, 5, 9, 100});
    // What three columns grow by, the list of places and a column that is there twice.
    EXPECT_EQ(SkyMap::bytes_beside(part, Extent::whole_sky), 8 * (3 * (all - 4) + 2 * 4) + rings);
    // The whole grid, that of the rings with pixels, and a copy.
    EXPECT_EQ(SkyMap::bytes_beside(part, Extent::own_pixels), 8 * 2 * 4 + 3 * rings);
    for (auto& column : part.columns) column.values.clear();
    EXPECT_EQ(SkyMap::bytes_beside(part, Extent::own_pixels), 8 * 3 * 4 + 3 * rings);
}

TEST(SkyMaps, RejectsASkyLargerThanTheMachine) {
    auto file = content(Order::ring, {Stokes::none}, {3});
    file.pixelization = HealpixPixels{healpix::max_nside, Order::ring};
    EXPECT_THROW(SkyMap{file}, OutOfMemory);
}

TEST(SkyMaps, NewMapHasTheColumnsOfASky) {
    const auto map = new_sky_map(CarPixels{10, 20, 0.1, false}, true, "K");
    EXPECT_EQ(map.nside(), 0);
    EXPECT_EQ(map.rows().extents(), (std::array<std::int64_t, 2>{3, 200}));
    EXPECT_EQ(map.column(2).unit, "K");
    EXPECT_EQ(map.groups()[0].fields, Fields::iqu);
}

}  // namespace
}  // namespace zonal
