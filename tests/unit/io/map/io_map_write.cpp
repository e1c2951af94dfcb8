#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/sky_map.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

MapColumn column(const std::string& name, std::int64_t count, FilePrecision precision,
                 Stokes stokes = Stokes::none) {
    MapColumn result{.name = name, .unit = "uK", .precision = precision, .stokes = stokes};
    for (std::int64_t i = 0; i < count; ++i) result.values.push_back(std::sin(1.0 + static_cast<double>(i)));
    if (precision == FilePrecision::float32) {
        for (double& value : result.values) value = static_cast<float>(value);
    }
    return result;
}

MapFile healpix_map(std::int64_t nside, FilePrecision precision,
                    healpix::Order ordering = healpix::Order::ring) {
    MapFile map;
    map.pixelization = HealpixPixels{nside, ordering};
    map.columns = {column("I_STOKES", 12 * nside * nside, precision, Stokes::I),
                   column("Q_STOKES", 12 * nside * nside, precision, Stokes::Q),
                   column("U_STOKES", 12 * nside * nside, precision, Stokes::U)};
    return map;
}

class MapWriting : public testing::Test {
  protected:
    std::string path(const std::string& name = "map.fits") const { return folder.path(name); }
    TemporaryFolder folder;
};

TEST_F(MapWriting, RoundTripKeepsEverything) {
    for (const auto precision : {FilePrecision::float32, FilePrecision::float64}) {
        MapFile map = healpix_map(16, precision, healpix::Order::nest);
        map.coordinates = CoordinateSystem::ecliptic;
        map.polarization_convention = PolarizationConvention::cosmo;
        map.columns[0].values[5] = unseen_value;
        map.columns[1].values[6] = std::numeric_limits<double>::quiet_NaN();
        map.cards = {{"EXTNAME", std::string("MY MAP"), ""},
                     {"FWHM", 0.1, "[rad]"},
                     {"MAX-LPOL", std::int64_t{47}, ""},
                     {"LENSED", true, "a logical"},
                     {"METHOD", std::string("it's 'quoted'"), ""}};
        write_map(path(), map, {.overwrite = true});
        const MapFile back = read_map(path());
        EXPECT_EQ(back.pixelization, map.pixelization);
        EXPECT_EQ(back.coordinates, map.coordinates);
        EXPECT_EQ(back.polarization_convention, map.polarization_convention);
        ASSERT_EQ(back.columns.size(), 3u);
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(back.columns[i].name, map.columns[i].name);
            EXPECT_EQ(back.columns[i].unit, "uK");
            EXPECT_EQ(back.columns[i].precision, precision);
            EXPECT_EQ(back.columns[i].stokes, map.columns[i].stokes);
        }
        EXPECT_EQ(back.columns[0].values, map.columns[0].values);
        EXPECT_TRUE(std::isnan(back.columns[1].values[6]));
        EXPECT_EQ(back.columns[2].values, map.columns[2].values);
        ASSERT_EQ(back.cards.size(), map.cards.size());
        for (std::size_t i = 0; i < map.cards.size(); ++i) {
            EXPECT_EQ(back.cards[i].key, map.cards[i].key);
            EXPECT_EQ(back.cards[i].value, map.cards[i].value);
        }
        EXPECT_TRUE(back.notes.empty());
    }
    EXPECT_EQ(folder.n_entries(), 1u);
}

TEST_F(MapWriting, RowsHold1024PixelsWhereTheSizeAllowsIt) {
    write_map(path("a"), healpix_map(16, FilePrecision::float32));
    EXPECT_EQ(inspect(path("a")).hdus.at(1).columns.at(0).format, "1024E");
    write_map(path("b"), healpix_map(8, FilePrecision::float64));
    EXPECT_EQ(inspect(path("b")).hdus.at(1).columns.at(0).format, "D");
}

TEST_F(MapWriting, PartialSky) {
    MapFile map;
    map.pixelization = HealpixPixels{8, healpix::Order::ring};
    map.pixels = {3, 700, 5};
    map.columns = {column("", 3, FilePrecision::float64)};
    write_map(path(), map);
    const MapFile back = read_map(path());
    EXPECT_EQ(back.pixels, map.pixels);
    EXPECT_EQ(back.columns[0].values, map.columns[0].values);
    EXPECT_EQ(back.columns[0].name, "COLUMN_1");
    EXPECT_EQ(inspect(path()).hdus.at(1).columns.at(0).format, "J");
}

