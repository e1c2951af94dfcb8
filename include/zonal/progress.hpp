#pragma once

#include <functional>

namespace zonal {

/// Called with the share of the work that is done, from 0 to 1, not decreasing, from the thread that called
/// Zonal. Return false to stop the work, which then throws Cancelled. An empty function means no reports.
using Progress = std::function<bool(double done)>;

}  // namespace zonal
