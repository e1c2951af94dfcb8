#pragma once

#include <functional>

namespace zonal {

/// While one lives, work that its thread asks Zonal for can be stopped at any moment, also between the
/// reports of a Progress: work on the CPU that takes long calls `wants_to_stop` from that thread, about every
/// 50 ms. Once that returns true, the work throws Cancelled. A Python binding looks for Ctrl-C in this way.
///
/// It belongs to the thread that makes it, and is destroyed there. One that is made while another lives takes
/// its place until it is destroyed. Nothing of it reaches other threads.
class InterruptionCheck {
  public:
    /// wants_to_stop must not throw and must not call Zonal.
    explicit InterruptionCheck(std::function<bool()> wants_to_stop);
    ~InterruptionCheck();
    InterruptionCheck(const InterruptionCheck&) = delete;
    InterruptionCheck& operator=(const InterruptionCheck&) = delete;

  private:
    std::function<bool()> wants_to_stop_;
    const std::function<bool()>* previous_;
};

}  // namespace zonal
