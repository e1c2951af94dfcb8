#pragma once

#include <string>

namespace zonal {

/// Throws OutOfMemory "WHAT needs 12 GB of memory, 8 GB are there" where this machine has less.
void require_host_memory(double bytes, const std::string& what);

}  // namespace zonal
