#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/io/events.hpp"

namespace zonal::io {
namespace {

const std::string photons = std::string(ZONAL_DATA_DIR) + "/fermi/fermi_2fhl_events_selected.fits.gz";
constexpr double degree = std::numbers::pi / 180;

TEST(ReadEvents, ReadsPositionsAndEnergiesOfFermiPhotons) {
    const auto events = read_events(photons, {.longitude = "L", .latitude = "B", .energy = "ENERGY"});
    ASSERT_EQ(events.longitude.size(), 60347u);
    ASSERT_EQ(events.energy.size(), 60347u);
    EXPECT_EQ(events.coordinates, CoordinateSystem::galactic);
    // Columns are float: 24 bits.
    EXPECT_NEAR(events.longitude[0], 74.54367 * degree, 1e-7);
    EXPECT_NEAR(events.latitude[0], 11.86778 * degree, 1e-7);
    EXPECT_NEAR(events.energy[0], 145927.23, 0.01);
    EXPECT_TRUE(events.notes.empty());
    EXPECT_TRUE(read_events(photons, {.longitude = "RA", .latitude = "DEC"}).energy.empty());
}

TEST(ReadEvents, KnowsTheSystemByTheColumns) {
    EXPECT_EQ(coordinates_of_columns("glon", "GLAT"), CoordinateSystem::galactic);
    EXPECT_EQ(coordinates_of_columns("RA", "dec"), CoordinateSystem::equatorial);
    EXPECT_EQ(coordinates_of_columns("ELON", "ELAT"), CoordinateSystem::ecliptic);
    EXPECT_EQ(coordinates_of_columns("X", "Y"), CoordinateSystem::unknown);
    EXPECT_THROW(coordinates_of_columns("RA", "B"), InvalidArgument);
}

TEST(ReadEvents, RejectsColumnsThatAreNoPositionsOrEnergies) {
    EXPECT_THROW(read_events(photons, {.longitude = "L", .latitude = "NIX"}), IoError);
    EXPECT_THROW(read_events(photons, {.longitude = "TIME", .latitude = "B"}), IoError);
    EXPECT_THROW(read_events(photons, {.energy = "CALIB_VERSION"}), IoError);
    EXPECT_THROW(read_events(photons, {.energy = "EVENT_CLASS"}), IoError);
    EXPECT_THROW(read_events(photons, {.energy = "NIX"}), IoError);
    EXPECT_THROW(read_events(photons, {.hdu = "GTI"}), IoError);
}

}  // namespace
}  // namespace zonal::io
