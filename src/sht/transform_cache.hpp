#pragma once

#include <utility>

#include "core/aligned.hpp"
#include "zonal/sht.hpp"

namespace zonal::sht {

/// Calls work(workspace) with scratch memory that is kept for the next call, unless this one fails.
template <class Work>
void with_kept_workspace(const ShtPlan& plan, const Work& work) {
    ShtWorkspace workspace = take_workspace(plan);
    work(workspace);
    leave_workspace(plan, std::move(workspace));
}

/// Memory of at least this many doubles, of little more where a call before has left it, and new otherwise.
/// The system has its pages cleared at the first touch, which may take as long as what it is used for.
core::Scratch take_scratch(std::int64_t doubles);
/// Leaves it to a later call, as leave_workspace does.
void leave_scratch(core::Scratch memory) noexcept;

}  // namespace zonal::sht
