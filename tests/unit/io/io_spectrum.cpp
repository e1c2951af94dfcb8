#include "zonal/io/spectrum.hpp"

#include <gmock/gmock.h>

#include <numbers>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/inspect.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::data_file;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_of(const SpectrumFile& file) {
    std::vector<std::string> names;
    for (const auto& spectrum : file.spectra) names.push_back(spectrum.name);
    return names;
}

/// A table of one row whose columns hold 0, 1, 2, ...
FitsBuilder table_of(const std::vector<std::string>& names, const std::string& creator) {
    std::vector<double> row;
    for (std::size_t i = 0; i < names.size(); ++i) row.push_back(double(i));
    FitsBuilder file;
    file.table(8 * std::int64_t(names.size()), 1, std::vector<std::string>(names.size(), "D"), names);
    return file.text("CREATOR", creator).end().data(big_endian(row));
}

class SpectrumFiles : public testing::Test {
  protected:
    SpectrumFile read(const FitsBuilder& file, const ReadSpectrumOptions& options = {}) {
        return read_spectrum(folder.write("cl.fits", file.bytes()), options);
    }
    SpectrumFile read_text(const std::string& text, const ReadSpectrumOptions& options = {}) {
        return read_spectrum(folder.write("cl.txt", text), options);
    }
    std::string text_error(const std::string& text, const ReadSpectrumOptions& options = {}) {
        return message_of<IoError>([&] { read_text(text, options); });
    }
    TemporaryFolder folder;
};

TEST_F(SpectrumFiles, TheoryFiles) {
    // Values as astropy reads them.
    const SpectrumFile planck = read_spectrum(data_file("theory/planck2018_lcdm_cl_v3.fits"));
    EXPECT_EQ(planck.lmax(), 5000);
    EXPECT_THAT(names_of(planck), ElementsAre("TT", "EE", "BB", "TE"));
    EXPECT_EQ(planck.find("TT")->values[2], 1065.0374);
    EXPECT_EQ(planck.find("TE")->values[100], -0.014395377);
    EXPECT_EQ(planck.find("BB")->values[3000], 1.4988226e-08);
    EXPECT_EQ(planck.find("EE")->unit, "uK^2");
    EXPECT_EQ(planck.find("TB"), nullptr);
    const SpectrumFile wmap = read_spectrum(data_file("theory/wmap_lcdm_sz_lens_wmap7_cl_v4.fits"));
    EXPECT_EQ(wmap.lmax(), 3726);
    EXPECT_THAT(names_of(wmap), ElementsAre("TT", "EE", "BB", "TE"));
    EXPECT_EQ(wmap.find("EE")->values[100], 0.0004617643426172435);
}

TEST_F(SpectrumFiles, AsciiTablesWithScaleNullBlanksAndImpliedDecimals) {
    auto file =
        FitsBuilder().text("XTENSION", "TABLE").card("BITPIX", "8").card("NAXIS", "2").number("NAXIS1", 10);
    file.number("NAXIS2", 6)
        .card("PCOUNT", "0")
        .card("GCOUNT", "1")
        .number("TFIELDS", 1)
        .text("TTYPE1", "TT");
    file.text("TFORM1", "F8.2")
        .number("TBCOL1", 2)
        .card("TSCAL1", "2.0")
        .card("TZERO1", "1.0")
        .text("TNULL1", "none");
    file.end().data(" 1.5       1.5D+01             -250      none      0.1      ");
    EXPECT_THAT(read(file).find("TT")->values, ElementsAre(4, 31, 1, -4, 0, 1.2));
    auto bad =
        FitsBuilder().text("XTENSION", "TABLE").card("BITPIX", "8").card("NAXIS", "2").number("NAXIS1", 4);
    bad.number("NAXIS2", 1).card("PCOUNT", "0").card("GCOUNT", "1").number("TFIELDS", 1).text("TTYPE1", "TT");
    EXPECT_THAT(message_of<IoError>(
                    [&] { read(bad.text("TFORM1", "F4.2").number("TBCOL1", 1).end().data("ab\x01z")); }),
                HasSubstr("column 'TT': 'ab?z' is no number"));
}

