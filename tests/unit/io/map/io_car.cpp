// Equidistant cylindrical images.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double degree = std::numbers::pi / 180;

struct Axes {
    std::int64_t n1 = 8, n2 = 4;
    std::string crpix1 = "4.5", crval1 = "0.", cdelt1 = "-45.";
    std::string crpix2 = "2.5", crval2 = "0.", cdelt2 = "45.";
    std::string ctype1 = "GLON-CAR", ctype2 = "GLAT-CAR";
};

/// Pixel values count along the image's rows.
FitsBuilder image(const Axes& axes) {
    auto file = FitsBuilder::bare();
    file.card("SIMPLE", "T").card("BITPIX", "-64").card("NAXIS", "2");
    file.number("NAXIS1", axes.n1).number("NAXIS2", axes.n2);
    file.text("CTYPE1", axes.ctype1)
        .card("CRPIX1", axes.crpix1)
        .card("CRVAL1", axes.crval1)
        .card("CDELT1", axes.cdelt1);
    file.text("CTYPE2", axes.ctype2)
        .card("CRPIX2", axes.crpix2)
        .card("CRVAL2", axes.crval2)
        .card("CDELT2", axes.cdelt2);
    std::vector<double> values(static_cast<std::size_t>(axes.n1 * axes.n2));
    std::iota(values.begin(), values.end(), 0.0);
    return file.end().data(big_endian(values));
}

class CarImages : public testing::Test {
  protected:
    MapFile read(const FitsBuilder& file) { return read_map(folder.write("car.fits", file.bytes())); }
    std::string error(const Axes& axes) {
        return message_of<IoError>([&] { read(image(axes)); });
    }
    TemporaryFolder folder;
};

TEST_F(CarImages, RowsAreTurnedNorthToSouthAndLongitudesGrow) {
    // Column j (from 0) has longitude 45 (3.5 - j) degrees: 157.5, 112.5, 67.5, 22.5, -22.5, ...
    // so increasing longitudes 22.5, 67.5, ... are columns 3, 2, 1, 0, 7, 6, 5, 4; the northmost row is the
    // last.
    const MapFile map = read(image({}));
    const auto car = std::get<CarPixels>(map.pixelization);
    EXPECT_EQ(car.n_rings, 4);
    EXPECT_EQ(car.n_phi, 8);
    EXPECT_FALSE(car.poles);
    EXPECT_NEAR(car.phi_0, 22.5 * degree, 1e-15);
    EXPECT_EQ(map.coordinates, CoordinateSystem::galactic);
    EXPECT_FALSE(map.partial());
    EXPECT_TRUE(map.notes.empty());
    const std::vector<double> north(map.columns[0].values.begin(), map.columns[0].values.begin() + 8);
    EXPECT_THAT(north, ElementsAre(27, 26, 25, 24, 31, 30, 29, 28));
    EXPECT_EQ(map.columns[0].values[31], 4);
}

TEST_F(CarImages, GrowingAxesAndPixelsAtLongitudeZero) {
    const MapFile map = read(image({.crpix1 = "1.", .cdelt1 = "45.", .cdelt2 = "-45."}));
    EXPECT_EQ(std::get<CarPixels>(map.pixelization).phi_0, 0);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(map.columns[0].values[i], i);
}

TEST_F(CarImages, RowsAtThePoles) {
    const MapFile map = read(image({.n2 = 5, .crpix2 = "3."}));
    const auto car = std::get<CarPixels>(map.pixelization);
    EXPECT_EQ(car.n_rings, 5);
    EXPECT_TRUE(car.poles);
    EXPECT_EQ(make_grid(car).rings()[0].theta, 0);
}

TEST_F(CarImages, GridHasThePixelsPlaces) {
    const auto car = std::get<CarPixels>(read(image({})).pixelization);
    const Grid grid = make_grid(car);
    ASSERT_EQ(grid.n_rings(), 4);
    EXPECT_NEAR(grid.rings()[0].theta, 22.5 * degree, 1e-15);
    EXPECT_NEAR(grid.rings()[0].phi_0, 22.5 * degree, 1e-15);
    EXPECT_EQ(grid.n_pixels(), 32);
}

TEST_F(CarImages, BandOfFullRingsIsAPartialSky) {
    // Rows at latitudes -22.5 and 22.5 degrees.
    MapFile map = read(image({.n2 = 2, .crpix2 = "1.5"}));
    ASSERT_EQ(map.pixels.size(), 16u);
    EXPECT_EQ(map.pixels.front(), 8);
    EXPECT_EQ(map.pixels.back(), 23);
    expand_to_full_sky(map);
    EXPECT_EQ(map.columns[0].values[0], unseen_value);
    EXPECT_EQ(map.columns[0].values[8], 11);
}

