#pragma once

#include <string>

#include "options/json_field.hpp"
#include "shell/session.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {

/// Where the costs of this machine with so many threads are kept in the cache folder: a name for each
/// fingerprint.
std::string cost_model_path(const std::string& folder, int threads);

/// JSON; appears complete or not at all, replacing an older one. Throws IoError.
void write_cost_model(const std::string& path, const CostModel& model);

/// path: of a cost model, which may be of another machine; throws IoError where it cannot be read. Empty:
/// what `zonal calibrate` left for this machine; the default, with a note, where there is nothing or what is
/// there cannot be read or is of another machine. A CUDA device that is here and was not measured is a note.
CostModel read_cost_model(const std::string& path, int threads, Session& session);

/// "cpu" or "cuda:0". Throws IoError for what is neither.
Device device_named(const JsonField& field);

bool has_costs(const CostModel& model, Device device);

/// A cost model as JSON.
Json to_json(const CostModel& model);

}  // namespace zonal::cli
