#pragma once

#include <numbers>

namespace zonal::core {

inline constexpr double pi = std::numbers::pi;

}  // namespace zonal::core
