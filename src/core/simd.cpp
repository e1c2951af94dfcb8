#include "core/simd_targets.hpp"

#include <hwy/highway.h>

#include "zonal/device.hpp"

namespace zonal {

std::string simd_target() {
    std::int64_t targets = HWY_TARGETS;
    // Where there is but one, Highway is not asked: version 1.0.3 denies NEON to processors without AES.
    if ((targets & (targets - 1)) != 0) targets &= hwy::SupportedTargets();
    return hwy::TargetName(targets & -targets);  // the lowest set bit is the best target
}

}  // namespace zonal
