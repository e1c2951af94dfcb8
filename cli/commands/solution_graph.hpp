#pragma once

#include <string>

#include "engine/picture.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::cli {

/// Fields against t; with space, the first field against x at several times, or at t1 for several parameters.
Graph solution_graph(const gwrm::Solution& solution, const std::string& title);

}  // namespace zonal::cli
