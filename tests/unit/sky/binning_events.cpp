#include "zonal/sky/binning.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal {
namespace {

using healpix::Order;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// One event in the middle of each pixel of nside 4, twice in pixel 7; energies 1, 2, 3, ... MeV.
EventList events_on_pixels() {
    EventList events;
    events.coordinates = CoordinateSystem::galactic;
    std::vector<std::int64_t> pixels(192);
    std::iota(pixels.begin(), pixels.end(), 0);
    pixels.push_back(7);
    for (const auto pixel : pixels) {
        const auto [theta, phi] = healpix::pix2ang(4, Order::ring, pixel);
        events.longitude.push_back(phi - 4 * std::numbers::pi);
        events.latitude.push_back(std::numbers::pi / 2 - theta);
        events.energy.push_back(static_cast<double>(events.energy.size()) + 1);
    }
    return events;
}

TEST(Binning, CountsEachEventInItsPixel) {
    for (const auto order : {Order::ring, Order::nest}) {
        const auto binned = bin_events(events_on_pixels(), {4, order});
        EXPECT_EQ(binned.binned, 193);
        EXPECT_EQ(binned.map.header().coordinates, CoordinateSystem::galactic);
        for (std::int64_t pixel = 0; pixel < 192; ++pixel)
            EXPECT_EQ(binned.map.rows()(0, pixel), pixel == 7 ? 2 : 1);
        const auto in_file = binned.map.to_file().columns[0].values;
        EXPECT_EQ(in_file[static_cast<std::size_t>(order == Order::ring ? 7 : healpix::ring2nest(4, 7))], 2);
    }
}

TEST(Binning, TakesEnergiesFromMinimumToBelowMaximum) {
    const auto binned = bin_events(events_on_pixels(), {4, Order::ring}, EnergyRange{5, 10});
    EXPECT_EQ(binned.binned, 5);
    EXPECT_EQ(binned.outside_energy_range, 188);
    EXPECT_EQ(binned.map.rows()(0, 4), 1);
    EXPECT_EQ(binned.map.rows()(0, 9), 0);
}

TEST(Binning, SaysWhatItLeftOut) {
    auto events = events_on_pixels();
    events.longitude[0] = std::nan("");
    events.latitude[1] = 2;
    events.energy[2] = std::nan("");
    const auto binned = bin_events(events, {4, Order::ring}, EnergyRange{1, 1000});
    EXPECT_EQ(binned.without_position, 2);
    EXPECT_EQ(binned.without_energy, 1);
    EXPECT_EQ(binned.binned, 190);
}

TEST(Binning, TakesPolesThatAreRoundedToFloat) {
    EventList events{.longitude = {0, 1}, .latitude = {90.0000076 * std::numbers::pi / 180, -1.5707964}};
    EXPECT_EQ(bin_events(events, {1, Order::ring}).binned, 2);
}

TEST(Binning, LeavesOutWhatLiesBeyondAPole) {
    const double pole = std::numbers::pi / 2;
    // Half of all may; of more, latitudes are no latitudes. A millionth of a radian is rounding.
    const EventList events{.longitude = {0, 1, 2, HUGE_VAL},
                           .latitude = {pole + 0.9e-6, -pole - 1.1e-6, pole + 1.1e-6, 0}};
    const auto binned = bin_events(events, {1, Order::ring});
    EXPECT_EQ(binned.binned, 1);
    EXPECT_EQ(binned.without_position, 3);
}

TEST(Binning, NeedsAnEnergyOfEachEventWhereTheyMatter) {
    EventList events{.longitude = {0, 1}, .latitude = {0, 0}, .energy = {5}};
    EXPECT_EQ(bin_events(events, {1, Order::ring}).binned, 2);
    EXPECT_THAT(
        [&] {
            bin_events(events, {1, Order::ring}, EnergyRange{1, 9});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("2 longitudes, 2 latitudes, 1 energies")));
}

TEST(Binning, RejectsWhatIsNoLatitude) {
    EventList events{.longitude = {0, 0, 0}, .latitude = {3, 4, 0.5}};
    EXPECT_THAT(
        [&] {
            bin_events(events, {4, Order::ring});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("2 of 3 latitudes lie beyond the poles")));
    events.latitude.pop_back();
    EXPECT_THROW(bin_events(events, {4, Order::ring}), InvalidArgument);
    EXPECT_THROW(bin_events({}, {3, Order::nest}), InvalidArgument);
}

}  // namespace
}  // namespace zonal
