#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "core/stopwatch.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"
#include "zonal/progress.hpp"

/// How calibrate() measures.
namespace zonal::calibration {

using Clock = std::chrono::steady_clock;

/// Repeats short work, whose first run warms up, until it has taken 15 ms or run ten times. Work of more than
/// 0.1 s runs once.
inline void run(const std::function<void()>& work) {
    constexpr double enough = 0.015, long_run = 0.1;  // s
    double all = 0;
    for (int run = 0; run < 10 && (all < enough || (run < 2 && all < long_run)); ++run)
        all += core::seconds_of(work);
}

/// Maps without structure that matters, and room for what becomes of them. All cases begin at their start, as
/// to make maps for each would take longer than to convolve them.
template <class T>
struct SharedMaps {
    SharedMaps() = default;
    SharedMaps(std::int64_t n_values) : maps(n_values), convolved(n_values) {
        std::vector<T> period(1009);
        for (std::size_t i = 0; i < period.size(); ++i) period[i] = std::sin(static_cast<T>(i));
        for (std::size_t i = 0; i < maps.size(); ++i) maps[i] = period[i % period.size()];
    }
    std::vector<T> maps, convolved;
};

/// What all measurements share.
class Shared {
  public:
    Shared(int threads, std::int64_t n_values, std::int64_t n_steps, const Progress& progress,
           const MemoryCheck& check_memory)
        : threads(threads), n_steps_(n_steps), progress_(progress) {
        constexpr double of_plans = 165e6;  // of all cases, and their scratch memory, as they were measured
        check_memory(of_plans + 2 * static_cast<double>(n_values) * (sizeof(double) + sizeof(float)),
                     "a calibration");
        maps = {n_values, n_values};
    }

    /// Throws Cancelled.
    void step() {
        ++n_done_;
        if (progress_ && !progress_(static_cast<double>(n_done_) / static_cast<double>(n_steps_)))
            throw Cancelled("calibration: cancelled");
    }
    /// Returns when the next n_more steps must be done. What earlier steps left of their time counts for
    /// them.
    Clock::time_point latest(std::int64_t n_more) const {
        constexpr std::chrono::milliseconds enough(16000);
        return start_ + enough * (n_done_ + n_more) / n_steps_;
    }

    const int threads;
    std::tuple<SharedMaps<double>, SharedMaps<float>> maps;

  private:
    const std::int64_t n_steps_;
    const Progress& progress_;
    const Clock::time_point start_ = Clock::now();
    std::int64_t n_done_ = 0;
};

}  // namespace zonal::calibration
