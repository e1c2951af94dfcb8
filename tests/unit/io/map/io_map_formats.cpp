// Reading maps of every layout, from files put together byte by byte.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/sky_map.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> ramp(std::int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

std::vector<float> as_floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

/// A map of nside 1 with one column of this format.
FitsBuilder small_map(const std::string& format, std::int64_t bytes, const std::string& name = "T") {
    return FitsBuilder().table(bytes, 12, {format}, {name}).healpix(1);
}

class MapFormats : public testing::Test {
  protected:
    MapFile read(const FitsBuilder& file, const ReadMapOptions& options = {}) {
        return read_map(folder.write("map.fits", file.bytes()), options);
    }
    std::string error(const FitsBuilder& file, const ReadMapOptions& options = {}) {
        return message_of<IoError>([&] { read(file, options); });
    }
    TemporaryFolder folder;
};

TEST_F(MapFormats, AnyRepeatCount) {
    const auto values = ramp(48);
    for (const std::int64_t repeat : {1, 4, 12, 48}) {
        auto file =
            FitsBuilder().table(8 * repeat, 48 / repeat, {std::to_string(repeat) + "D"}, {"X"}).healpix(2);
        EXPECT_EQ(read(file.end().data(big_endian(values))).columns[0].values, values) << repeat;
    }
}

TEST_F(MapFormats, InterleavedColumns) {
    std::string rows;
    for (int row = 0; row < 6; ++row) {
        for (int i = 0; i < 2; ++i) rows += big_endian(static_cast<float>(2 * row + i));
        for (int i = 0; i < 2; ++i) rows += big_endian(100.0 + 2 * row + i);
    }
    auto file = FitsBuilder().table(24, 6, {"2E", "2D"}, {"A", "B"}).healpix(1);
    const MapFile map = read(file.end().data(rows));
    EXPECT_EQ(map.columns[0].values, ramp(12));
    EXPECT_EQ(map.columns[0].precision, FilePrecision::float32);
    EXPECT_EQ(map.columns[1].values[11], 111);
    EXPECT_EQ(map.columns[1].precision, FilePrecision::float64);
}

TEST_F(MapFormats, IntegerColumns) {
    const auto check = [&](const std::string& format, std::int64_t bytes, const std::string& data,
                           FilePrecision precision) {
        const MapFile map = read(small_map(format, bytes).end().data(data));
        EXPECT_EQ(map.columns[0].values, ramp(12)) << format;
        EXPECT_EQ(map.columns[0].precision, precision) << format;
    };
    const auto values = ramp(12);
    check("B", 1, big_endian(std::vector<std::uint8_t>(values.begin(), values.end())),
          FilePrecision::float32);
    check("I", 2, big_endian(std::vector<std::int16_t>(values.begin(), values.end())),
          FilePrecision::float32);
    check("J", 4, big_endian(std::vector<std::int32_t>(values.begin(), values.end())),
          FilePrecision::float64);
    check("K", 8, big_endian(std::vector<std::int64_t>(values.begin(), values.end())),
          FilePrecision::float64);
}

TEST_F(MapFormats, LogicalColumn) {
    const MapFile map = read(small_map("L", 1).end().data(std::string("TTTTFFFFTF\0\0", 12)));
    EXPECT_THAT(map.columns[0].values, ElementsAre(1, 1, 1, 1, 0, 0, 0, 0, 1, 0, unseen_value, unseen_value));
}

TEST_F(MapFormats, ScaledIntegersWithNull) {
    auto file = small_map("I", 2).card("TSCAL1", "0.5").card("TZERO1", "100.").card("TNULL1", "3");
    const std::vector<std::int16_t> stored{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3};
    const MapFile map = read(file.end().data(big_endian(stored)));
    EXPECT_THAT(map.columns[0].values, ElementsAre(100, 100.5, 101, unseen_value, 102, 102.5, 103, 103.5, 104,
                                                   104.5, 105, unseen_value));
}