TEST_F(CarImages, PatchAcrossLongitudeZeroIsAPartialSky) {
    // Columns at longitudes 45, 0, -45, which are places 1, 0, 7; rows at latitudes 22.5 and 67.5: rings 1,
    // 0.
    const MapFile map = read(image({.n1 = 3, .n2 = 2, .crpix1 = "2.", .crpix2 = "0.5"}));
    const CarPixels grid{.n_rings = 4, .n_phi = 8, .phi_0 = 0, .poles = false};
    EXPECT_EQ(std::get<CarPixels>(map.pixelization), grid);
    EXPECT_THAT(map.pixels, ElementsAre(0, 1, 7, 8, 9, 15));
    EXPECT_THAT(map.columns[0].values, ElementsAre(4, 3, 5, 1, 0, 2));
}

TEST_F(CarImages, StepsOfFewDigitsServeWhereTheyAreOffByAHundredthOfAPixelAtMost) {
    // 360 / 0.0083333 = 43200.17: 10 pixels from CRPIX that is 4e-5 of a pixel, 10,000 pixels from it 0.04.
    Axes axes{
        .n1 = 20, .n2 = 20, .crpix1 = "10.", .cdelt1 = "-0.0083333", .crpix2 = "10.", .cdelt2 = "0.0083333"};
    const auto car = std::get<CarPixels>(read(image(axes)).pixelization);
    EXPECT_EQ(car.n_phi, 43200);
    EXPECT_EQ(car.n_rings, 21601);
    EXPECT_TRUE(car.poles);
    axes.crpix1 = "10000.";
    EXPECT_THAT(error(axes), HasSubstr("CDELT1 = -0.0083333: must divide 360 degrees"));
}

TEST_F(CarImages, PixelsAreWrittenAsTheSmallestRectangleThatHoldsThem) {
    // Places 0 and 7 of rings 2 and 1, in any order: two columns across longitude 0.
    MapFile map;
    map.pixelization = CarPixels{.n_rings = 5, .n_phi = 8, .phi_0 = 0, .poles = true};
    map.pixels = {16, 15};
    map.columns.push_back({.values = {1, 2}});
    write_map(folder.path("out.fits"), map);
    const MapFile back = read_map(folder.path("out.fits"));
    EXPECT_EQ(back.pixelization, map.pixelization);
    EXPECT_THAT(back.pixels, ElementsAre(8, 15, 16, 23));
    EXPECT_THAT(back.columns[0].values, ElementsAre(unseen_value, 2, 1, unseen_value));
}

TEST_F(CarImages, PatchesKeepTheirPixelsThroughAFile) {
    for (const bool poles : {false, true})
        for (const std::int64_t n_phi : {1, 7, 12})
            for (std::int64_t first = 0; first < n_phi; ++first)
                for (std::int64_t width = 1; width <= n_phi; ++width) {
                    MapFile map;
                    map.pixelization = CarPixels{.n_rings = 9, .n_phi = n_phi, .phi_0 = 0.1, .poles = poles};
                    map.columns.push_back({.precision = FilePrecision::float64});
                    for (std::int64_t ring = 2; ring < 5; ++ring)
                        for (std::int64_t place = 0; place < n_phi; ++place)
                            if ((place - first + n_phi) % n_phi < width) {
                                map.pixels.push_back(ring * n_phi + place);
                                map.columns[0].values.push_back(std::sin(double(map.pixels.back())));
                            }
                    write_map(folder.path("out.fits"), map, {.overwrite = true});
                    const MapFile back = read_map(folder.path("out.fits"));
                    EXPECT_TRUE(same_pixels(back.pixelization, map.pixelization));
                    EXPECT_EQ(back.pixels, map.pixels);
                    EXPECT_EQ(back.columns[0].values, map.columns[0].values);
                }
}

TEST_F(CarImages, PatchesTakeTheirOwnMemory) {
    // The full grid has 3.4e12 pixels.
    MapFile map;
    map.pixelization = CarPixels{.n_rings = 1'296'000, .n_phi = 2'592'000, .phi_0 = 0, .poles = false};
    map.pixels = {2'592'000LL * 700'000 + 17, 2'592'000LL * 700'001 + 18};
    map.columns.push_back({.values = {3, 4}});
    write_map(folder.path("out.fits"), map);
    const MapFile back = read_map(folder.path("out.fits"));
    EXPECT_EQ(back.pixelization, map.pixelization);
    EXPECT_THAT(back.columns[0].values, ElementsAre(3, unseen_value, unseen_value, 4));
}

