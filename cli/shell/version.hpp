#pragma once

#include <string>

#include "shell/session.hpp"

namespace zonal::cli {

/// "0.2.0"
std::string version();

/// Zonal's version, those of the libraries it runs with, and what of the machine decides its speed.
Json version_report();

}  // namespace zonal::cli
