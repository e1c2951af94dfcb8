#include "io/tables/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numbers>

#include "zonal/error.hpp"

namespace zonal::io {

const Units& energy_units() {
    static const Units units{{"eV", 1e-6}, {"keV", 1e-3}, {"MeV", 1}, {"GeV", 1e3}, {"TeV", 1e6}};
    return units;
}

const Units& angle_units() {
    static const Units units{{"deg", std::numbers::pi / 180}, {"rad", 1}};
    return units;
}

const Units& density_units() {
    static const Units units{{"1/sr", 1}, {"sr-1", 1}, {"sr^-1", 1}, {"sr**-1", 1}, {"sr**(-1)", 1}};
    return units;
}

double unit_factor(const std::string& column, const std::string& stated, const Units& units,
                   const std::string& usual) {
    const auto& name = stated.empty() ? usual : stated;
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const auto& known) { return known.first == name; });
    if (unit == units.end())
        throw InvalidArgument(
            fmt::format("column {}: unit '{}': must be {} or the like", column, name, usual));
    return unit->second;
}

}  // namespace zonal::io