TEST_F(SpectrumFiles, OrderOfHealpyAndF90) {
    const std::vector<std::string> names{"TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G"};
    const auto column_of = [&](const std::string& creator, ClOrder order, const std::string& name) {
        return read(table_of(names, creator), {.order = order}).find(name)->values[0];
    };
    EXPECT_EQ(column_of("ANAFAST", ClOrder::automatic, "TB"), 4);
    EXPECT_EQ(column_of("ANAFAST", ClOrder::automatic, "EB"), 5);
    EXPECT_EQ(column_of("healpy", ClOrder::automatic, "EB"), 4);
    EXPECT_EQ(column_of("healpy", ClOrder::automatic, "TB"), 5);
    EXPECT_EQ(column_of("healpy", ClOrder::f90, "TB"), 4);
    EXPECT_EQ(column_of("ANAFAST", ClOrder::healpy, "TB"), 5);
    EXPECT_THAT(read(table_of(names, "healpy")).notes, ElementsAre(HasSubstr("CREATOR = 'healpy'")));
    EXPECT_THAT(read(table_of(names, "healpy"), {.order = ClOrder::f90}).notes, IsEmpty());
}

TEST_F(SpectrumFiles, NineSpectra) {
    const auto file = read(
        table_of({"TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G", "T-G", "T-C", "G-C"}, "ANAFAST"));
    EXPECT_THAT(names_of(file), ElementsAre("TT", "EE", "BB", "TE", "TB", "EB", "ET", "BT", "BE"));
}

TEST_F(SpectrumFiles, ColumnsWithoutKnownNamesAreLeftOutAndSaidSo) {
    const auto file = read(table_of({"TT", "PHI"}, "X"));
    EXPECT_THAT(names_of(file), ElementsAre("TT"));
    EXPECT_THAT(file.notes, ElementsAre(HasSubstr("column 'PHI' is no known spectrum: left out")));
    EXPECT_THAT(message_of<IoError>([&] {
                    read(table_of({"A", "B"}, "X"));
                }),
                HasSubstr("holds no power spectrum"));
    EXPECT_THAT(message_of<IoError>([&] {
                    read(table_of({"TT", "TEMPERATURE"}, "X"));
                }),
                HasSubstr("two columns are the spectrum TT"));
}

TEST_F(SpectrumFiles, AColumnOfMultipolesSaysWhereTheyBegin) {
    for (const char* name : {"ELL", "L", "l", "multipole"}) {
        FitsBuilder file;
        file.table(16, 2, {"D", "D"}, {name, "TT"}).end().data(big_endian(std::vector<double>{2, 5, 3, 7}));
        const auto found = read(file);
        EXPECT_THAT(found.find("TT")->values, ElementsAre(0, 0, 5, 7)) << name;
        EXPECT_THAT(found.notes, ElementsAre(HasSubstr("C_l below l = 2 taken as 0"))) << name;
        EXPECT_EQ(inspect(folder.path("cl.fits")).kind, FileKind::spectrum) << name;
    }
    FitsBuilder file;
    file.table(16, 2, {"D", "D"}, {"ELL", "TT"}).end().data(big_endian(std::vector<double>{2, 5, 4, 7}));
    EXPECT_THAT(message_of<IoError>([&] { read(file); }), HasSubstr("l = 4 in row 2: multipoles must be"));
}

TEST_F(SpectrumFiles, RoundTrip) {
    for (const std::size_t count : {1, 4, 6, 9}) {
        SpectrumFile file;
        const std::vector<std::string> names{"TT", "EE", "BB", "TE", "TB", "EB", "ET", "BT", "BE"};
        // Any order in memory.
        for (std::size_t i = count; i-- > 0;)
            file.spectra.push_back({names[i], "uK^2", {double(i), 1.0 / 3, -2e-40}});
        file.cards = {{"NSIDE0", std::int64_t{8}, ""}};
        write_spectrum(folder.path("out.fits"), file, {.overwrite = true});
        const auto back = read_spectrum(folder.path("out.fits"));
        EXPECT_THAT(names_of(back),
                    testing::ElementsAreArray(names.begin(), names.begin() + std::int64_t(count)));
        for (const auto& spectrum : file.spectra) {
            EXPECT_EQ(back.find(spectrum.name)->values, spectrum.values);
            EXPECT_EQ(back.find(spectrum.name)->unit, "uK^2");
        }
        write_spectrum(folder.path("again.fits"), back, {.overwrite = true});
    }
}

TEST_F(SpectrumFiles, WritesTheNamesOfHealpixF90) {
    SpectrumFile file;
    for (const char* name : {"TT", "EE", "BB", "TE", "TB", "EB"}) file.spectra.push_back({name, "", {1.0}});
    write_spectrum(folder.path("out.fits"), file);
    std::vector<std::string> columns;
    const auto summary = inspect(folder.path("out.fits"));
    for (const auto& column : summary.hdus.at(1).columns) columns.push_back(column.name);
    EXPECT_THAT(columns, ElementsAre("TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G"));
}