TEST_F(MapFormats, UnseenOfAnyWidthAndBadDataBecomeExactlyUnseen) {
    auto floats = as_floats(ramp(12));
    floats[1] = -1.6375e30f;
    floats[2] = -99.9f;
    floats[3] = std::numeric_limits<float>::quiet_NaN();
    const MapFile narrow = read(small_map("E", 4).card("BAD_DATA", "-99.9").end().data(big_endian(floats)));
    EXPECT_EQ(narrow.columns[0].values[1], unseen_value);
    EXPECT_EQ(narrow.columns[0].values[2], unseen_value);
    EXPECT_TRUE(std::isnan(narrow.columns[0].values[3]));

    // No float holds this one: it stands for no value, not for an infinite one.
    floats[2] = -std::numeric_limits<float>::infinity();
    const MapFile beyond = read(small_map("E", 4).card("BAD_DATA", "-1E+300").end().data(big_endian(floats)));
    EXPECT_EQ(beyond.columns[0].values[2], -std::numeric_limits<double>::infinity());

    // A float's UNSEEN that was copied to a file of doubles.
    auto doubles = ramp(12);
    doubles[1] = -1.6375e30f;
    EXPECT_NE(doubles[1], unseen_value);
    EXPECT_EQ(read(small_map("D", 8).end().data(big_endian(doubles))).columns[0].values[1], unseen_value);
    EXPECT_FALSE(is_unseen_value(-1.6e30));
}

TEST_F(MapFormats, PartialSkyWithPixelsOf32And64Bits) {
    const auto build = [](const std::string& format, std::int64_t bytes, auto pixels) {
        std::string rows;
        for (std::size_t i = 0; i < pixels.size(); ++i)
            rows += big_endian(pixels[i]) + big_endian(1.5f * float(i));
        return FitsBuilder()
            .table(bytes + 4, 3, {format, "E"}, {"PIXEL", "TEMPERATURE"})
            .healpix(4, "NESTED")
            .text("INDXSCHM", "EXPLICIT")
            .text("OBJECT", "PARTIAL")
            .end()
            .data(rows);
    };
    for (const auto& file : {build("J", 4, std::vector<std::int32_t>{7, 191, 0}),
                             build("K", 8, std::vector<std::int64_t>{7, 191, 0})}) {
        MapFile map = read(file);
        EXPECT_EQ(std::get<HealpixPixels>(map.pixelization), (HealpixPixels{4, healpix::Order::nest}));
        EXPECT_THAT(map.pixels, ElementsAre(7, 191, 0));
        ASSERT_EQ(map.columns.size(), 1u);
        EXPECT_THAT(map.columns[0].values, ElementsAre(0, 1.5, 3));
        expand_to_full_sky(map);
        EXPECT_FALSE(map.partial());
        EXPECT_EQ(map.columns[0].values.size(), 192u);
        EXPECT_EQ(map.columns[0].values[191], 1.5);
        EXPECT_EQ(map.columns[0].values[1], unseen_value);
    }
    EXPECT_THAT(error(build("J", 4, std::vector<std::int32_t>{7, 192, 0})),
                HasSubstr("pixel number 192: must be from 0 to 191"));
    EXPECT_THAT(error(build("J", 4, std::vector<std::int32_t>{7, -2, 0})), HasSubstr("pixel number -2"));
    EXPECT_THAT(error(build("J", 4, std::vector<std::int32_t>{7, 7, 0})),
                HasSubstr("pixel number 7 occurs twice"));
}

TEST_F(MapFormats, PixelColumnTellsOfPartialSkyWhereKeysDoNot) {
    auto file = FitsBuilder().table(12, 1, {"J", "D"}, {"PIX", "X"}).healpix(1);
    const MapFile map = read(file.end().data(big_endian(std::int32_t{5}) + big_endian(2.0)));
    EXPECT_THAT(map.pixels, ElementsAre(5));
    EXPECT_THAT(map.notes, ElementsAre(HasSubstr("no INDXSCHM: column 'PIX' taken as pixel numbers")));
}

TEST_F(MapFormats, MissingOrderingIsRingAndSaidSo) {
    auto file = FitsBuilder().table(8, 12, {"D"}, {"X"}).text("PIXTYPE", "HEALPIX").number("NSIDE", 1);
    file.end().data(big_endian(ramp(12)));
    const MapFile map = read(file);
    EXPECT_EQ(std::get<HealpixPixels>(map.pixelization).ordering, healpix::Order::ring);
    EXPECT_THAT(map.notes, ElementsAre(HasSubstr("no ORDERING: taken as RING")));
    const MapFile nest = read(file, {.ordering_if_absent = healpix::Order::nest});
    EXPECT_EQ(std::get<HealpixPixels>(nest.pixelization).ordering, healpix::Order::nest);
    EXPECT_TRUE(nest.notes.empty());
}

TEST_F(MapFormats, NsideFollowsFromSizeWhereThereIsNoKey) {
    auto file = FitsBuilder().table(8, 192, {"D"}, {"X"});
    EXPECT_EQ(std::get<HealpixPixels>(read(file.end().data(big_endian(ramp(192)))).pixelization).nside, 4);
}

