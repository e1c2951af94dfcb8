#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"

namespace zonal::io {

/// Which columns of a table of events to read.
struct ReadEventsOptions {
    /// Name (EXTNAME) or number of the HDU; empty: the first table with the columns of the positions.
    std::string hdu{};
    std::string longitude = "L";
    std::string latitude = "B";
    /// Empty: energies are not read.
    std::string energy{};
};

/// Where events (photons) came from, one element each. What the file leaves undefined is NaN.
struct EventList {
    std::vector<double> longitude{};  ///< rad, any
    std::vector<double> latitude{};   ///< rad
    std::vector<double> energy{};     ///< MeV; empty where it was not asked for
    /// Of the columns' names: L, B and GLON, GLAT are galactic, RA, DEC equatorial, ELON, ELAT ecliptic.
    CoordinateSystem coordinates = CoordinateSystem::unknown;
    std::string source{};              ///< for messages: "events.fits: HDU 1 'EVENTS'"
    std::vector<std::string> notes{};  ///< what was assumed while reading
};

/// The system that columns of these names (any case) are in. Throws InvalidArgument for a longitude and a
/// latitude of different systems.
CoordinateSystem coordinates_of_columns(const std::string& longitude, const std::string& latitude);

/// Angles are in the columns' units (deg, rad; degrees where none is stated, said so), energies in eV to TeV
/// (MeV). Throws IoError for columns that are missing, not of one number a row, or of another unit.
EventList read_events(const std::string& path, const ReadEventsOptions& options = {});

}  // namespace zonal::io
