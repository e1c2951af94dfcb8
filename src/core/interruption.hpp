#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace zonal::core {

/// Asks whether work is to stop, for loops that take long: between the tasks of parallel_for, and in tasks
/// that may take longer than a tenth of a second. Made and used in one thread.
class InterruptionPoll {
  public:
    InterruptionPoll();
    /// Throws Cancelled if the InterruptionCheck of this thread says so, which is asked at most every 50 ms
    /// because people notice a tenth of a second and the question may take a lock; or if this is a task of a
    /// parallel_for that is over, as another one has failed. Costs a look at the clock where there is a
    /// check, else next to nothing.
    void operator()() const {
        stop_with_loop();
        if (wants_to_stop_ != nullptr) ask_when_due();
    }

  private:
    friend class TaskPoll;
    void stop_with_loop() const {
        if (loop_is_over_ != nullptr && loop_is_over_->load(std::memory_order_relaxed)) throw_loop_is_over();
    }
    [[noreturn]] static void throw_loop_is_over();
    void ask_when_due() const;
    void ask_when_due(std::chrono::steady_clock::time_point now) const;

    const std::function<bool()>* wants_to_stop_;
    const std::atomic<bool>* loop_is_over_;
};

/// An InterruptionPoll for what is called too often to look at the clock each time, such as comparisons of a
/// sort: it looks at each 65536th call, which a few milliseconds lie between.
class RarePoll {
  public:
    void operator()() {
        if ((++calls_ & 0xffff) == 0) poll_();
    }

  private:
    InterruptionPoll poll_;
    std::uint32_t calls_ = 0;
};

/// An InterruptionPoll between the tasks of a loop, which in transforms of small maps take less than ten
/// looks at the clock: it looks after each task, and while these are short after each second, fourth, up to
/// 16th.
class TaskPoll {
  public:
    void operator()() {
        poll_.stop_with_loop();
        if (--left_ > 0) return;
        if (poll_.wants_to_stop_ != nullptr) look();
        left_ = step_;
    }

  private:
    void look();

    const InterruptionPoll poll_;
    int step_ = 1, left_ = 1;
    std::chrono::steady_clock::time_point last_look_{};
};

/// While it lives, polls that are made in this thread stop once the flag is set.
class PolledLoop {
  public:
    explicit PolledLoop(const std::atomic<bool>& is_over);
    ~PolledLoop();
    PolledLoop(const PolledLoop&) = delete;
    PolledLoop& operator=(const PolledLoop&) = delete;

  private:
    const std::atomic<bool>* previous_;
};

}  // namespace zonal::core
