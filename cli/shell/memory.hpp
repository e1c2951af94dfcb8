#pragma once

#include <string>

namespace zonal::cli {

/// Throws IoError "WHAT needs 12 GB of memory, 8 GB are there" where the machine has less: without this, a
/// wrong --nside would end in the system's killing of the program.
void require_memory(double bytes, const std::string& what);

}  // namespace zonal::cli