TEST_F(CarImages, MatrixKeysInPlaceOfSteps) {
    auto file = FitsBuilder::bare();
    file.card("SIMPLE", "T").card("BITPIX", "16").card("NAXIS", "2").number("NAXIS1", 4).number("NAXIS2", 2);
    file.text("CTYPE1", "RA---CAR")
        .card("CRPIX1", "1.")
        .card("CRVAL1", "45.")
        .card("CD1_1", "90.")
        .card("CD1_2", "0.");
    file.text("CTYPE2", "DEC--CAR")
        .card("CRPIX2", "1.5")
        .card("CRVAL2", "0.")
        .card("CD2_2", "90.")
        .card("BLANK", "3");
    const MapFile map = read(file.end().data(big_endian(std::vector<std::int16_t>{0, 1, 2, 3, 4, 5, 6, 7})));
    EXPECT_EQ(map.coordinates, CoordinateSystem::equatorial);
    EXPECT_THAT(map.columns[0].values, ElementsAre(4, 5, 6, 7, 0, 1, 2, unseen_value));
}

TEST_F(CarImages, StokesAxisThatTheImageDoesNotHave) {
    auto file = FitsBuilder::bare();
    file.card("SIMPLE", "T").card("BITPIX", "8").card("NAXIS", "2").card("NAXIS1", "1").card("NAXIS2", "1");
    file.text("CTYPE1", "GLON-CAR").card("CRPIX1", "1.").card("CDELT1", "360.");
    file.text("CTYPE2", "GLAT-CAR").card("CRPIX2", "1.").card("CDELT2", "180.");
    file.text("CTYPE3", "STOKES").card("CRVAL3", "3.");
    const MapFile map = read(file.end().data("\x07"));
    EXPECT_EQ(map.columns[0].name, "U_STOKES");
    EXPECT_THAT(map.columns[0].values, ElementsAre(7));
}

TEST_F(CarImages, RejectsOtherGeometries) {
    EXPECT_THAT(error({.n1 = 10}), HasSubstr("NAXIS1 = 10: must be 9 or fewer, which are 360 degrees"));
    EXPECT_THAT(error({.n1 = 9}),
                HasSubstr("the last of NAXIS1 = 9 columns is at the longitude of the first, "
                          "but differs from it in row 1: 8, not 0"));
    EXPECT_THAT(error({.cdelt1 = "-50."}), HasSubstr("CDELT1 = -50: must divide 360 degrees"));
    EXPECT_THAT(error({.cdelt2 = "50."}), HasSubstr("CDELT2 = 50: must divide 180"));
    for (const std::string crval2 : {"10", "-10"})
        EXPECT_THAT(
            error({.crval2 = crval2 + "."}),
            HasSubstr("CRVAL2 = " + crval2 + ": must be 0 in an equidistant cylindrical map; reproject"));
    for (const char* crpix2 : {"2.3", "2.7", "2.52", "2.48"})
        EXPECT_THAT(error({.crpix2 = crpix2}), HasSubstr("rows do not lie at")) << crpix2;
    EXPECT_THAT(error({.crpix2 = "2.3", .cdelt2 = "-45."}),
                HasSubstr("theta = (i + 1/2) or i times 45 degrees"));
    EXPECT_THAT(error({.crpix2 = "-2.5"}),
                HasSubstr("rows reach beyond the poles, from latitude 157.5 to 292.5 degrees"));
    EXPECT_THAT(error({.crpix2 = "3.5"}), HasSubstr("from latitude -112.5 to 22.5 degrees"));
    EXPECT_THAT(error({.crpix2 = "-1.5"}), HasSubstr("rows"));  // half a row beyond the pole
    EXPECT_THAT(error({.crpix2 = "3.5", .cdelt2 = "-45."}), HasSubstr("rows"));
    EXPECT_THAT(error({.crpix1 = "1E300"}), HasSubstr("CRPIX1 = 1e+300: out of range"));
    EXPECT_THAT(error({.cdelt1 = "0."}), HasSubstr("CDELT1 = 0: must not be 0"));
    EXPECT_THAT(error({.ctype2 = "DEC--CAR"}), HasSubstr("must be GLON-CAR and GLAT-CAR"));
    EXPECT_THAT(error({.ctype1 = "GLON-TAN", .ctype2 = "GLAT-TAN"}),
                HasSubstr("HDU 0: is an image in the gnomonic projection TAN (CTYPE1 = 'GLON-TAN')"));
    EXPECT_THAT(error({.ctype1 = "RA---ZEA", .ctype2 = "DEC--ZEA"}), HasSubstr("the projection ZEA"));
    EXPECT_THAT(error({.ctype1 = "GLON-TAN", .ctype2 = "GLAT-CAR"}), HasSubstr("holds no map"));
}

