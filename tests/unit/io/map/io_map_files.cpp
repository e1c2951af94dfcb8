// Reading the files of data/, against values that astropy and healpy read.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/mask.hpp"

namespace zonal::io {
namespace {

using test::data_file;
using test::message_of;
using testing::HasSubstr;

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(MapFiles, WmapMap) {
    const MapFile map = read_map(data_file("wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits"));
    EXPECT_EQ(std::get<HealpixPixels>(map.pixelization), (HealpixPixels{32, healpix::Order::ring}));
    EXPECT_EQ(map.coordinates, CoordinateSystem::unknown);
    EXPECT_EQ(map.polarization_convention, PolarizationConvention::absent);
    ASSERT_EQ(map.notes.size(), 1u);
    EXPECT_THAT(map.notes[0], HasSubstr("taken as COSMO"));
    EXPECT_FALSE(map.partial());
    ASSERT_EQ(map.columns.size(), 3u);
    EXPECT_TRUE(map.polarized());
    EXPECT_EQ(map.find(Stokes::I), 0);
    EXPECT_EQ(map.find(Stokes::U), 2);
    for (const auto& column : map.columns) {
        EXPECT_EQ(column.precision, FilePrecision::float32);
        EXPECT_EQ(column.values.size(), 12288u);
    }
    // Floats, exactly.
    EXPECT_EQ(map.columns[0].values[0], -0.1362875998020172);
    EXPECT_EQ(map.columns[0].values[1024], 0.06134023889899254);
    EXPECT_EQ(map.columns[1].values[12287], 0.02181587927043438);
    EXPECT_EQ(map.columns[2].values[1023], -0.013373184949159622);
    // Sums of 12288 values of order 1 round by at most 12288 * 2^-53 * sum of magnitudes.
    EXPECT_NEAR(sum(map.columns[0].values), 872.0712784347052, 1e-9);
    EXPECT_NEAR(sum(map.columns[2].values), -5.136791965160228, 1e-9);
}

TEST(MapFiles, WmapMaskedMapHasExactUnseen) {
    const MapFile map = read_map(data_file("wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked.fits"));
    for (const auto& column : map.columns) {
        EXPECT_EQ(std::count(column.values.begin(), column.values.end(), unseen_value), 4686);
    }
}

/// Rows of 1024 pixels: ranges within one, across several, and none.
TEST(MapFiles, PartsHaveTheValuesOfTheWhole) {
    const std::string path = data_file("wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits");
    const MapFile whole = read_map(path, {.fields = {"I", "U"}});
    const std::vector<PixelRange> pixels{{3000, 3001}, {0, 5}, {1000, 5200}, {77, 77}, {12287, 12288}};
    const MapFile part = read_map_part(path, pixels, {.fields = {"I", "U"}});
    EXPECT_EQ(part.pixelization, whole.pixelization);
    EXPECT_EQ(part.notes, whole.notes);
    ASSERT_EQ(part.columns.size(), 2u);
    for (std::size_t column = 0; column < 2; ++column) {
        std::vector<double> expected;
        const auto& values = whole.columns[column].values;
        for (const auto& [first, end] : pixels)
            expected.insert(expected.end(), values.begin() + first, values.begin() + end);
        EXPECT_EQ(part.columns[column].values, expected);
    }
    for (const PixelRange& wrong : {PixelRange{-1, 3}, {5, 4}, {0, 12289}})
        EXPECT_THAT(message_of<IoError>([&] { read_map_part(path, {wrong}); }),
                    HasSubstr("must be from 0 to 12288"));
}

/// A rank would need the whole to find its part.
TEST(MapFiles, SomeCannotBeReadInParts) {
    const test::TemporaryFolder folder;
    MapFile map{.pixelization = HealpixPixels{1, healpix::Order::ring},
                .columns = {{.values = std::vector<double>(12)}}};
    write_map(folder.path("map.fits.gz"), map);
    EXPECT_THAT(message_of<IoError>([&] {
                    read_map_part(folder.path("map.fits.gz"), {{0, 1}});
                }),
                HasSubstr("is packed, so that it cannot be read in parts"));
    map.pixels = {3, 4};
    map.columns[0].values = {1, 2};
    write_map(folder.path("partial.fits"), map);
    EXPECT_THAT(message_of<IoError>([&] {
                    read_map_part(folder.path("partial.fits"), {{0, 1}});
                }),
                HasSubstr("is a partial sky: only full skies can be read in parts"));
    const MapFile car{.pixelization = CarPixels{2, 4, 0, false},
                      .columns = {{.values = std::vector<double>(8)}}};
    write_map(folder.path("car.fits"), car);
    EXPECT_THAT(message_of<IoError>([&] {
                    read_map_part(folder.path("car.fits"), {{0, 1}});
                }),
                HasSubstr("is an image: only HEALPix tables can be read in parts"));
}

TEST(MapFiles, WmapMask) {
    const MapFile map = read_map(data_file("wmap/wmap_temperature_analysis_mask_r9_7yr_v4_udgraded32.fits"),
                                 {.fields = {"I_stokes"}});
    ASSERT_EQ(map.columns.size(), 1u);
    EXPECT_EQ(sum(map.columns[0].values), 7602);
}

TEST(MapFiles, HealpixF90Map) {
    const MapFile map = read_map(data_file("wmap/wmap_W_smoothed10deg_healpix_f90.fits"));
    EXPECT_EQ(map.polarization_convention, PolarizationConvention::cosmo);
    EXPECT_EQ(map.coordinates, CoordinateSystem::unknown);
    EXPECT_TRUE(map.polarized());
    EXPECT_TRUE(map.notes.empty());
    const auto fwhm = std::find_if(map.cards.begin(), map.cards.end(),
                                   [](const HeaderCard& card) { return card.key == "FWHM"; });
    ASSERT_NE(fwhm, map.cards.end());
    EXPECT_EQ(std::get<double>(fwhm->value), 10.0);
    EXPECT_TRUE(std::none_of(map.cards.begin(), map.cards.end(), [](const HeaderCard& card) {
        return card.key == "NSIDE" || card.key == "TFORM1";
    }));
}

TEST(MapFiles, FermiCountsCube) {
    const auto path = data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz");
    const MapFile map = read_map(path);
    EXPECT_EQ(std::get<HealpixPixels>(map.pixelization), (HealpixPixels{64, healpix::Order::ring}));
    EXPECT_EQ(map.coordinates, CoordinateSystem::equatorial);
    ASSERT_EQ(map.columns.size(), 17u);
    EXPECT_EQ(map.columns[0].name, "CHANNEL1");
    EXPECT_EQ(map.columns[0].precision, FilePrecision::float64);
    EXPECT_EQ(map.columns[0].stokes, Stokes::none);
    EXPECT_EQ(sum(map.columns[0].values), 260023);
    EXPECT_EQ(sum(map.columns[1].values), 162018);
    EXPECT_EQ(sum(map.columns[16].values), 175);
    EXPECT_EQ(map.columns[0].values[42156], 1279);
    EXPECT_EQ(read_map(path, {.hdu = "skymap", .fields = {"16"}}).columns[0].values, map.columns[16].values);
    EXPECT_EQ(read_map(path, {.hdu = "1", .fields = {"channel17"}}).columns[0].values,
              map.columns[16].values);
}

TEST(MapFiles, ErrorNamesTheHdusThatAreThere) {
    const auto path = data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz");
    const auto message = message_of<IoError>([&] { read_map(path, {.hdu = "MAPS"}); });
    EXPECT_THAT(message, HasSubstr("no HDU 'MAPS'"));
    EXPECT_THAT(message, HasSubstr("HDU 1 'SKYMAP' (BINTABLE), HDU 2 'EBOUNDS' (BINTABLE)"));
    EXPECT_THAT(message_of<IoError>([&] { read_map(path, {.hdu = "EBOUNDS"}); }),
                HasSubstr("HDU 2 'EBOUNDS'"));
    EXPECT_THAT(message_of<IoError>([] { read_map(data_file("theory/planck2018_lcdm_cl_v3.fits")); }),
                HasSubstr("holds no map"));
    EXPECT_THAT(message_of<IoError>([] { read_map("/no/such/file"); }), HasSubstr("No such file"));
    EXPECT_THAT(message_of<IoError>([] { read_map(data_file("README.md")); }), HasSubstr("not a FITS file"));
}

TEST(Masks, AreReadForTheMapThatTheyMask) {
    const test::TemporaryFolder folder;
    auto mask = new_sky_map(HealpixPixels{2, healpix::Order::nest}, false);
    mask.rows()(0, 5) = 0.5;
    mask.rows()(0, 6) = unseen_value;
    write_sky_map(folder.path("mask.fits"), mask);
    std::vector<std::string> notes;
    const auto map = new_sky_map(HealpixPixels{2, healpix::Order::ring}, true);
    const auto found = read_mask(folder.path("mask.fits"), map, notes);
    EXPECT_EQ(found(5), 0.5);
    EXPECT_EQ(found(6), 0);
    EXPECT_THAT(message_of<IoError>([&] {
                    const auto other = new_sky_map(HealpixPixels{4, healpix::Order::ring}, false);
                    read_mask(folder.path("mask.fits"), other, notes);
                }),
                HasSubstr("nside 2, nest: the map has nside 4, ring"));
    MapFile few = map.header();
    few.pixels = {5, 6, 30};
    const SkyMap patch(few, Extent::own_pixels);
    const auto mask_of_patch = [&] {
        const auto values = read_mask(folder.path("mask.fits"), patch, notes);
        return std::vector<double>(values.begin(), values.end());
    };
    EXPECT_THAT(mask_of_patch(), testing::ElementsAre(0.5, 0, 0));
    mask.rows()(0, 7) = 1.5;
    write_sky_map(folder.path("mask.fits"), mask, {.overwrite = true});
    EXPECT_THAT(mask_of_patch(), testing::ElementsAre(0.5, 0, 0));
    few.pixels = {5, 7};
    EXPECT_THAT(message_of<IoError>(
                    [&] { read_mask(folder.path("mask.fits"), SkyMap(few, Extent::own_pixels), notes); }),
                HasSubstr("pixel 7 (ring order) is 1.5: a mask must be from 0 to 1"));
    few.pixels = {30, 31};
    EXPECT_THAT(message_of<IoError>(
                    [&] { read_mask(folder.path("mask.fits"), SkyMap(few, Extent::own_pixels), notes); }),
                HasSubstr("is 0 in all pixels of the map"));
    EXPECT_THAT(message_of<IoError>([&] { read_mask(folder.path("mask.fits"), map, notes); }),
                HasSubstr("pixel 7 (ring order) is 1.5: a mask must be from 0 to 1"));
}

}  // namespace
}  // namespace zonal::io
