// What cards say, which of them are a file's own, and which sizes and formats a header may have.
#include <gmock/gmock.h>

#include <cmath>

#include "io/fits/cards.hpp"
#include "io/fits/fits_reader.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::FitsBuilder;
using test::message_of;
using testing::HasSubstr;

/// A header of one card.
FitsHeader header_of(const std::string& value, const std::string& key = "KEY     ") {
    FitsHeader header;
    auto card = key + "= " + value;
    card.resize(80, ' ');
    header.add(card);
    return header;
}

TEST(HeaderValues, OfIntegersAreWholeNumbersThatADoubleHolds) {
    for (const auto& [text, value] : {std::pair{"8", 8},
                                      {"-3", -3},
                                      {"+7", 7},
                                      {"8.0", 8},
                                      {"'8'", 8},
                                      {"1E3", 1000},
                                      {"12 / twelve", 12}})
        EXPECT_EQ(header_of(text).integer("KEY"), value) << text;
    EXPECT_EQ(header_of("9007199254740991.").integer("KEY"), 9007199254740991);
    EXPECT_EQ(header_of("9223372036854775807").integer("KEY"), INT64_MAX);
    for (const char* text : {"8.5", "T", "'x'", "9007199254740992.", "1E300", "nan", "'inf'"})
        EXPECT_THAT(message_of<InvalidArgument>([&] { header_of(text).integer("KEY"); }),
                    HasSubstr("must be an integer"))
            << text;
    for (const char* text : {"", "''", "'   '", "/ only a comment"})
        EXPECT_FALSE(header_of(text).integer("KEY")) << text;
    EXPECT_FALSE(header_of("8").integer("OTHER"));
}

TEST(HeaderValues, OfNumbersLogicalsAndTexts) {
    for (const auto& [text, value] :
         {std::pair{"8", 8.0}, {"-2.5D1", -25.0}, {"' 0.125 '", 0.125}, {"1d-2", 0.01}})
        EXPECT_EQ(header_of(text).number("KEY"), value) << text;
    for (const char* text : {"T", "'x'", "nan", "inf"})
        EXPECT_THAT(message_of<InvalidArgument>([&] { header_of(text).number("KEY"); }),
                    HasSubstr("must be a number"))
            << text;
    for (const char* text : {"T", "'T'", "'true'", "' .True.'", "'.T.'"})
        EXPECT_EQ(header_of(text).logical("KEY"), true) << text;
    for (const char* text : {"F", "'f'", "'FALSE'", "'.f.'", "'.false.'"})
        EXPECT_EQ(header_of(text).logical("KEY"), false) << text;
    for (const char* text : {"1", "'yes'", "0.0"})
        EXPECT_THAT(message_of<InvalidArgument>([&] { header_of(text).logical("KEY"); }),
                    HasSubstr("must be T or F"))
            << text;
    for (const auto& [text, value] : {std::pair{"'it''s  '", "it's"},
                                      {"' a / b' / c", " a / b"},
                                      {"T", "T"},
                                      {"F", "F"},
                                      {"12", "12"},
                                      {"0.5", "0.5"},
                                      {"'open", "open"},
                                      {"word", "word"}})
        EXPECT_EQ(header_of(text).text("KEY"), value) << text;
}

TEST(HeaderValues, OfTheFirstCardCountAndCommentsAreKept) {
    FitsHeader header;
    for (std::string card :
         {"SIMPLE  = T", "COMMENT = no, a comment has no value, but this one", "N       = 1 / first",
          "N       = 2", "HISTORY nothing", "S       = 'a/b' /  text  "}) {
        card.resize(80, ' ');
        header.add(card);
    }
    EXPECT_EQ(header.integer("N"), 1);
    EXPECT_TRUE(header.has("S"));
    EXPECT_FALSE(header.has("HISTORY"));
    EXPECT_EQ(header.cards()[2].comment, "first");
    EXPECT_EQ(header.cards().back().comment, "text");
    EXPECT_NO_THROW(header.require_position("N", 3));
    EXPECT_NO_THROW(header.require_position("S", 6));
    EXPECT_THAT(message_of<InvalidArgument>([&] { header.require_position("S", 5); }),
                HasSubstr("S is card 6: must be card 5"));
    EXPECT_THAT(message_of<InvalidArgument>([&] { header.require_position("X", 1); }),
                HasSubstr("X is missing"));
    EXPECT_EQ(header_of(std::string("'a\x7f\x1f~ '")).text("KEY"), "a??~");
}

TEST(ReservedKeys, AreThoseOfTheFileItself) {
    for (const char* key : {"SIMPLE", "NAXIS", "NAXIS2", "TTYPE999", "CRPIX1", "CRPIX1A", "CD1_2", "PC12_3",
                            "PV2_1", "ZNAME3", "ORDERING", "DATE"})
        EXPECT_TRUE(is_reserved_key(key)) << key;
    for (const char* key : {"OBSERVER", "NAXISX2", "TTYPE", "CRPIX1AB", "CD1", "CD_2", "CD1_", "CDX_2",
                            "CD1_B", "XD1_2", "DATE-OBS", "TEMP1", "A", "CRPIXA"})
        EXPECT_FALSE(is_reserved_key(key)) << key;
}

