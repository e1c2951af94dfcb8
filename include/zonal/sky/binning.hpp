#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/sky/header.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal {

/// Where events (photons) came from, one element each. What a file leaves undefined is NaN.
struct EventList {
    std::vector<double> longitude{};  ///< rad, any
    std::vector<double> latitude{};   ///< rad
    std::vector<double> energy{};     ///< MeV; empty where it was not asked for
    CoordinateSystem coordinates = CoordinateSystem::unknown;
    std::string source{};              ///< for messages: "events.fits: HDU 1 'EVENTS'"
    std::vector<std::string> notes{};  ///< what was assumed while reading
};

/// From minimum to below maximum, MeV.
struct EnergyRange {
    double minimum = 0;
    double maximum = 0;
};

/// A map of counts and what became of the events.
struct BinnedEvents {
    SkyMap map;  ///< one column COUNTS
    std::int64_t binned = 0;
    std::int64_t outside_energy_range = 0;
    std::int64_t without_position = 0;  ///< not finite, or a latitude beyond a pole
    std::int64_t without_energy = 0;    ///< not finite, where energies matter
};

/// Counts events in the pixels of a HEALPix map. Throws InvalidArgument for an nside out of range, lists of
/// unequal length, and where most latitudes lie beyond the poles: they are then no latitudes, or in another
/// unit.
BinnedEvents bin_events(const EventList& events, const HealpixPixels& pixels,
                        const std::optional<EnergyRange>& range = {});

}  // namespace zonal
