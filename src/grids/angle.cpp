#include "zonal/angle.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "zonal/error.hpp"

namespace zonal {

std::optional<double> size_of_unit(std::span<const NamedUnit> units, std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (const auto& unit : units)
        if (std::find(unit.names.begin(), unit.names.end(), name) != unit.names.end()) return unit.size;
    return std::nullopt;
}

std::optional<double> angle_unit(std::string_view name) {
    return size_of_unit(angle_units, name);
}

double checked_width(const std::string& name, double radians, double most) {
    constexpr double rounding = 1e-15;  // of a number times the size of its unit
    if (radians > 0 && radians <= most * (1 + rounding)) return std::min(radians, most);
    const std::string limit = most == std::numbers::pi ? "pi" : fmt::format("{}", most);
    throw InvalidArgument(
        fmt::format("{} = {} rad ({:.6g} deg): must be above 0 and at most {} rad ({:.6g} deg)", name,
                    radians, radians_to_degrees(radians), limit, radians_to_degrees(most)));
}

}  // namespace zonal