TEST_F(MapWriting, PixelNumbersAre64BitAboveNside8192) {
    MapFile map;
    map.pixelization = HealpixPixels{std::int64_t{1} << 29, healpix::Order::nest};
    map.pixels = {0, 12 * (std::int64_t{1} << 58) - 1};
    map.columns = {column("X", 2, FilePrecision::float32)};
    write_map(path(), map);
    EXPECT_EQ(inspect(path()).hdus.at(1).columns.at(0).format, "K");
    MapFile back = read_map(path());
    EXPECT_EQ(back.pixels, map.pixels);
    EXPECT_THAT(message_of<OutOfMemory>([&] { expand_to_full_sky(back); }), HasSubstr("GB of memory"));
}

TEST_F(MapWriting, PixelNumbersAre32BitWhereTheyFit) {
    for (const auto& [nside, format] : {std::pair<std::int64_t, char>{8192, 'J'}, {16384, 'K'}}) {
        MapFile map{.pixelization = HealpixPixels{nside, healpix::Order::nest}, .pixels = {7}};
        map.columns.push_back({.values = {1}});
        write_map(folder.path("part.fits"), map, {.overwrite = true});
        EXPECT_EQ(inspect(folder.path("part.fits")).hdus[1].columns[0].format.back(), format) << nside;
    }
}

TEST_F(MapWriting, TheConventionIsSaidWhereItMatters) {
    using enum PolarizationConvention;
    for (const auto convention : {absent, cosmo, iau})
        for (const bool polarized : {false, true}) {
            MapFile map = healpix_map(1, FilePrecision::float64, healpix::Order::ring);
            map.polarization_convention = convention;
            if (!polarized) map.columns.resize(1);
            write_map(path(), map, {.overwrite = true});
            // Without U it is kept, and with U one is written.
            const auto expected = polarized && convention == absent ? cosmo : convention;
            EXPECT_EQ(read_map(path()).polarization_convention, expected) << polarized;
        }
}

TEST_F(MapWriting, ColumnsWithoutNamesAreNumberedFromOne) {
    MapFile map{.pixelization = HealpixPixels{1}};
    for (const char* name : {"", "A", ""})
        map.columns.push_back({.name = name, .values = std::vector<double>(12)});
    write_map(path(), map);
    const auto back = read_map(path());
    EXPECT_EQ(back.columns[0].name, "COLUMN_1");
    EXPECT_EQ(back.columns[1].name, "A");
    EXPECT_EQ(back.columns[2].name, "COLUMN_3");
}

TEST_F(MapWriting, ReadingIsDescribedInALine) {
    MapFile map = healpix_map(1, FilePrecision::float64, healpix::Order::nest);
    map.polarization_convention = PolarizationConvention::iau;
    map.coordinates = CoordinateSystem::galactic;
    EXPECT_EQ(describe_reading(map), "I, Q, U (IAU), nside 1, nest, galactic, uK");
    map.polarization_convention = PolarizationConvention::absent;
    map.pixels = {1, 2};
    map.columns.push_back({.name = "HITS", .unit = "1"});
    EXPECT_EQ(describe_reading(map),
              "I, Q, U, HITS (COSMO), nside 1, nest, 2 pixels of the sky, galactic, uK, 1");
    MapFile many{.pixelization = HealpixPixels{1}};
    for (int i = 0; i < 8; ++i)
        many.columns.push_back({.name = i == 2 ? "" : std::string(1, static_cast<char>('A' + i))});
    EXPECT_EQ(describe_reading(many),
              "A, B, column 2, D, E, F and 2 more, nside 1, ring, unknown coordinates, no unit");
    many.columns.resize(6);
    EXPECT_EQ(describe_reading(many), "A, B, column 2, D, E, F, nside 1, ring, unknown coordinates, no unit");
}

TEST_F(MapWriting, IauFilesHoldMinusU) {
    MapFile map = healpix_map(4, FilePrecision::float64);
    map.polarization_convention = PolarizationConvention::iau;
    map.columns[2].values[7] = unseen_value;
    write_map(path(), map);
    // In memory U is COSMO again.
    const MapFile back = read_map(path());
    EXPECT_EQ(back.polarization_convention, PolarizationConvention::iau);
    EXPECT_EQ(back.columns[2].values, map.columns[2].values);
    // Without its Stokes parameter, U is seen as the file has it.
    const MapFile raw = read_map(path(), {.polarized = false});
    EXPECT_EQ(raw.columns[2].values[0], -map.columns[2].values[0]);
    EXPECT_EQ(raw.columns[2].values[7], unseen_value);
    EXPECT_EQ(raw.columns[1].values, map.columns[1].values);
}