TEST_F(MapFormats, ImagesOfStokesByTheirNamesAreOneMap) {
    auto file = FitsBuilder();
    const std::vector<std::string> names = {"Q_MAP", "U_MAP", "I_MAP"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto values = ramp(12);
        for (auto& value : values) value += 100 * static_cast<double>(i);
        file.table(8, 12, {"D"}, {"X"}).healpix(1).text("EXTNAME", names[i]).end().data(big_endian(values));
    }
    const MapFile map = read(file);
    ASSERT_EQ(map.columns.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(map.columns[i].name, names[i]);
        EXPECT_THAT(map.columns[i].values, Contains(100 * static_cast<double>(i) + 11));
    }
    EXPECT_EQ(map.columns[0].stokes, Stokes::Q);
    EXPECT_EQ(map.columns[2].stokes, Stokes::I);
}

TEST_F(MapFormats, NanIsUnseenWhereThatIsAskedFor) {
    auto values = ramp(12);
    values[5] = std::numeric_limits<double>::quiet_NaN();
    auto file = small_map("D", 8);
    file.end().data(big_endian(values));
    const auto path = folder.write("nan.fits", file.bytes());
    const auto map = read_sky_map(path, {.nan_is_unseen = true});
    values[5] = unseen_value;
    for (std::int64_t p = 0; p < 12; ++p) EXPECT_EQ(map.rows()(0, p), values[static_cast<std::size_t>(p)]);
    EXPECT_THAT(map.header().notes, Contains(HasSubstr("1 NaN taken as UNSEEN")));
    EXPECT_THAT(message_of<IoError>([&] { read_sky_map(path); }), HasSubstr("the first is pixel 5"));
}

TEST_F(MapFormats, NanThatAreUnseenAreCountedInEachColumn) {
    std::vector<double> rows(24, 1.0);
    for (const std::size_t at : {0U, 3U, 7U, 9U}) rows[at] = std::numeric_limits<double>::quiet_NaN();
    auto file = FitsBuilder().table(16, 12, {"D", "D"}, {"A", "B"}).healpix(1);
    const auto path = folder.write("nan.fits", file.end().data(big_endian(rows)).bytes());
    const auto map = read_sky_map(path, {.nan_is_unseen = true});
    EXPECT_THAT(map.header().notes, Contains(HasSubstr("column A: 1 NaN taken as UNSEEN")));
    EXPECT_THAT(map.header().notes, Contains(HasSubstr("column B: 3 NaN taken as UNSEEN")));
}

TEST_F(MapFormats, RejectsKeysThatContradictTheTable) {
    const std::string data = big_endian(ramp(12));
    const auto with = [&](const std::string& key, const std::string& value) {
        return error(FitsBuilder().table(8, 12, {"D"}, {"X"}).card(key, value).healpix(1).end().data(data));
    };
    EXPECT_THAT(with("NSIDE", "2"), HasSubstr("column 'X' has 12 pixels: 48 expected for NSIDE = 2"));
    EXPECT_THAT(with("NSIDE", "'one'"), HasSubstr("NSIDE = 'one': must be an integer"));
    EXPECT_THAT(with("NSIDE", "0"), HasSubstr("NSIDE = 0: must be from 1 to 2^29"));
    EXPECT_THAT(with("NSIDE", "-1"), HasSubstr("NSIDE = -1: must be from 1 to 2^29"));
    EXPECT_THAT(with("NSIDE", "999999999999"), HasSubstr("must be from 1 to 2^29"));
    EXPECT_THAT(with("ORDERING", "'SPIRAL'"), HasSubstr("ORDERING = 'SPIRAL': must be RING or NESTED"));
    EXPECT_THAT(with("PIXTYPE", "'CSC'"), HasSubstr("must be HEALPIX"));
    EXPECT_THAT(with("GRAIN", "4"), HasSubstr("GRAIN = 4"));
    EXPECT_THAT(with("INDXSCHM", "'SPARSE'"), HasSubstr("must be IMPLICIT or EXPLICIT"));
    EXPECT_THAT(with("POLCCONV", "'ABC'"), HasSubstr("must be COSMO or IAU"));
    EXPECT_THAT(with("BAD_DATA", "'x'"), HasSubstr("BAD_DATA = 'x': must be a number"));
}

TEST_F(MapFormats, GrainOfOnePixelIsNone) {
    for (const char* grain : {"0", "1"})
        EXPECT_EQ(
            read(small_map("D", 8).card("GRAIN", grain).end().data(big_endian(ramp(12)))).columns[0].values,
            ramp(12));
    EXPECT_THAT(error(small_map("D", 8).card("GRAIN", "2").end().data(big_endian(ramp(12)))),
                HasSubstr("GRAIN = 2: must be 0 or 1"));
}

