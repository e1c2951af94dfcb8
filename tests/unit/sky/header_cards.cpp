#include "zonal/sky/header.hpp"

#include <gtest/gtest.h>

#include "zonal/error.hpp"

namespace zonal {
namespace {

TEST(HeaderCards, AreReplacedByTheirKeysButHistoryGrows) {
    std::vector<HeaderCard> cards{{"A", std::int64_t{1}, ""}, {"HISTORY", std::string("x"), ""}};
    set_cards(cards, {{"A", 2.5, "new"}, {"HISTORY", std::string("y"), ""}});
    ASSERT_EQ(cards.size(), 3u);
    EXPECT_EQ(cards[1], (HeaderCard{"A", 2.5, "new"}));
    EXPECT_EQ(std::get<std::string>(cards[2].value), "y");
    EXPECT_EQ(header_text("a\tb\x7f"), "a?b?");
}

TEST(HeaderCards, HoldPrintableTextOnly) {
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    const auto text = header_text(all);
    for (int c = 0; c < 256; ++c)
        EXPECT_EQ(text[static_cast<std::size_t>(c)], c >= 32 && c <= 126 ? static_cast<char>(c) : '?') << c;
}

TEST(CoordinateSystems, AreReadAsTheyAreNamed) {
    using enum CoordinateSystem;
    for (const auto system : {galactic, ecliptic, equatorial, unknown})
        EXPECT_EQ(parse_coordinate_system(to_string(system)), system);
    for (const char* text : {"icrs", " FK5\t", "j2000", "Q", "c", "cel", "CELESTIAL", "equ"})
        EXPECT_EQ(parse_coordinate_system(text), equatorial) << text;
    for (const char* text : {"g", "Gal"}) EXPECT_EQ(parse_coordinate_system(text), galactic) << text;
    for (const char* text : {"e", "ecl"}) EXPECT_EQ(parse_coordinate_system(text), ecliptic) << text;
    for (const char* text : {"", "   ", "\n"}) EXPECT_EQ(parse_coordinate_system(text), unknown) << text;
    for (const char* text : {"X", "G G", "galactic2"})
        EXPECT_THROW(parse_coordinate_system(text), InvalidArgument) << text;
}

}  // namespace
}  // namespace zonal
