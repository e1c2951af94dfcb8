#pragma once

#include <string>

#include "zonal/planning/saved_plan.hpp"

namespace zonal::io {

/// Writes the plan as JSON (docs/file-formats.md); the file appears complete or not at all. A link is
/// followed, so that it stays. Throws IoError, also when the file exists and overwrite is false.
void write_plan(const std::string& path, const SavedPlan& plan, bool overwrite = false);

/// Reads a plan. Throws IoError, which names the field, its value and what it must be, for what is not a plan
/// of this version. Whether the plan fits a request, and keeps its error, require_match says.
SavedPlan read_plan(const std::string& path);

}  // namespace zonal::io