TEST_F(SpectrumFiles, RejectsIncompleteSetsWhenWriting) {
    SpectrumFile file{.spectra = {{"TT", "", {1.0}}, {"EE", "", {1.0}}}};
    EXPECT_THROW(write_spectrum(folder.path("x"), file), InvalidArgument);
    file.spectra = {{"TT", "", {1.0}}, {"EE", "", {1.0}}, {"BB", "", {1.0}}, {"EB", "", {1.0}}};
    EXPECT_THROW(write_spectrum(folder.path("x"), file), InvalidArgument);
    file.spectra = {{"XY", "", {1.0}}};
    EXPECT_THROW(write_spectrum(folder.path("x"), file), InvalidArgument);
    file.spectra = {};
    EXPECT_THROW(write_spectrum(folder.path("x"), file), InvalidArgument);
    EXPECT_EQ(folder.n_entries(), 0u);
}

TEST_F(SpectrumFiles, TextWithNamedColumns) {
    const auto file =
        read_text("# made by hand\n#  L   TT  EE BB TE PP\n2 1.5 0.1 0 1e-3 9\n3 1.25D0 0.2 0 -2e-3 9\n");
    EXPECT_EQ(file.lmax(), 3);
    EXPECT_THAT(names_of(file), ElementsAre("TT", "EE", "BB", "TE"));
    EXPECT_THAT(file.find("TT")->values, ElementsAre(0, 0, 1.5, 1.25));
    EXPECT_THAT(file.find("TE")->values, ElementsAre(0, 0, 1e-3, -2e-3));
    EXPECT_THAT(file.notes,
                ElementsAre(HasSubstr("'PP' is no known spectrum"), HasSubstr("below l = 2 taken as 0")));
}

TEST_F(SpectrumFiles, TextMayHaveItsMultipolesInAnyColumn) {
    const auto file = read_spectrum(folder.write("cl.txt", "# TT l EE\n5 2 7\n6 3 8\n"));
    ASSERT_EQ(file.spectra.size(), 2u);
    EXPECT_THAT(file.find("TT")->values, ElementsAre(0, 0, 5, 6));
    EXPECT_THAT(file.find("EE")->values, ElementsAre(0, 0, 7, 8));
}

TEST_F(SpectrumFiles, TextOfClass) {
    const auto file = read_text("#    1:l     2:TT   3:EE\n 2 1 2\n");
    EXPECT_THAT(names_of(file), ElementsAre("TT", "EE"));
}

TEST_F(SpectrumFiles, DlIsDividedOnlyWhenAskedFor) {
    const std::string text = "# l TT\n1 3\n2 3\n";
    EXPECT_THAT(read_text(text).find("TT")->values, ElementsAre(0, 3, 3));
    const auto values = read_text(text, {.dl = true}).find("TT")->values;
    EXPECT_EQ(values[0], 0);
    EXPECT_DOUBLE_EQ(values[1], 3 * std::numbers::pi);
    EXPECT_DOUBLE_EQ(values[2], std::numbers::pi);
    EXPECT_THAT(text_error("# l TT\n0 3\n", {.dl = true}), HasSubstr("D_0 = 3: must be 0"));
}

TEST_F(SpectrumFiles, RejectsTextThatDoesNotSayWhatItHolds) {
    EXPECT_THAT(text_error("0 1\n1 2\n"), HasSubstr("line 1 has 2 columns, the '#' line above it names 0"));
    EXPECT_THAT(text_error("# TT\n0 1\n"), HasSubstr("names 1"));
    EXPECT_THAT(text_error("# l XX\n0 1\n"), HasSubstr("no column has the name of a spectrum"));
    EXPECT_THAT(text_error("# l TT\n0 1\n2 2\n"),
                HasSubstr("l = 2 in row 2: multipoles must be consecutive"));
    EXPECT_THAT(text_error("# l TT\n0 1\n1 abc\n"), HasSubstr("cl.txt: line 3: 'abc': must be a number"));
    EXPECT_THAT(text_error("# l TT\n0 1\n1\n"), HasSubstr("line 3: 1 numbers: 2 expected"));
    EXPECT_THAT(text_error("# l TT\n900000000 1\n"), HasSubstr("begins at l = 900000000"));
    EXPECT_THAT(text_error("# l TT\n"), HasSubstr("no numbers"));
    EXPECT_THAT(text_error(""), HasSubstr("no numbers"));
    EXPECT_THAT(text_error(std::string("# l TT\n0 1\0\n", 12)), HasSubstr("neither a FITS file nor text"));
}

}  // namespace
}  // namespace zonal::io
