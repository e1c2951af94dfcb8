#pragma once

#include <array>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Angles are in radians throughout the library. These functions convert them from and to the units that
/// people write, and refuse those that no width on the sphere has.
namespace zonal {

constexpr double degrees_to_radians(double degrees) {
    return degrees * (std::numbers::pi / 180);
}
constexpr double radians_to_degrees(double radians) {
    return radians * (180 / std::numbers::pi);
}
constexpr double arcmin_to_radians(double arcmin) {
    return arcmin * (std::numbers::pi / 180 / 60);
}
constexpr double radians_to_arcmin(double radians) {
    return radians / (std::numbers::pi / 180 / 60);
}

/// A unit under all the names that people write, and its size in the unit that is computed in.
struct NamedUnit {
    std::array<std::string_view, 6> names;  ///< the first is used in messages
    double size;
};
inline constexpr std::array<NamedUnit, 4> angle_units = {
    {{{"deg", "degree", "degrees", "°"}, degrees_to_radians(1)},
     {{"arcmin", "arcmins", "arcminute", "arcminutes", "'", "′"}, arcmin_to_radians(1)},
     {{"arcsec", "arcsecs", "arcsecond", "arcseconds", "\"", "″"}, degrees_to_radians(1) / 3600},
     {{"rad", "radian", "radians"}, 1.0}}};

/// The size of the unit that has this name among its names; nothing where none has it.
std::optional<double> size_of_unit(std::span<const NamedUnit> units, std::string_view name);
/// The size in radians of the unit with this name; nothing for other names.
std::optional<double> angle_unit(std::string_view name);

/// Returns a width on the sphere, such as a FWHM, a radius or a cut. What exceeds the most by a rounding
/// alone, as 180 degrees in other units do, is the most.
///
/// name: of the argument. most: rad. Throws InvalidArgument unless it is above 0 and at most that: "fwhm = 10
/// rad (572.958 deg): must be above 0 and at most pi rad (180 deg)".
double checked_width(const std::string& name, double radians, double most = std::numbers::pi);

}  // namespace zonal
