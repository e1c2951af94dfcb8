#include "core/simd_targets.hpp"

#include <hwy/highway.h>

#include "zonal/device.hpp"

namespace zonal {

std::string simd_target() {
    const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    return hwy::TargetName(targets & -targets);  // the lowest set bit is the best target
}

}  // namespace zonal
