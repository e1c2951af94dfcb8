#pragma once

#include <map>
#include <string>
#include <vector>

#include "zonal/gwrm/library.hpp"

namespace zonal::gwrm {

using Values = std::map<std::string, double>;
using Modes = std::vector<std::int64_t>;

inline Function constant(double value) {
    return [value](const Point&) { return value; };
}

/// Adds the settings t0 and t1.
void add_times(std::vector<Setting>& settings, double t1);
/// Those with space.
std::vector<LibraryProblem> library_pdes();

}  // namespace zonal::gwrm
