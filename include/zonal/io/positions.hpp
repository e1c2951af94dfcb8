#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"
#include "zonal/view.hpp"

namespace zonal::io {

/// Points of the sphere as a file has them.
struct Positions {
    std::vector<double> theta{};  ///< rad, colatitude, from 0 to pi
    std::vector<double> phi{};    ///< rad, longitude, of any number of turns
    /// The columns that hold the positions: the first has longitudes or colatitudes, as in the file.
    std::vector<double> given[2]{};
    std::string names[2]{};
    std::string units[2]{};
    CoordinateSystem coordinates = CoordinateSystem::unknown;  ///< that the names stand for
    std::string source{};                                      ///< for messages

    std::int64_t size() const { return static_cast<std::int64_t>(theta.size()); }
};

/// Which columns hold positions.
struct ReadPositionsOptions {
    /// Colatitude and longitude, or longitude and latitude: names (any case), both of one pair or none. None:
    /// the one pair there is of THETA, PHI; LON, LAT; L, B; GLON, GLAT; RA, DEC; ELON, ELAT.
    std::string theta{}, phi{};
    std::string longitude{}, latitude{};
    std::string unit{};  ///< deg or rad, of columns that state none
    std::string hdu{};   ///< of FITS files: name or number; empty: the first table with the columns
};

/// Reads positions from a FITS table, or from text: columns of numbers below a '#' line with names and, in
/// brackets, units, such as "# lon [deg] lat [deg]"; other columns are passed over. Throws IoError for
/// columns that are missing, of which several pairs are there, without a unit (where options give none) or
/// with one that is neither deg nor rad; and for positions that are no numbers or no latitudes.
Positions read_positions(const std::string& path, const ReadPositionsOptions& options = {});

/// Values at positions.
struct PositionTable {
    const Positions& positions;
    std::vector<std::string> names;  ///< [column]
    std::vector<std::string> units;
    View<const double, 2> values;  ///< [column, point]; NaN where there is none
    std::vector<HeaderCard> cards{};
};

/// Writes positions as they were given, and values, all double: a binary table, or text of the form that
/// read_positions reads where the name ends in .csv. Throws IoError.
void write_positions(const std::string& path, const PositionTable& table, const WriteOptions& options = {});

}  // namespace zonal::io
