#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"
#include "zonal/sky/binning.hpp"

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

/// The system that columns of these names (any case) are in. Throws InvalidArgument for a longitude and a
/// latitude of different systems, and for known names in the other's place.
CoordinateSystem coordinates_of_columns(const std::string& longitude, const std::string& latitude);

/// Angles are in the columns' units (deg, rad; degrees where none is stated, said so), energies in eV to TeV
/// (MeV). EventList::coordinates are those of the columns' names. Throws IoError for columns that are
/// missing, not of one number a row, or of another unit.
EventList read_events(const std::string& path, const ReadEventsOptions& options = {});

}  // namespace zonal::io
