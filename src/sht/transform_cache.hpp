#pragma once

#include <memory>
#include <optional>

#include "zonal/sht.hpp"

namespace zonal::sht {

/// Returns the plan of an earlier call for the same rings and options, or a new one, which is kept if it is
/// the CPU's (set_cache_limit). Throws what ShtPlan throws.
std::shared_ptr<const ShtPlan> kept_plan(const Grid& grid, const ShtOptions& options);

/// Returns scratch memory that a call left for this kept plan, or new memory.
ShtWorkspace take_workspace(const std::shared_ptr<const ShtPlan>& plan);

/// Leaves scratch memory to the next call with this plan, unless it is large or the plan is not kept.
void leave_workspace(const std::shared_ptr<const ShtPlan>& plan, ShtWorkspace&& workspace);

}  // namespace zonal::sht
