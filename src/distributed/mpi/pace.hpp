#pragma once

#include <chrono>
#include <thread>

namespace zonal::distributed {

/// Pauses between looks at messages that are under way. There are none while data move, for some ways of
/// carrying them need a look for every 32 KiB: a look that moves nothing takes about a microsecond, one that
/// copies such a piece several. Later the CPU is left to others; the system adds some 50 us to a pause.
class Pace {
    using Clock = std::chrono::steady_clock;

  public:
    /// eager: how long it goes on without pauses after data have moved.
    Pace(Clock::duration eager, Clock::duration pause) : eager_(eager), pause_(pause) {}

    template <class Look>
    void look(const Look& look) {
        const auto start = Clock::now();
        look();
        const auto end = Clock::now();
        if (end - start > std::chrono::microseconds(5)) last_move_ = end;
    }
    void pause() const {
        if (Clock::now() - last_move_ < eager_)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(pause_);
    }

  private:
    Clock::duration eager_, pause_;
    Clock::time_point last_move_ = Clock::now();
};

}  // namespace zonal::distributed
