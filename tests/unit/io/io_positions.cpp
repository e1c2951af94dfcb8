#include <gmock/gmock.h>

#include <numbers>
#include <string>

#include "io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/positions.hpp"

// Further tables of positions, and what is written beside them, are in tests/cli.
namespace zonal::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double pi = std::numbers::pi;

class PositionFiles : public testing::Test {
  protected:
    /// The positions of a file with this one row.
    Positions read(const std::string& columns, const std::string& row,
                   const ReadPositionsOptions& options = {}) {
        return read_positions(folder_.write("positions.txt", "# " + columns + "\n" + row + "\n"), options);
    }
    std::string error(const std::string& columns, const std::string& row,
                      const ReadPositionsOptions& options = {}) {
        return test::message_of<IoError>([&] { read(columns, row, options); });
    }

    test::TemporaryFolder folder_;
};

TEST_F(PositionFiles, AreFoundByTheirNames) {
    const auto colatitude = read("phi [rad] flux theta [deg]", "7 3 45");
    EXPECT_THAT(colatitude.theta, ElementsAre(45 * (pi / 180)));
    EXPECT_THAT(colatitude.phi, ElementsAre(7));
    EXPECT_EQ(colatitude.coordinates, CoordinateSystem::unknown);
    const auto latitude = read("l [deg] b [deg]", "360 -90");
    EXPECT_THAT(latitude.theta, ElementsAre(pi));
    EXPECT_THAT(latitude.phi, ElementsAre(2 * pi));
    EXPECT_EQ(latitude.coordinates, CoordinateSystem::galactic);
}

TEST_F(PositionFiles, AreThoseOfTheColumnsThatAreNamed) {
    const std::string columns = "x [rad] y [rad] lon [rad] lat [rad]", row = "0.25 1 2 3";
    const auto colatitude = read(columns, row, {.theta = "X", .phi = "y"});
    EXPECT_THAT(colatitude.theta, ElementsAre(0.25));
    EXPECT_THAT(colatitude.phi, ElementsAre(1));
    const auto latitude = read(columns, row, {.longitude = "y", .latitude = "x"});
    EXPECT_THAT(latitude.theta, ElementsAre(pi / 2 - 0.25));
    EXPECT_THAT(latitude.phi, ElementsAre(1));
    EXPECT_THAT(error(columns, row, {.theta = "x"}),
                HasSubstr("columns of theta and of phi must both be named"));
    EXPECT_THAT(error(columns, row, {.theta = "x", .phi = "y", .longitude = "y", .latitude = "x"}),
                HasSubstr("exclude each other"));
    EXPECT_THAT(error(columns, row, {.theta = "x", .phi = "z"}), HasSubstr("has no columns x and z"));
    EXPECT_THAT(error(columns, row), HasSubstr("a latitude must be from -90 to 90 deg"));
}

TEST_F(PositionFiles, OfTextHaveUnitsOfOneWord) {
    // Blanks, commas and semicolons end a word of text: a unit with them would be several columns.
    const auto positions = read("l [deg] b [deg]", "10 -20");
    const std::vector<double> values{0.5, 3, -1};
    write_positions(folder_.path("out.csv"), {.positions = positions,
                                              .names = {"flux", "size", "index"},
                                              .units = {"mJy beam-1,peak;fit", "a,b", ""},
                                              .values = View<const double, 2>(values.data(), {3, 1})});
    EXPECT_EQ(test::read_bytes(folder_.path("out.csv")),
              "# l [deg],b [deg],flux [mJy_beam-1_peak_fit],size [a_b],index\n10,-20,0.5,3,-1\n");
    const auto back = read_positions(folder_.path("out.csv"));
    EXPECT_EQ(back.theta, positions.theta);
    EXPECT_EQ(back.phi, positions.phi);
}

}  // namespace
}  // namespace zonal::io
