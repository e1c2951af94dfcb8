#pragma once

#include <numbers>

namespace zonal::cli {

/// In rad.
inline constexpr double degree = std::numbers::pi / 180, arcmin = degree / 60;
/// Of a radian.
inline constexpr double degrees = 180 / std::numbers::pi;

}  // namespace zonal::cli
