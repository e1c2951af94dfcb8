#pragma once

#include <string>

#include "session.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {

/// Where the costs of this machine with so many threads are kept: in the cache folder, a name for each
/// fingerprint.
std::string cost_model_path(int threads);

/// JSON; appears complete or not at all, replacing an older one. Throws IoError.
void write_cost_model(const std::string& path, const CostModel& model);

/// What `zonal calibrate` left for this machine; the default, with a note, where there is nothing or what is
/// there cannot be read or is of another machine.
CostModel read_cost_model(int threads, Session& session);

/// A cost model as JSON.
Json to_json(const CostModel& model);

}  // namespace zonal::cli
