#pragma once

#include <string>

#include "zonal/gwrm.hpp"

namespace zonal::cli {

/// t, the axes and the fields in columns, at equally spaced points. Replaces what is at `path` only where
/// overwrite says so. Throws IoError.
void write_solution(const std::string& path, const gwrm::Solution& solution, bool overwrite);

/// Fields against t; with space, the first field against x at several times, or at t1 for several parameters.
void plot_solution(const std::string& path, const gwrm::Solution& solution, const std::string& title);

}  // namespace zonal::cli
