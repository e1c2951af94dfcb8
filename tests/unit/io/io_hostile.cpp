// Files that lie about themselves: each gives one clear line, and memory stays bounded by the file's size.
#include <gmock/gmock.h>

#include <numeric>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/io/weights.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::data_file;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;

class HostileFiles : public testing::Test {
  protected:
    std::string error(const FitsBuilder& file) {
        return message_of<IoError>([&] { read_map(folder.write("f", file.bytes())); });
    }
    TemporaryFolder folder;
};

TEST_F(HostileFiles, SizesBeyondTheFile) {
    const std::string data(96, '\0');
    const auto huge = "9223372036854775807";
    EXPECT_THAT(error(FitsBuilder().table(8, 1000000000000, {"D"}, {"T"}).healpix(1).end().data(data)),
                HasSubstr("HDU 1: truncated: 8000000000000 bytes of data expected, 2880 found"));
    auto overflow = FitsBuilder().text("XTENSION", "BINTABLE").card("BITPIX", "8").card("NAXIS", "2");
    overflow.card("NAXIS1", huge)
        .card("NAXIS2", huge)
        .card("PCOUNT", "0")
        .card("GCOUNT", "1")
        .card("TFIELDS", "0");
    EXPECT_THAT(error(overflow.end()), HasSubstr("the sizes of its axes overflow"));
    auto fields = FitsBuilder().text("XTENSION", "BINTABLE").card("BITPIX", "8").card("NAXIS", "2");
    fields.card("NAXIS1", "0").card("NAXIS2", "0").card("PCOUNT", "0").card("GCOUNT", "1");
    fields.card("TFIELDS", "1000000000");
    EXPECT_THAT(error(fields.end()), HasSubstr("TFIELDS = 1000000000: must be from 0 to 999"));
    EXPECT_THAT(error(FitsBuilder::bare().card("SIMPLE", "T").card("BITPIX", "8").card("NAXIS", huge).end()),
                HasSubstr("NAXIS = 9223372036854775807: must be from 0 to 999"));
    // Rows of no bytes: as many as one likes.
    EXPECT_THAT(error(FitsBuilder().table(0, 1000000000000000, {"0D"}, {"T"}).healpix(1).end()),
                HasSubstr("column 'T' has 0 pixels"));
    EXPECT_THAT(error(FitsBuilder().table(8, 12, {"D"}, {"T"}).healpix(536870912).end().data(data)),
                HasSubstr("3458764513820540928 expected"));
}

TEST_F(HostileFiles, MandatoryKeysOutOfOrder) {
    auto file =
        FitsBuilder().text("XTENSION", "BINTABLE").card("BITPIX", "8").card("NAXIS", "2").card("NAXIS1", "8");
    file.card("NAXIS2", "12")
        .card("GCOUNT", "1")
        .card("TFIELDS", "1")
        .text("TFORM1", "D")
        .text("TTYPE1", "T");
    EXPECT_THAT(error(file.healpix(1).end().data(std::string(96, '\0'))),
                HasSubstr("HDU 1: PCOUNT is missing"));
    auto swapped = FitsBuilder().text("XTENSION", "BINTABLE").card("NAXIS", "2").card("BITPIX", "8");
    EXPECT_THAT(error(swapped.card("NAXIS1", "0").card("NAXIS2", "0").card("TFIELDS", "0").end()),
                HasSubstr("BITPIX is card 3: must be card 2"));
}

TEST_F(HostileFiles, NumberOfColumnsBehindAColumn) {
    const auto table = [&](bool in_order) {
        auto file = FitsBuilder().text("XTENSION", "BINTABLE").card("BITPIX", "8").card("NAXIS", "2");
        file.card("NAXIS1", "8").card("NAXIS2", "12").card("PCOUNT", "0").card("GCOUNT", "1");
        if (in_order) file.card("TFIELDS", "1");
        file.text("TFORM1", "D").text("TTYPE1", "T");
        if (!in_order) file.card("TFIELDS", "1");
        return file.healpix(1).end().data(std::string(96, '\0'));
    };
    EXPECT_NO_THROW(read_map(folder.write("f", table(true).bytes())));
    EXPECT_THAT(error(table(false)), HasSubstr("HDU 1: TFIELDS is card 10: must be card 8"));
}

TEST_F(HostileFiles, FormatsThatDoNotFillTheirRows) {
    const std::string data(12 * 64, '\0');
    const auto format = [&](const std::string& text) {
        return error(FitsBuilder().table(8, 12, {text}, {"T"}).healpix(1).end().data(data));
    };
    EXPECT_THAT(format("E"), HasSubstr("NAXIS1 = 8: its columns have 4 bytes a row"));
    for (const char* text :
         {"", "8", "-1D", "99999999999999999999D", "2147483647D", "D2", "Z", "1.5D", "2PE(3)", "1 D"}) {
        EXPECT_THAT(format(text), HasSubstr("not a valid format")) << text;
    }
    EXPECT_THAT(
        error(FitsBuilder().table(8, 12, {"D"}, {"T"}).card("TSCAL1", "0.0").healpix(1).end().data(data)),
        HasSubstr("TSCAL1 = 0"));
    EXPECT_THAT(
        error(FitsBuilder().table(8, 12, {"K"}, {"T"}).text("TNULL1", "x").healpix(1).end().data(data)),
        HasSubstr("TNULL1 = 'x': must be an integer"));
    EXPECT_THAT(
        error(FitsBuilder().table(8, 12, {"D"}, {"T"}).number("THEAP", 5).healpix(1).end().data(data)),
        HasSubstr("THEAP = 5"));
}