TEST_F(MapFormats, NestedNeedsPowerOfTwo) {
    auto file = FitsBuilder().table(8, 108, {"D"}, {"X"}).healpix(3, "NESTED");
    EXPECT_THAT(error(file.end().data(big_endian(ramp(108)))), HasSubstr("NSIDE = 3: must be a power of 2"));
}

TEST_F(MapFormats, ColumnsThatAreNotNumbersAreLeftOutAndSaidSo) {
    for (const auto& [format, bytes] :
         {std::pair{"8A", 8}, {"C", 8}, {"M", 16}, {"1PE(3)", 8}, {"1QD(3)", 16}, {"8X", 1}}) {
        std::string rows;
        for (const double value : ramp(12)) rows += std::string(bytes, '\0') + big_endian(value);
        auto file =
            FitsBuilder().table(bytes + 8, 12, {format, "D"}, {"ODD", "T"}).healpix(1).end().data(rows);
        const MapFile map = read(file);
        ASSERT_EQ(map.columns.size(), 1u);
        EXPECT_EQ(map.columns[0].values, ramp(12));
        EXPECT_THAT(map.notes,
                    ElementsAre(HasSubstr("column 'ODD' of format '" + std::string(format) + "' left out")));
        EXPECT_THAT(error(file, {.fields = {"ODD"}}),
                    HasSubstr("only single numbers and logicals can be read"));
    }
}

TEST_F(MapFormats, CoordinateSystems) {
    const auto coordinates = [&](const std::string& value) {
        return read(small_map("D", 8).text("COORDSYS", value).end().data(big_endian(ramp(12)))).coordinates;
    };
    for (const char* name : {"G", "GAL", "Galactic"})
        EXPECT_EQ(coordinates(name), CoordinateSystem::galactic);
    for (const char* name : {"E", "ECL", "ecliptic"})
        EXPECT_EQ(coordinates(name), CoordinateSystem::ecliptic);
    for (const char* name : {"C", "Q", "EQU", "CEL", "CELESTIAL", "EQUATORIAL"}) {
        EXPECT_EQ(coordinates(name), CoordinateSystem::equatorial);
    }
    for (const char* name : {"", "unknown", "   "}) EXPECT_EQ(coordinates(name), CoordinateSystem::unknown);
}

TEST_F(MapFormats, IauNegatesUButNotUnseen) {
    std::vector<double> rows;
    for (int i = 0; i < 12; ++i) rows.insert(rows.end(), {1.0, 2.0, i == 4 ? unseen_value : 3.0});
    auto file =
        FitsBuilder().table(24, 12, {"D", "D", "D"}, {"I", "Q", "U"}).healpix(1).text("POLCCONV", "IAU");
    const MapFile map = read(file.end().data(big_endian(rows)));
    EXPECT_EQ(map.polarization_convention, PolarizationConvention::iau);
    EXPECT_EQ(map.columns[1].values[0], 2);
    EXPECT_EQ(map.columns[2].values[0], -3);
    EXPECT_EQ(map.columns[2].values[4], unseen_value);
}

TEST_F(MapFormats, MissingPaddingAndTrailingJunkAreHarmless) {
    const auto file = small_map("D", 8).end().bytes() + big_endian(ramp(12));
    EXPECT_EQ(read_map(folder.write("map.fits", file)).columns[0].values, ramp(12));
    auto padded = small_map("D", 8).end().data(big_endian(ramp(12))).bytes();
    EXPECT_EQ(read_map(folder.write("map.fits", padded + std::string(3000, 'x'))).columns[0].values,
              ramp(12));
}

TEST_F(MapFormats, NamesAreTakenLiterally) {
    const auto bytes = small_map("D", 8).end().data(big_endian(ramp(12))).bytes();
    for (const char* name : {"map[1].fits", "map.fits[1][col X]", "map+1", "!map", " map", "~map", "map(2)",
                             "-", "a'b\"c", "map.fits.Z", "ftp:", "mem:x", "map;1"}) {
        EXPECT_EQ(read_map(folder.write(name, bytes)).columns[0].values, ramp(12)) << name;
    }
    EXPECT_THAT(message_of<IoError>([] { read_map("http://localhost/map.fits"); }),
                HasSubstr("No such file"));
}

TEST_F(MapFormats, ReadsRelativeNames) {
    const auto bytes = small_map("D", 8).end().data(big_endian(ramp(12))).bytes();
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.folder());
    for (const char* name : {"!map", "~map", "-", " map"}) {
        folder.write(name, bytes);
        EXPECT_EQ(read_map(name).columns[0].values, ramp(12)) << name;
    }
    std::filesystem::current_path(before);
}

}  // namespace
}  // namespace zonal::io
