#pragma once

#include <string>
#include <vector>

#include "zonal/distributed/plan.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::io {

/// Reads costs that write_cost_model wrote, on this machine or another. Throws IoError, which names the
/// field, its value and what it must be, for anything else.
CostModel read_cost_model(const std::string& path);

/// Writes the costs as JSON (docs/guide/file-formats.md), replacing an older file; the new one appears
/// complete or not at all. Throws IoError.
void write_cost_model(const std::string& path, const CostModel& costs);

/// Returns what write_cost_model writes.
std::string to_json(const CostModel& costs);

/// Returns the path of the costs of this machine: each machine_fingerprint, which counts the threads (0:
/// all), has a file of its own in the cache folder. folder: cache_folder() for reading, make_cache_folder()
/// for writing.
std::string cost_cache_path(const std::string& folder, int threads);

/// Costs to plan by, and what a user should know about them.
struct FoundCosts {
    CostModel costs;
    std::vector<std::string> notes;  ///< a sentence each
};

/// Finds the costs to plan by. path: a file of costs, from which devices that are not here are left out;
/// throws IoError where it cannot be read or has none that are here. Empty: what was measured on this
/// machine, from the cache folder, or default_cost_model where that is missing, damaged or of another machine
/// or version. Notes say what was left out, replaced by a default, or not measured.
FoundCosts find_costs(const std::string& path, int threads);

/// Collective. Returns how fast the ranks are, relative to one another: each predicts by the costs that were
/// measured on its machine what an analysis and a synthesis of the whole grid up to lmax would take it, and
/// speeds are the inverses. threads: of this rank, for which costs were measured; 0 for all CPUs. device:
/// what it works on. Throws InvalidArgument on all ranks where one has no measured costs.
std::vector<double> measured_speeds(const Communicator& ranks, const Grid& grid, std::int64_t lmax,
                                    int threads, Device device);

}  // namespace zonal::io
