#pragma once

#include <functional>

namespace zonal::core {

/// Asks the InterruptionCheck of the thread that made it, if there is one, at most every 50 ms: people notice
/// a tenth of a second, and the question may take a lock.
class InterruptionPoll {
  public:
    InterruptionPoll();
    /// Throws Cancelled if the work is to stop. Costs nothing where there is no check, else a look at the
    /// clock.
    void operator()() const {
        if (wants_to_stop_ != nullptr) ask_when_due();
    }

  private:
    void ask_when_due() const;

    const std::function<bool()>* wants_to_stop_;
};

}  // namespace zonal::core
