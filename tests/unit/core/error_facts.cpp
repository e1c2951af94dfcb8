#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zonal/error.hpp"

// What errors about arguments carry, and how their messages are made of it.
namespace zonal::test {
namespace {

using testing::Optional;

TEST(ArgumentErrors, CarryWhatTheirMessageSays) {
    const InvalidArgument error("lmax", 9000, "must be at most 6143");
    EXPECT_STREQ(error.what(), "lmax = 9000: must be at most 6143");
    EXPECT_EQ(error.argument(), "lmax");
    EXPECT_THAT(error.value(), Optional(std::string("9000")));
    EXPECT_EQ(error.requirement(), "must be at most 6143");
}

TEST(ArgumentErrors, NeedNeitherAValueNorAnArgument) {
    const InvalidArgument about_one("maps", "is in device memory");
    EXPECT_STREQ(about_one.what(), "maps: is in device memory");
    EXPECT_EQ(about_one.value(), std::nullopt);
    const InvalidArgument whole("ring and nest maps: lengths differ");
    EXPECT_STREQ(whole.what(), "ring and nest maps: lengths differ");
    EXPECT_EQ(whole.argument(), "");
}

TEST(ArgumentErrors, WriteNumbersInTheFewestDigits) {
    const auto text = [](ArgumentValue value) { return value.text(); };
    EXPECT_EQ(text(1e-5), "1e-05");
    EXPECT_EQ(text(0.1F), "0.1");
    EXPECT_EQ(text(100000.0), "100000");
    EXPECT_EQ(text(std::size_t{3}), "3");
    EXPECT_EQ(text(""), "");
}

TEST(ArgumentErrors, GetAnotherNameWithoutALookAtTheRest) {
    const std::string requirement = "must be at least 2 for a and lmax = 5.fits";
    auto facts = ErrorNotKept("lmax", 1, requirement).facts();
    facts.origin = "rank 1: ";
    facts.argument = "--lmax";
    EXPECT_STREQ(ErrorNotKept(facts).what(), ("rank 1: --lmax = 1: " + requirement).c_str());
}

}  // namespace
}  // namespace zonal::test
