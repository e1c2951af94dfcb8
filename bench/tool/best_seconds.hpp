#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "shell/timing.hpp"

namespace zonal::cli {

/// Seconds of the fastest of `repeat` runs, after some that warm up. A run repeats work that the clock would
/// not resolve. is_best: is called after a run that was faster than all before.
inline double best_seconds(
    std::int64_t repeat, const std::function<void()>& work, const std::function<void()>& is_best = [] {}) {
    work();
    const double once = seconds_of(work);
    const auto inner =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(1e-3 / std::max(once, 1e-9)), 1, 10000);
    double best = HUGE_VAL;
    for (std::int64_t run = 0; run < repeat; ++run) {
        const double seconds = seconds_of([&] {
                                   for (std::int64_t i = 0; i < inner; ++i) work();
                               }) /
                               static_cast<double>(inner);
        if (seconds >= best) continue;
        best = seconds;
        is_best();
    }
    return best;
}

}  // namespace zonal::cli