TEST(Cards, MustBeOnesThatAHeaderCanHold) {
    const auto error = [](const std::string& key, const decltype(HeaderCard::value)& value) {
        return message_of<InvalidArgument>([&] {
            check_cards({{"OK_KEY-8", std::int64_t{1}, ""}, {key, value, ""}});
        });
    };
    for (const char* key : {"", "lower", "NINECHARS", "A B", "A.B"})
        EXPECT_THAT(error(key, true), HasSubstr("must be 1 to 8 of the characters")) << key;
    EXPECT_THAT(error("NSIDE", true), HasSubstr("is set by the writer itself"));
    EXPECT_THAT(error("X", std::nan("")), HasSubstr("cannot stand in a FITS header"));
    EXPECT_NO_THROW(check_cards({{"EIGHT_08", 1e300, ""}, {"Z", std::string("x"), ""}}));
    const auto left = without_keys({{"A", true, ""}, {"B", true, ""}, {"C", true, ""}}, {"C", "A"});
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].key, "B");
    EXPECT_EQ(extension_name({{"A", std::string("x"), ""}, {"EXTNAME", std::string("MINE"), ""}}, "MAP"),
              "MINE");
    for (const auto& value : {decltype(HeaderCard::value)(std::string()), decltype(HeaderCard::value)(true)})
        EXPECT_EQ(extension_name({{"EXTNAME", value, ""}}, "MAP"), "MAP");
}

class Structures : public testing::Test {
  protected:
    FitsReader reader(const FitsBuilder& file) { return FitsReader(folder.write("f", file.bytes())); }
    /// Why the HDU of a file cannot be used.
    std::string problem(const FitsBuilder& file) {
        try {
            return reader(file).problem();
        } catch (const IoError& error) {
            return error.what();
        }
    }
    test::TemporaryFolder folder;
};

FitsBuilder image_of(int bitpix, const std::string& data) {
    auto file = FitsBuilder::bare().card("SIMPLE", "T").number("BITPIX", bitpix).card("NAXIS", "1");
    return file.card("NAXIS1", "2").end().data(data);
}

TEST_F(Structures, TakeTheSixKindsOfNumbers) {
    const auto values = [&](int bitpix, const std::string& data) {
        auto file = reader(image_of(bitpix, data));
        return file.read_image(file.hdus()[0], 0, 2, 0);
    };
    using testing::ElementsAre;
    EXPECT_THAT(values(8, big_endian(std::vector<std::uint8_t>{3, 250})), ElementsAre(3, 250));
    EXPECT_THAT(values(16, big_endian(std::vector<std::int16_t>{-3, 30000})), ElementsAre(-3, 30000));
    EXPECT_THAT(values(32, big_endian(std::vector<std::int32_t>{-3, 1 << 30})), ElementsAre(-3, 1 << 30));
    EXPECT_THAT(values(64, big_endian(std::vector<std::int64_t>{-3, 1LL << 52})), ElementsAre(-3, 0x1p52));
    EXPECT_THAT(values(-32, big_endian(std::vector<float>{-3, 0.25F})), ElementsAre(-3, 0.25));
    EXPECT_THAT(values(-64, big_endian(std::vector<double>{-3, 0.1})), ElementsAre(-3, 0.1));
    for (const int bitpix : {-16, -8, 0, 7, 9, 24, 31, 33, 63, -63, -31, -33})
        EXPECT_THAT(problem(image_of(bitpix, std::string(16, '\0'))),
                    HasSubstr("must be 8, 16, 32, 64, -32 or -64"))
            << bitpix;
    for (const int bitpix : {-65, 65})
        EXPECT_THAT(problem(image_of(bitpix, "")), HasSubstr("must be from -64 to 64"));
}

/// A table of 2 rows of 8 bytes, with a heap behind it.
FitsBuilder table_with(const std::string& pcount, const std::string& gcount, const std::string& theap,
                       const std::string& format = "D") {
    FitsBuilder file;
    file.text("XTENSION", "BINTABLE")
        .card("BITPIX", "8")
        .card("NAXIS", "2")
        .card("NAXIS1", "8")
        .card("NAXIS2", "2");
    file.card("PCOUNT", pcount).card("GCOUNT", gcount).card("TFIELDS", "1").text("TFORM1", format);
    if (!theap.empty()) file.card("THEAP", theap);
    file.end().data(std::string(2880, '\0'));
    return file.text("XTENSION", "IMAGE")
        .card("BITPIX", "8")
        .card("NAXIS", "0")
        .card("PCOUNT", "0")
        .card("GCOUNT", "1")
        .end();
}

