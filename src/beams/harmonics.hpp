#pragma once

#include <cstdint>

namespace zonal::beams {

/// cosines, sines: [k][stride] = cos(k x), sin(k x) for k from 0 to kmax, of `count` finite angles. Those of
/// k = 1 are right to 3 units of the last place, and each step of the recurrence from them rounds by one.
void make_harmonics(const double* x, std::int64_t count, std::int64_t kmax, double* cosines, double* sines,
                    std::int64_t stride);

}  // namespace zonal::beams
