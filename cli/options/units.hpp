#pragma once

#include <string>

namespace zonal::cli {

/// "uK^2" for "uK", "(mK,thermodynamic)^2" for what is not one word; empty for empty.
std::string squared_unit(const std::string& unit);

/// "uK" for "uK^2", "uK**2", "uK2" or "(uK)^2"; empty where that cannot be told.
std::string square_root_unit(const std::string& unit);

}  // namespace zonal::cli
