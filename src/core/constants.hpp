#pragma once

#include <limits>
#include <numbers>

namespace zonal::core {

inline constexpr double pi = std::numbers::pi;
inline constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace zonal::core