TEST_F(MapWriting, StokesColumnsGetNamesThatTellSo) {
    MapFile map = healpix_map(2, FilePrecision::float32);
    for (auto& c : map.columns) c.name = "CHANNEL";
    write_map(path(), map);
    const MapFile back = read_map(path());
    EXPECT_TRUE(back.polarized());
    EXPECT_EQ(back.columns[0].name, "TEMPERATURE");
    EXPECT_EQ(back.columns[2].name, "U_POLARISATION");
}

TEST_F(MapWriting, GzipByName) {
    const MapFile map = healpix_map(16, FilePrecision::float32);
    write_map(path("map.fits.gz"), map);
    EXPECT_EQ(test::read_bytes(path("map.fits.gz")).substr(0, 2), "\x1f\x8b");
    EXPECT_EQ(read_map(path("map.fits.gz")).columns[2].values, map.columns[2].values);
    EXPECT_EQ(folder.n_entries(), 1u);
}

TEST_F(MapWriting, NamesAreTakenLiterally) {
    const MapFile map = healpix_map(1, FilePrecision::float32);
    for (const char* name : {"!map", "map[1].fits", "map(x)", "~map", "-", " map", "a+1"}) {
        write_map(path(name), map);
        EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
        EXPECT_THROW(write_map(path(name), map), IoError);
    }
    EXPECT_THROW(write_map("mem://x", map), IoError);
}

TEST_F(MapWriting, LongHistoryAndStringsSurvive) {
    MapFile map = healpix_map(1, FilePrecision::float32);
    const std::string text(200, 'x');
    map.cards = {{"HISTORY", text, ""}, {"COMMENT", text, ""}, {"INPUT", "caf\xc3\xa9\n" + text, ""}};
    write_map(path(), map);
    const auto bytes = test::read_bytes(path());
    EXPECT_THAT(bytes, HasSubstr("HISTORY xxxxxxxxx"));
    EXPECT_THAT(bytes, HasSubstr("'caf???xxx"));
    EXPECT_EQ(read_map(path()).columns[0].values, map.columns[0].values);
}

TEST_F(MapWriting, RejectsWhatContradictsItself) {
    const auto error = [&](const MapFile& map) {
        return message_of<InvalidArgument>([&] { write_map(path(), map); });
    };
    MapFile map = healpix_map(2, FilePrecision::float32);
    map.columns[1].values.pop_back();
    EXPECT_THAT(error(map), HasSubstr("column 'Q_STOKES': 47 values, 48 expected"));
    map = healpix_map(3, FilePrecision::float32, healpix::Order::nest);
    EXPECT_THAT(error(map), HasSubstr("nside = 3: must be a power of 2"));
    map = healpix_map(2, FilePrecision::float32);
    map.columns[0].values[0] = 1e39;
    EXPECT_THAT(message_of<IoError>([&] { write_map(path(), map); }),
                HasSubstr(path() + ": HDU 1: column 'I_STOKES': 1e+39 does not fit a 4-byte float"));
    map = healpix_map(2, FilePrecision::float32);
    map.cards = {{"NSIDE", std::int64_t{4}, ""}};
    EXPECT_THAT(error(map), HasSubstr("NSIDE: is set by the writer"));
    map.cards = {{"too long a key", true, ""}};
    EXPECT_THAT(error(map), HasSubstr("must be 1 to 8 of the characters"));
    map.cards = {{"X", std::nan(""), ""}};
    EXPECT_THAT(error(map), HasSubstr("cannot stand in a FITS header"));
    map = healpix_map(2, FilePrecision::float32);
    map.columns.clear();
    EXPECT_THAT(error(map), HasSubstr("0 columns"));
    map = healpix_map(2, FilePrecision::float32);
    map.pixels = {48};
    EXPECT_THAT(error(map), HasSubstr("pixel number 48"));
    EXPECT_EQ(folder.n_entries(), 0u);
}

TEST_F(MapWriting, FailureLeavesOldFileAndNothingElse) {
    folder.write("map.fits", "old");
    EXPECT_THROW(write_map(path(), healpix_map(2, FilePrecision::float32)), IoError);
    EXPECT_EQ(test::read_bytes(path()), "old");
    EXPECT_EQ(folder.n_entries(), 1u);
}

TEST(MapWrite, OnlyGzipIsPacked) {
    const test::TemporaryFolder folder;
    const MapFile map{.pixelization = HealpixPixels{1, healpix::Order::ring},
                      .columns = {{.values = std::vector<double>(12)}}};
    for (const char* name : {"out.fits.bz2", "out.fits.xz", "out.zip", "out.fits.fz"})
        EXPECT_THAT(test::message_of<IoError>([&] { write_map(folder.path(name), map); }),
                    testing::HasSubstr("files are written packed by gzip (.gz) or not at all"));
    EXPECT_EQ(folder.n_entries(), 0u);
}

}  // namespace
}  // namespace zonal::io
