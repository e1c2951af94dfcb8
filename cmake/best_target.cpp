// Prints Highway's name of the best instruction set that this machine has and that Zonal has kernels for.
#include "core/simd_targets.hpp"

#include <hwy/highway.h>

#include <cstdint>
#include <cstdio>

int main() {
    // The compiler's baseline is there in any case (Highway denies NEON to processors without AES).
    const std::int64_t targets = HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET);
    std::printf("HWY_%s", hwy::TargetName(targets & -targets));
}
