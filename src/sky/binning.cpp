#include "zonal/sky/binning.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/interruption.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal {
namespace {

constexpr double half_pi = std::numbers::pi / 2;

bool is_beyond_a_pole(double latitude) {
    constexpr double rounding = 1e-6;  // degrees in float: 90.0000076
    return std::abs(latitude) > half_pi + rounding;
}

void check(const EventList& events, const HealpixPixels& pixels, const std::optional<EnergyRange>& range) {
    healpix::check_nside(pixels.nside, pixels.ordering);
    const auto n = events.longitude.size();
    if (events.latitude.size() != n || (range && events.energy.size() != n))
        throw InvalidArgument(fmt::format("{}: {} longitudes, {} latitudes, {} energies: must be equal",
                                          events.source, n, events.latitude.size(), events.energy.size()));
    const auto beyond = std::count_if(events.latitude.begin(), events.latitude.end(), is_beyond_a_pole);
    if (2 * beyond > std::ssize(events.latitude))
        throw InvalidArgument(
            fmt::format("{}{} of {} latitudes lie beyond the poles: are longitudes and latitudes exchanged?",
                        events.source.empty() ? "" : events.source + ": ", beyond, n));
}

SkyMap empty_counts(const EventList& events, const HealpixPixels& pixels) {
    MapFile header;
    header.pixelization = pixels;
    header.coordinates = events.coordinates;
    header.columns.push_back({.name = "COUNTS", .unit = "count", .precision = FilePrecision::float64});
    return SkyMap(std::move(header));
}

}  // namespace

BinnedEvents bin_events(const EventList& events, const HealpixPixels& pixels,
                        const std::optional<EnergyRange>& range) {
    check(events, pixels, range);
    BinnedEvents result{empty_counts(events, pixels)};
    const auto counts = result.map.rows()[0];
    core::RarePoll poll;
    for (std::size_t i = 0; i < events.longitude.size(); ++i) {
        poll();
        const double longitude = events.longitude[i], latitude = events.latitude[i];
        if (!std::isfinite(longitude) || std::isnan(latitude) || is_beyond_a_pole(latitude)) {
            ++result.without_position;
        } else if (range && !std::isfinite(events.energy[i])) {
            ++result.without_energy;
        } else if (range && !(events.energy[i] >= range->minimum && events.energy[i] < range->maximum)) {
            ++result.outside_energy_range;
        } else {
            const double theta = std::clamp(half_pi - latitude, 0.0, std::numbers::pi);
            counts[healpix::ang2pix(pixels.nside, healpix::Order::ring, healpix::Angles{theta, longitude})] +=
                1;
            ++result.binned;
        }
    }
    return result;
}

}  // namespace zonal
