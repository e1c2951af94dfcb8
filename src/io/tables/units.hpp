#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zonal::io {

/// Names of units and their sizes.
using Units = std::vector<std::pair<std::string, double>>;

const Units& energy_units();   ///< eV to TeV, in MeV
const Units& angle_units();    ///< deg, rad, in rad
const Units& density_units();  ///< 1/sr and the like

/// The size of the unit that the column states, or of `usual` where it states none. Throws InvalidArgument
/// for a unit that is not among them.
double unit_factor(const std::string& column, const std::string& stated, const Units& units,
                   const std::string& usual);

}  // namespace zonal::io
