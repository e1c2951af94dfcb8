#include "zonal/sky/header.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace zonal