TEST_F(Structures, OfTablesMayHaveAHeap) {
    for (const auto& [pcount, theap] :
         {std::pair{"0", ""}, {"100", ""}, {"100", "16"}, {"100", "116"}, {"2864", "50"}}) {
        const auto file = reader(table_with(pcount, "1", theap));
        EXPECT_EQ(file.problem(), "");
        EXPECT_EQ(file.hdus().size(), 3u) << pcount;  // the last begins where the heap's blocks end
    }
    EXPECT_THAT(problem(table_with("100", "1", "15")), HasSubstr("THEAP = 15: must be from 16 to 116"));
    EXPECT_THAT(problem(table_with("100", "1", "117")), HasSubstr("THEAP = 117: must be from 16 to 116"));
    EXPECT_THAT(problem(table_with("-1", "1", "")), HasSubstr("PCOUNT = -1"));
    EXPECT_THAT(problem(table_with("0", "2", "")), HasSubstr("GCOUNT = 2: must be 1 in a table"));
    EXPECT_THAT(problem(table_with("1000000", "1", "")),
                HasSubstr("truncated: 1000016 bytes of data expected"));
}

TEST_F(Structures, OfFilesThatEndEarlyAreToldToTheByte) {
    const auto whole = image_of(-64, std::string(16, '\0')).bytes();  // one block of header
    for (const std::size_t missing : {0, 1, 15, 16}) {
        const FileBytes file(folder.write("f", whole.substr(0, 2880 + 16 - missing)));
        const auto scan = scan_fits(file);
        EXPECT_EQ(scan.problem, missing == 0 ? ""
                                             : "HDU 0: truncated: 16 bytes of data expected, " +
                                                   std::to_string(16 - missing) + " found");
    }
}

TEST_F(Structures, OfTablesHaveRowsOfTheirColumns) {
    for (const char* format :
         {"8L", "8B", "8A", "4I", "2J", "2E", "K", "D", "C", "64X", "57X", "1PB", "0PB(9)", "0D8B", "1QD"}) {
        const std::string text = format;
        const auto found = problem(table_with("0", "1", "", text));
        if (text == "0D8B" || text == "1QD") {
            EXPECT_NE(found, "") << format;
        } else
            EXPECT_EQ(found, text == "0PB(9)" ? "HDU 1: NAXIS1 = 8: its columns have 0 bytes a row" : "")
                << format;
    }
    for (const char* format : {"65X", "56X", "9B", "5I", "3J", "3E", "2K", "2C", "M"})
        EXPECT_THAT(problem(table_with("0", "1", "", format)), HasSubstr("bytes a row")) << format;
}

/// Numbers in a row of text.
std::vector<double> ascii(test::TemporaryFolder& folder, const std::string& format,
                          const std::vector<std::string>& rows,
                          const std::vector<std::pair<std::string, std::string>>& cards = {}) {
    FitsBuilder file;
    file.text("XTENSION", "TABLE")
        .card("BITPIX", "8")
        .card("NAXIS", "2")
        .number("NAXIS1", std::ssize(rows[0]));
    file.number("NAXIS2", std::ssize(rows)).card("PCOUNT", "0").card("GCOUNT", "1").card("TFIELDS", "1");
    file.text("TFORM1", format).card("TBCOL1", "3").text("TTYPE1", "X");
    for (const auto& [key, value] : cards) file.card(key, value);
    std::string data;
    for (const auto& row : rows) data += row;
    FitsReader reader(folder.write("f", file.end().data(data).bytes()));
    if (!reader.problem().empty()) throw IoError(reader.problem());
    return reader.read_columns(reader.hdus()[1], {0}, -1)[0];
}

TEST_F(Structures, OfTextTablesHaveNumbersInTheirColumns) {
    using testing::ElementsAre;
    EXPECT_THAT(ascii(folder, "I4", {"x   12", "x  -34", "x     "}), ElementsAre(12, -34, 0));
    // Digits without a point have the format's decimals.
    EXPECT_THAT(ascii(folder, "F6.2", {"x 001234", "x  12.5 ", "x 1E2   ", "x -1D1  "}),
                ElementsAre(12.34, 12.5, 100, -10));
    EXPECT_THAT(ascii(folder, "E5.4", {"x     1", "x   2.0"}, {{"TSCAL1", "10"}, {"TZERO1", "5"}}),
                ElementsAre(5.001, 25));
    EXPECT_THAT(ascii(folder, "I3", {"x   7", "x  NA"}, {{"TNULL1", "'NA'"}}), ElementsAre(7, -1));
    EXPECT_THAT(message_of<IoError>([&] { ascii(folder, "I3", {"x  1z"}); }),
                HasSubstr("column 'X': '1z' is no number"));
    EXPECT_THAT(message_of<IoError>([&] { ascii(folder, "I4", {"x  12"}); }),
                HasSubstr("ends behind NAXIS1 = 5"));
    for (const char* format : {"", "I", "I0", "Z3", "F3.4", "F3.x", "I81"})
        EXPECT_THAT(message_of<IoError>([&] { ascii(folder, format, {std::string(90, ' ')}); }),
                    HasSubstr("not a valid format"))
            << format;
}

}  // namespace
}  // namespace zonal::io