TEST_F(HostileFiles, HeaderWithoutEnd) {
    auto file = FitsBuilder().table(8, 12, {"D"}, {"T"}).bytes();
    file.resize((file.size() + 2879) / 2880 * 2880, ' ');
    EXPECT_THAT(message_of<IoError>([&] { read_map(folder.write("f", file)); }),
                HasSubstr("the header has no END"));
    EXPECT_THAT(message_of<IoError>([&] { read_map(folder.write("f", "SIMPLE  =")); }),
                HasSubstr("the header has no END"));
    EXPECT_THAT(message_of<IoError>([&] { read_map(folder.write("f", "")); }), HasSubstr("not a FITS file"));
}

TEST_F(HostileFiles, HeaderOf100000Cards) {
    std::vector<double> values(12);
    std::iota(values.begin(), values.end(), 0.0);
    auto file = FitsBuilder().table(8, 12, {"D"}, {"T"}).healpix(1);
    for (int i = 0; i < 100000; ++i) file.number("K" + std::to_string(i % 1000), i);
    EXPECT_EQ(read_map(folder.write("f", file.end().data(big_endian(values)).bytes())).columns[0].values,
              values);
}

TEST_F(HostileFiles, ControlCharactersDoNotReachMessages) {
    const auto message = error(FitsBuilder()
                                   .table(8, 12, {"D"}, {"T"})
                                   .text("ORDERING", "\x1b[2J\n")
                                   .number("NSIDE", 1)
                                   .end()
                                   .data(std::string(96, '\0')));
    EXPECT_THAT(message, HasSubstr("ORDERING = '?[2J?'"));
}

TEST_F(HostileFiles, TilesThatAreNotReadHideNothingBehindThem) {
    const std::string data(96, '\0');
    auto file =
        FitsBuilder().table(8, 12, {"1PB(8)"}, {"COMPRESSED_DATA"}).card("ZIMAGE", "T").end().data(data);
    const std::string reason = "is tile-compressed by ZCMPTYPE = '', which is not read: unpack";
    EXPECT_THAT(error(file), HasSubstr("HDU 1 (BINTABLE, " + reason));
    file.table(8, 12, {"1PB(8)"}, {"T"}).card("ZTABLE", "T").end().data(data);
    EXPECT_THAT(error(file), HasSubstr("HDU 2 (BINTABLE, is a tile-compressed table"));
    file.table(8, 12, {"D"}, {"T"}).healpix(1).end().data(data);
    EXPECT_EQ(read_map(folder.write("f", file.bytes())).columns[0].values.size(), 12u);
    EXPECT_THAT(message_of<IoError>([&] { read_map(folder.path("f"), {.hdu = "1"}); }),
                HasSubstr("HDU 1: " + reason));
    auto plain = FitsBuilder().table(8, 12, {"D"}, {"T"}).card("ZIMAGE", "F").healpix(1).end().data(data);
    EXPECT_EQ(read_map(folder.write("f", plain.bytes())).columns.size(), 1u);
}

TEST_F(HostileFiles, TilesDoNotHideFromTheReader) {
    const std::string data(96, '\0');
    for (const char* card : {"HIERARCH ZIMAGE = T", "ZIMAGE  =T", "HIERARCH  ZIMAGE=T", "ZIMAGE  = T"}) {
        auto file = FitsBuilder().table(8, 12, {"D"}, {"T"}).card("ZIMAGE", "F").raw_card(card);
        EXPECT_THAT(error(file.healpix(1).end().data(data)), HasSubstr("ZIMAGE must be one card")) << card;
    }
}

/// Every reader either reads the file or throws IoError.
void read_with_everything(const std::string& path) {
    const auto attempt = [](auto&& read) {
        try {
            read();
        } catch (const IoError& error) {
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        }
    };
    attempt([&] { read_map(path); });
    attempt([&] { read_alm(path); });
    attempt([&] { read_spectrum(path); });
    attempt([&] { read_beam(path); });
    attempt([&] { read_pixel_window(path); });
    attempt([&] { read_weights(path); });
    attempt([&] { inspect(path); });
}

TEST_F(HostileFiles, TruncatedAnywhere) {
    for (const char* name :
         {"wmap/wmap_W_smoothed10deg_healpix_f90.fits", "fermi/fermi_3fhl_counts_cube_hpx.fits.gz",
          "theory/planck2018_lcdm_cl_v3.fits"}) {
        const auto bytes = test::read_bytes(data_file(name));
        for (const std::size_t size : {0, 1, 2, 9, 80, 2000, 2880, 2881, 5760, 7000, 10000, 20000, 100000}) {
            read_with_everything(folder.write("f", bytes.substr(0, size)));
        }
    }
    const auto packed = test::read_bytes(data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz"));
    EXPECT_THAT(
        message_of<IoError>([&] { read_map(folder.write("f", packed.substr(0, packed.size() - 20))); }),
        HasSubstr("damaged gzip file"));
    auto broken = packed;
    broken[broken.size() / 2] ^= 0x55;
    EXPECT_THAT(message_of<IoError>([&] { read_map(folder.write("f", broken)); }),
                HasSubstr("damaged gzip file"));
    const auto plain = test::read_bytes(data_file("wmap/wmap_W_smoothed10deg_healpix_f90.fits"));
    EXPECT_THAT(message_of<IoError>([&] { read_map(folder.write("f", plain.substr(0, 100000))); }),
                HasSubstr("truncated: 147456 bytes of data expected"));
}

TEST_F(HostileFiles, WhatIsNotARegularFile) {
    EXPECT_THAT(message_of<IoError>([&] { read_map(folder.folder()); }), HasSubstr("not a regular file"));
    EXPECT_THAT(message_of<IoError>([] { read_map("/dev/zero"); }), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace zonal::io
