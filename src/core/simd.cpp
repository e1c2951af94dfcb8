#include "core/simd_targets.hpp"

#include <hwy/highway.h>

#include <fmt/core.h>

#include "zonal/device.hpp"
#include "zonal/error.hpp"

namespace zonal {

std::string simd_target() {
    std::int64_t targets = HWY_TARGETS;
    // Where there is but one, Highway is not asked: version 1.0.3 denies NEON to processors without AES.
    if ((targets & (targets - 1)) != 0) targets &= hwy::SupportedTargets();
    std::string name = hwy::TargetName(targets & -targets);  // the lowest set bit is the best target
#if defined(ZONAL_ONLY_TARGET) && HWY_ARCH_X86
    if ((targets & hwy::SupportedTargets()) == 0)
        throw BackendUnavailable(
            "device", "cpu",
            fmt::format(
                "this build of Zonal is for processors with {} alone, which this one lacks: build it on "
                "this machine, or with ZONAL_TARGETS=all",
                name));
#endif
    return name;
}

}  // namespace zonal
