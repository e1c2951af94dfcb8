#pragma once

#include <numbers>

/// Angles are in radians throughout the library. These functions convert them from and to the units that
/// people write.
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

}  // namespace zonal
