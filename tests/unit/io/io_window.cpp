// Beams, pixel windows and quadrature weights.
#include <gmock/gmock.h>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/weights.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::data_file;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

using Kind = QuadratureWeights::Kind;

class WindowFiles : public testing::Test {
  protected:
    BeamFile beam(const std::string& text) { return read_beam(folder.write("beam.txt", text)); }
    std::string error(const std::string& text) {
        return message_of<IoError>([&] { beam(text); });
    }
    TemporaryFolder folder;
};

TEST_F(WindowFiles, PixelWindow) {
    // Values as astropy reads them.
    const BeamFile window = read_pixel_window(data_file("healpix/pixel_window_n0064.fits"), 64);
    EXPECT_EQ(window.lmax(), 256);
    EXPECT_EQ(window.temperature[1], 0.9999772475875073);
    EXPECT_EQ(window.temperature[256], 0.44530534547677436);
    EXPECT_EQ(window.gradient[1], 0);
    EXPECT_EQ(window.gradient[256], 0.44532929812298194);
    EXPECT_EQ(window.curl, window.gradient);
    EXPECT_THAT(
        message_of<IoError>([] { read_pixel_window(data_file("healpix/pixel_window_n0064.fits"), 32); }),
        HasSubstr("NSIDE = 64: a pixel window of nside 32 is needed"));
    EXPECT_THAT(
        message_of<IoError>([] { read_pixel_window(data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz")); }),
        HasSubstr("no column TEMPERATURE: not a pixel window"));
}

TEST_F(WindowFiles, TextBeamOfOneColumnServesTemperatureAndPolarisation) {
    const BeamFile window = beam("1\n0.5\n0.25\n");
    EXPECT_EQ(window.columns, 1);
    EXPECT_THAT(window.temperature, ElementsAre(1, 0.5, 0.25));
    EXPECT_EQ(window.gradient, window.temperature);
    EXPECT_EQ(window.curl, window.temperature);
}

TEST_F(WindowFiles, TextBeamsWithMultipoles) {
    EXPECT_THAT(beam("# l b_l\n0 1\n1 0.5\n").temperature, ElementsAre(1, 0.5));
    const BeamFile three = beam("# l T E B\n0, 1, 2, 3\n1, 4, 5, 6\n");
    EXPECT_THAT(three.temperature, ElementsAre(1, 4));
    EXPECT_THAT(three.gradient, ElementsAre(2, 5));
    EXPECT_THAT(three.curl, ElementsAre(3, 6));
    EXPECT_THAT(error("1 1\n2 0.5\n"), HasSubstr("begins at l = 1: must begin at 0"));
    EXPECT_THAT(error("0 1\n0.5 0.5\n"), HasSubstr("l = 0.5 in row 2"));
    EXPECT_THAT(error("1\nnan\n"), HasSubstr("value nan at l = 1: must be finite"));
    EXPECT_THAT(error("0 1 2 3 4\n"),
                HasSubstr("4 columns '', '', '', '': one serves T, E and B; several must have"));
    EXPECT_THAT(error("0 1 2\n1 1 2\n"), HasSubstr("2 columns '', ''"));
}

TEST_F(WindowFiles, NamesTellBeamsFromErrorsAndMultipoles) {
    for (const char* names : {"l transfer_function fractional_error", "ell B_ell dB_ell", "l Bl sigma"}) {
        const BeamFile window = beam(std::string("# ") + names + "\n0 1 0.01\n1 0.5 0.02\n");
        EXPECT_EQ(window.columns, 1);
        EXPECT_THAT(window.curl, ElementsAre(1, 0.5)) << names;
        EXPECT_THAT(window.notes, ElementsAre(HasSubstr("left out: errors are no beam"))) << names;
    }
    EXPECT_THAT(beam("# l T P\n0 1 2\n1 3 4\n").curl, ElementsAre(2, 4));
    EXPECT_THAT(beam("# T l\n1 0\n3 1\n").temperature, ElementsAre(1, 3));
    EXPECT_THAT(error("# l T X\n0 1 2\n1 3 4\n"), HasSubstr("2 columns 'T', 'X'"));
    EXPECT_THAT(error("# l E B\n0 1 2\n1 3 4\n"), HasSubstr("2 columns 'E', 'B'"));
    EXPECT_THAT(error("0\n1\n2\n"), HasSubstr("is 0, 1, 2, ...: that is l and no window"));
    EXPECT_THAT(error("# l error\n0 1\n1 1\n"), HasSubstr("no column of numbers that could be a beam"));
    const auto text = FitsBuilder().table(4, 1, {"4A"}, {"BEAM"}).end().data("abcd").bytes();
    EXPECT_THAT(message_of<IoError>([&] { read_beam(folder.write("text.fits", text)); }),
                HasSubstr("no column of numbers that could be a beam"));
    auto file = FitsBuilder().table(16, 2, {"D", "D"}, {"ELL", "BL"});
    const auto path =
        folder.write("l.fits", file.end().data(big_endian(std::vector<double>{0, 1, 1, 0.5})).bytes());
    EXPECT_THAT(read_beam(path).curl, ElementsAre(1, 0.5));
}

TEST_F(WindowFiles, FitsBeamRoundTrip) {
    Beam window{.temperature = {1, 0.5}, .gradient = {1, 0.5}, .curl = {1, 0.5}};
    write_beam(folder.path("one.fits"), window);
    EXPECT_EQ(read_beam(folder.path("one.fits")).columns, 1);
    EXPECT_EQ(inspect(folder.path("one.fits")).kind, FileKind::window);
    window.curl = {1, 0.25};
    write_beam(folder.path("three.fits"), window);
    const BeamFile back = read_beam(folder.path("three.fits"));
    EXPECT_EQ(back.columns, 3);
    EXPECT_EQ(back.temperature, window.temperature);
    EXPECT_EQ(back.curl, window.curl);
    window.gradient.pop_back();
    EXPECT_THROW(write_beam(folder.path("x"), window), InvalidArgument);
}

TEST_F(WindowFiles, MapsAndAlmAreNoWindows) {
    const auto error = [](const std::string& path) { return message_of<IoError>([&] { read_beam(path); }); };
    EXPECT_THAT(error(data_file("wmap/wmap_W_smoothed10deg_healpix_f90.fits")),
                HasSubstr("holds no table of b_l"));
    auto alm = FitsBuilder()
                   .table(20, 1, {"J", "D", "D"}, {"INDEX", "REAL", "IMAG"})
                   .end()
                   .data(std::string(20, '\0'));
    EXPECT_THAT(error(folder.write("alm.fits", alm.bytes())), HasSubstr("holds no table of b_l"));
}

TEST_F(WindowFiles, FitsBeamOfTwoColumns) {
    auto file = FitsBuilder().table(16, 2, {"D", "D"}, {"T", "P"});
    const auto path =
        folder.write("b.fits", file.end().data(big_endian(std::vector<double>{1, 2, 3, 4})).bytes());
    const BeamFile window = read_beam(path);
    EXPECT_THAT(window.temperature, ElementsAre(1, 3));
    EXPECT_THAT(window.gradient, ElementsAre(2, 4));
    EXPECT_EQ(window.curl, window.gradient);
}

TEST_F(WindowFiles, WeightsRoundTrip) {
    EXPECT_EQ(weight_count(Kind::ring, 32), 64);
    // The sizes of HEALPix' own files.
    EXPECT_EQ(weight_count(Kind::pixel, 1), 2);
    EXPECT_EQ(weight_count(Kind::pixel, 32), 800);
    EXPECT_EQ(weight_count(Kind::pixel, 8192), 50339840);
    for (const auto kind : {Kind::ring, Kind::pixel}) {
        QuadratureWeights weights{.kind = kind, .nside = 4, .lmax = 6};
        for (std::int64_t i = 0; i < weight_count(kind, 4); ++i)
            weights.deviations.push_back(0.01 * double(i) / 3);
        write_weights(folder.path("w.fits"), weights, {.overwrite = true});
        const auto back = read_weights(folder.path("w.fits"));
        EXPECT_EQ(back.kind, kind);
        EXPECT_EQ(back.nside, 4);
        EXPECT_EQ(back.lmax, 6);
        EXPECT_EQ(back.deviations, weights.deviations);
        EXPECT_EQ(inspect(folder.path("w.fits")).kind, FileKind::weights);
        weights.deviations.pop_back();
        EXPECT_THROW(write_weights(folder.path("x"), weights), InvalidArgument);
    }
}

TEST_F(WindowFiles, WeightsMayBeOfAnyNsideFrom1) {
    const auto path = folder.path("w.fits");
    for (const auto kind : {Kind::ring, Kind::pixel}) {
        // Those of the twelve base pixels: two, of the polar and of the equatorial ring.
        write_weights(path, {.kind = kind, .nside = 1, .deviations = {0.25, -0.125}}, {.overwrite = true});
        const auto back = read_weights(path);
        EXPECT_EQ(back.nside, 1);
        EXPECT_THAT(back.deviations, ElementsAre(0.25, -0.125));
        for (const std::int64_t nside : {std::int64_t{0}, std::int64_t{-1}, (std::int64_t{1} << 29) + 1})
            EXPECT_THAT(message_of<InvalidArgument>(
                            [&] { write_weights(folder.path("x"), {.kind = kind, .nside = nside}); }),
                        HasSubstr("must be from 1 to 2^29"))
                << nside;
    }
}

TEST_F(WindowFiles, WeightsAreFoundInAFileOfTheMapsNside) {
    const auto path = folder.path(weight_file_name(Kind::ring, 4));
    write_weights(path, compute_weights(Kind::ring, 4, {.threads = 1}));
    const auto found = find_weights(path, 4);
    EXPECT_FALSE(found.computed);
    EXPECT_EQ(found.values.deviations, healpix::compute_ring_weights(4, {.threads = 1}).deviations);
    EXPECT_THAT(found.description, HasSubstr("ring, from"));
    EXPECT_THAT(message_of<IoError>([&] { find_weights(path, 8); }), HasSubstr("the map has 8"));
}

TEST_F(WindowFiles, NsideOfWeightsFollowsFromTheirNumber) {
    for (const auto& [name, count, nside] : {std::tuple{"TEMPERATURE WEIGHTS", 8, 4},
                                             {"COMPRESSED PIXEL WEIGHTS", 800, 32},
                                             {"PIXEL WEIGHTS", 2, 1}}) {
        auto file = FitsBuilder().table(8, count, {"D"}, {name});
        const auto path = folder.write(
            "w.fits", file.end().data(std::string(8 * static_cast<std::size_t>(count), '\0')).bytes());
        EXPECT_EQ(read_weights(path).nside, nside) << name;
        EXPECT_EQ(read_weights(path).lmax, -1) << name;
    }
    auto file = FitsBuilder().table(8, 7, {"D"}, {"TEMPERATURE WEIGHTS"});
    EXPECT_THROW(read_weights(folder.write("w.fits", file.end().data(std::string(56, '\0')).bytes())),
                 IoError);
}

TEST_F(WindowFiles, WeightsMustFitNside) {
    auto file = FitsBuilder().table(8, 7, {"D"}, {"TEMPERATURE WEIGHTS"}).number("NSIDE", 4);
    const auto path = folder.write("w.fits", file.end().data(std::string(56, '\0')).bytes());
    EXPECT_THAT(message_of<IoError>([&] { read_weights(path); }),
                HasSubstr("7 ring weights do not fit NSIDE = 4"));
}

}  // namespace
}  // namespace zonal::io
