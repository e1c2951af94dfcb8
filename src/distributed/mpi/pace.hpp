#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace zonal::distributed {

/// Pauses between looks at messages that are under way. A look that moves nothing takes less than a
/// microsecond, a pause 3 to 13 us of a core, which virtual machines take more of, and some 60 us longer than
/// asked for. So pauses grow. There are none while data move, as MPI may need a look for every 32 KiB that it
/// copies.
class Pace {
    using Clock = std::chrono::steady_clock;
    using microseconds = std::chrono::microseconds;

  public:
    /// Short exchanges end before the first pause.
    static Pace for_waiting() { return Pace(std::chrono::milliseconds(2)); }
    static Pace for_thread() { return Pace(Clock::duration::zero()); }

    template <class Look>
    void look(const Look& look) {
        const auto start = Clock::now();
        look();
        const auto end = Clock::now();
        if (end - start < microseconds(5)) return;  // what 32 KiB take to be copied
        first_pause_ = std::max(first_pause_, end + microseconds(100));
        pause_ = shortest;
    }
    void pause() {
        if (Clock::now() < first_pause_) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(pause_);
            pause_ = std::min(2 * pause_, microseconds(200));
        }
    }

  private:
    /// eager: there is no pause before this.
    explicit Pace(Clock::duration eager) : first_pause_(Clock::now() + eager) {}

    static constexpr microseconds shortest{25};
    Clock::time_point first_pause_;
    microseconds pause_ = shortest;
};

}  // namespace zonal::distributed