TEST_F(CarImages, OfOtherEquinoxesAreRefused) {
    const auto with = [&](const std::string& key, const std::string& value) {
        auto file = FitsBuilder::bare();
        file.card("SIMPLE", "T")
            .card("BITPIX", "8")
            .card("NAXIS", "2")
            .card("NAXIS1", "1")
            .card("NAXIS2", "1");
        file.text("CTYPE1", "RA---CAR").card("CRPIX1", "1.").card("CDELT1", "360.");
        file.text("CTYPE2", "DEC--CAR").card("CRPIX2", "1.").card("CDELT2", "180.").card(key, value);
        return file.end().data("\x07");
    };
    for (const auto& [key, value] : {std::pair{"EQUINOX", "2000.0"},
                                     {"RADESYS", "'FK5'"},
                                     {"LONPOLE", "0."},
                                     {"LATPOLE", "0."},
                                     {"CD1_2", "0."}})
        EXPECT_EQ(read(with(key, value)).coordinates, CoordinateSystem::equatorial) << key;
    for (const auto& card : {std::pair{"EQUINOX", "1950."}, {"EQUINOX", "2050."}, {"RADESYS", "'FK4-NO-E'"}})
        EXPECT_THAT(message_of<IoError>([&] { read(with(card.first, card.second)); }),
                    HasSubstr("only J2000"))
            << card.second;
    for (const char* key : {"LONPOLE", "PV1_1", "PV1_3", "CD1_2", "PC2_1", "CROTA2"})
        for (const char* value : {"1.", "-1."})
            EXPECT_THAT(message_of<IoError>([&] { read(with(key, value)); }),
                        HasSubstr(std::string(key) + " = "))
                << value;
    for (const char* key : {"LATPOLE", "PV1_4"})
        EXPECT_THAT(message_of<IoError>([&] { read(with(key, "-1.")); }), HasSubstr("must not be negative"));
    EXPECT_THAT(message_of<IoError>([&] { read(with("CUNIT1", "'rad'")); }),
                HasSubstr("CUNIT1 = 'RAD': must be deg"));
}

TEST_F(CarImages, RoundTrip) {
    for (const bool poles : {false, true}) {
        for (const std::int64_t n_phi : {1, 8, 9}) {
            MapFile map;
            map.pixelization = CarPixels{.n_rings = 5, .n_phi = n_phi, .phi_0 = 0.1, .poles = poles};
            map.coordinates = CoordinateSystem::ecliptic;
            map.polarization_convention = PolarizationConvention::iau;
            for (const auto stokes : {Stokes::I, Stokes::Q, Stokes::U}) {
                MapColumn column{.unit = "K", .precision = FilePrecision::float64, .stokes = stokes};
                for (std::int64_t i = 0; i < 5 * n_phi; ++i)
                    column.values.push_back(std::sin(double(i) + int(stokes)));
                map.columns.push_back(column);
            }
            map.columns[0].values[3] = unseen_value;
            write_map(folder.path("out.fits"), map, {.overwrite = true});
            const MapFile back = read_map(folder.path("out.fits"));
            const auto car = std::get<CarPixels>(back.pixelization);
            EXPECT_EQ(car.n_rings, 5);
            EXPECT_EQ(car.n_phi, n_phi);
            EXPECT_EQ(car.poles, poles);
            EXPECT_NEAR(car.phi_0, 0.1, 4 * std::numeric_limits<double>::epsilon());  // degrees and pixels
            EXPECT_EQ(back.coordinates, map.coordinates);
            ASSERT_TRUE(back.polarized());
            for (int i = 0; i < 3; ++i) EXPECT_EQ(back.columns[i].values, map.columns[i].values);
            EXPECT_EQ(back.columns[0].unit, "K");
        }
    }
}

TEST_F(CarImages, PlanesThatAreNotStokesParameters) {
    MapFile map;
    map.pixelization = CarPixels{.n_rings = 2, .n_phi = 4};
    for (int i = 0; i < 4; ++i) map.columns.push_back({.values = std::vector<double>(8, i)});
    write_map(folder.path("out.fits"), map);
    const MapFile back = read_map(folder.path("out.fits"), {.fields = {"2"}});
    ASSERT_EQ(back.columns.size(), 1u);
    EXPECT_EQ(back.columns[0].name, "PLANE2");
    EXPECT_EQ(back.columns[0].values[0], 2);
    map.columns[0].stokes = Stokes::Q;
    EXPECT_THROW(write_map(folder.path("x.fits"), map), InvalidArgument);
}

}  // namespace
}  // namespace zonal::io
