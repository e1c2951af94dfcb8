#pragma once

#include "core/simd_targets.hpp"

#include <hwy/highway.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "zonal/sht.hpp"

/// The instruction sets that are compiled in and that this machine has.
namespace zonal::test {

/// While it lives, kernels are dispatched to this target only.
class ForcedTarget {
  public:
    explicit ForcedTarget(std::int64_t target) { dispatch_to(target); }
    ~ForcedTarget() { dispatch_to(0); }
    ForcedTarget(const ForcedTarget&) = delete;
    ForcedTarget& operator=(const ForcedTarget&) = delete;

  private:
    static void dispatch_to(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        // Kept scratch memory holds roots in an order that depends on the vectors' length.
        clear_caches();
    }
};

struct Target {
    std::int64_t bit;
    std::string name;
};

inline void PrintTo(const Target& target, std::ostream* out) {
    *out << target.name;
}

inline std::vector<Target> targets() {
    std::vector<Target> result;
    // The compiler's baseline is there in any case (Highway denies NEON to processors without AES).
    const std::int64_t here = HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET);
    for (std::int64_t bits = here; bits != 0; bits &= bits - 1)
        result.push_back({bits & -bits, hwy::TargetName(bits & -bits)});
    return result;
}

}  // namespace zonal::test
