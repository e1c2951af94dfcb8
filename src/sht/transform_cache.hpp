#pragma once

#include <utility>

#include "zonal/sht.hpp"

namespace zonal::sht {

/// Calls work(workspace) with scratch memory that is kept for the next call, unless this one fails.
template <class Work>
void with_kept_workspace(const ShtPlan& plan, const Work& work) {
    ShtWorkspace workspace = take_workspace(plan);
    work(workspace);
    leave_workspace(plan, std::move(workspace));
}

}  // namespace zonal::sht
