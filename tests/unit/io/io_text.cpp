// Numbers, words and tables of text, and the profiles in them.
#include "io/tables/text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "io/tables/text_table.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/profile.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Text, NumbersAreReadAsAWhole) {
    for (const auto& [text, value] : {std::pair{"1", 1.0},
                                      {"+1.5", 1.5},
                                      {"-2e3", -2000.0},
                                      {"1D-2", 0.01},
                                      {"1.5d1", 15.0},
                                      {".5", 0.5}})
        EXPECT_EQ(parse_number(text), value) << text;
    for (const char* text : {"", "+", "+-1", "++1", "1x", "1 ", " 1", "d5", "D", "1d", "1d2d3", "x"})
        EXPECT_FALSE(parse_number(text)) << text;
    EXPECT_EQ(parse_integer("+12"), 12);
    EXPECT_EQ(parse_integer("-9223372036854775808"), INT64_MIN);
    for (const char* text : {"", "1.0", "9223372036854775808", "1e3"})
        EXPECT_FALSE(parse_integer(text)) << text;
}

TEST(Text, WordsAreTrimmedRaisedAndSplit) {
    EXPECT_EQ(trim("\t a b \r\n"), "a b");
    EXPECT_EQ(trim_right(" a "), " a");
    EXPECT_EQ(trim(" \v\f"), "");
    EXPECT_EQ(trim_right(""), "");
    EXPECT_EQ(to_upper("az`{AZ1-\xe4"), "AZ`{AZ1-\xe4");
    EXPECT_TRUE(equal_ignoring_case("aBc", "AbC"));
    EXPECT_FALSE(equal_ignoring_case("abc", "ab"));
    EXPECT_THAT(split(" a,b;; c\td,"), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(split(" ,; "), IsEmpty());
}

TEST(Text, UnitsAreTheStatedOnesOrTheUsual) {
    EXPECT_EQ(unit_factor("E", "GeV", energy_units(), "MeV"), 1e3);
    EXPECT_EQ(unit_factor("E", "", energy_units(), "keV"), 1e-3);
    EXPECT_EQ(unit_factor("E", "TeV", energy_units(), "MeV"), 1e6);
    EXPECT_EQ(unit_factor("E", "eV", energy_units(), "MeV"), 1e-6);
    for (const char* unit : {"sr-1", "1/sr", "sr^-1", "sr**-1", "sr**(-1)"})
        EXPECT_EQ(unit_factor("P", unit, density_units(), "sr-1"), 1);
    EXPECT_EQ(180 * unit_factor("A", "deg", angle_units(), "deg"), std::acos(-1.0));
    EXPECT_THAT(message_of<InvalidArgument>([] { unit_factor("E", "erg", energy_units(), "MeV"); }),
                HasSubstr("column E: unit 'erg': must be MeV or the like"));
}

class TextTables : public testing::Test {
  protected:
    TextTable read(const std::string& text) { return read_text_table(FileBytes(folder.write("t", text))); }
    std::string error(const std::string& text) {
        return message_of<IoError>([&] { read(text); });
    }
    test::TemporaryFolder folder;
};

TEST_F(TextTables, HaveTheWordsOfTheLastLineAboveTheirNumbers) {
    const auto table = read("# first\n\n# l, TT\n#\n 0 1\r\n\n1,2\n# behind\n2;3");
    EXPECT_THAT(table.header, ElementsAre("l", "TT"));
    EXPECT_EQ(table.first_line, 5);
    ASSERT_EQ(table.columns.size(), 2u);
    EXPECT_THAT(table.columns[0], ElementsAre(0, 1, 2));
    EXPECT_THAT(table.columns[1], ElementsAre(1, 2, 3));
}

TEST_F(TextTables, SayTheLineThatIsWrong) {
    EXPECT_THAT(error("# a\n1 2\n3\n"), HasSubstr("line 3: 1 numbers: 2 expected"));
    EXPECT_THAT(error("1 2\n3 x\x1b[2J\n"), HasSubstr("line 2: 'x?[2J': must be a number"));
    const auto message = error("1\n" + std::string(100, 'y'));
    EXPECT_THAT(message, HasSubstr("'" + std::string(40, 'y') + "'"));
    EXPECT_THAT(error("# only words\n\n"), HasSubstr("holds no numbers"));
    EXPECT_THAT(error(""), HasSubstr("holds no numbers"));
    std::string row;
    for (int i = 0; i < 1000; ++i) row += "1 ";
    EXPECT_EQ(read(row).columns.size(), 1000u);
    EXPECT_THAT(error(row + "1"), HasSubstr("more than 1000 columns"));
}

TEST_F(TextTables, MultipolesAreConsecutive) {
    EXPECT_EQ(first_multipole({2, 3, 4}), 2);
    EXPECT_EQ(first_multipole({}), 0);
    EXPECT_EQ(first_multipole({1e9}), 1000000000);
    for (const auto& bad : {std::vector<double>{-1, 0},
                            {0.5, 1.5},
                            {1, 3},
                            {2, 2},
                            {2e9},
                            {std::nan("")},
                            {0, 1, std::nan("")}})
        EXPECT_THAT(message_of<InvalidArgument>([&] { first_multipole(bad); }),
                    HasSubstr("multipoles must be consecutive integers >= 0"));
    EXPECT_THAT(message_of<InvalidArgument>([] { first_multipole({0, 1, 3}); }), HasSubstr("l = 3 in row 3"));
}

constexpr double pi = std::numbers::pi;

class Profiles : public testing::Test {
  protected:
    RadialProfile read(const std::string& text) { return read_profile(folder.write("p.txt", text)); }
    std::string error(const std::string& text) {
        return message_of<IoError>([&] { read(text); });
    }
    test::TemporaryFolder folder;
};

TEST_F(Profiles, AreInRadiansAndSteradians) {
    constexpr double theta[] = {0, 0.5, 2}, value[] = {5, 3, -1};
    for (const auto& [unit, radians] :
         {std::pair{"deg", pi / 180}, {"arcmin", pi / 10800}, {"arcsec", pi / 648000}, {"rad", 1.0}})
        for (const auto& [density, per_steradian] : {std::pair{"1/sr", 1.0},
                                                     {"sr-1", 1.0},
                                                     {"deg-2", 32400 / (pi * pi)},
                                                     {"1/deg^2", 32400 / (pi * pi)}}) {
            const auto profile =
                read(fmt::format("# theta [{}] value [{}]\n0 5\n0.5 3\n2 -1\n", unit, density));
            // Two roundings of a unit, and one of what it is multiplied with.
            for (std::size_t i = 0; i < 3; ++i) {
                EXPECT_DOUBLE_EQ(profile.theta[i], theta[i] * radians) << unit;
                EXPECT_DOUBLE_EQ(profile.value[i], value[i] * per_steradian) << density;
            }
        }
}

TEST_F(Profiles, EndAtPiWhereTheyAreRounded) {
    const auto last = [&](const std::string& number, const char* unit) {
        return read(fmt::format("# theta [{}] value [1/sr]\n0 1\n{} 0\n", unit, number)).theta.back();
    };
    EXPECT_EQ(last("180", "deg"), pi);
    EXPECT_EQ(last("10800.000000001", "arcmin"), pi);
    EXPECT_EQ(last(fmt::format("{:.17g}", pi * (1 + 0.9e-12)), "rad"), pi);
    EXPECT_EQ(last("3", "rad"), 3);
    for (const double beyond : {1.2e-12, 0.1})
        EXPECT_THAT(error(fmt::format("# theta [rad] value [1/sr]\n0 1\n{:.17g} 0\n", pi * (1 + beyond))),
                    HasSubstr("angles must be from 0 to 180 degrees at most"));
}

TEST_F(Profiles, SayWhatIsWrong) {
    const std::string units = "# theta [deg] value [1/sr]\n";
    EXPECT_THAT(error("# theta [deg] value\n0 1\n1 2\n"), HasSubstr("must state units"));
    EXPECT_THAT(error("# theta [deg value 1/sr\n0 1\n1 2\n"), HasSubstr("must state units"));
    EXPECT_THAT(error("# theta [m] value [1/sr]\n0 1\n1 2\n"), HasSubstr("column theta: unit 'm'"));
    EXPECT_THAT(error("# theta [deg] value [K]\n0 1\n1 2\n"), HasSubstr("column value: unit 'K'"));
    EXPECT_THAT(error(units + "0 1 2\n1 2 3\n"), HasSubstr("3 columns: must be 2"));
    EXPECT_THAT(error(units + "0 1\n"), HasSubstr("needs 2 rows at least"));
    EXPECT_THAT(error(units + "1 1\n2 1\n"), HasSubstr("angles must be from 0"));
    EXPECT_THAT(error(units + "0 1\n2 1\n2 1\n3 1\n"), HasSubstr("angles do not ascend in row 3"));
    EXPECT_THAT(error(units + "0 1\n1 inf\n"), HasSubstr("values must be finite"));
    EXPECT_THAT(error("SIMPLE  = T"), HasSubstr("is a FITS file; a profile is text"));
}

}  // namespace
}  // namespace zonal::io
