#pragma once

#include <chrono>

namespace zonal::core {

/// Measures wall time from its construction on.
class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// The wall time that some work takes.
template <class Work>
double seconds_of(const Work& work) {
    const Stopwatch watch;
    work();
    return watch.seconds();
}

}  // namespace zonal::core
