#include "core/interruption.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "zonal/error.hpp"
#include "zonal/interruption.hpp"

namespace zonal {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
// A caller's own thread is the only thing that all of its calls have in common: with an argument, every
// function between the binding and a parallel loop would have to hand it on.
thread_local const std::function<bool()>* check_of_thread = nullptr;

// Within it, the question was asked already. It outlives a call, as transforms have many short loops.
thread_local std::chrono::steady_clock::time_point next_question{};

// Says whether the innermost parallel loop that this thread runs a task of is over.
thread_local const std::atomic<bool>* loop_of_thread = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

constexpr std::chrono::milliseconds interval(50);

}  // namespace

InterruptionCheck::InterruptionCheck(std::function<bool()> wants_to_stop)
    : wants_to_stop_(std::move(wants_to_stop)), previous_(std::exchange(check_of_thread, &wants_to_stop_)) {
    next_question = std::chrono::steady_clock::now() + interval;
}

InterruptionCheck::~InterruptionCheck() {
    check_of_thread = previous_;
}

namespace core {

InterruptionPoll::InterruptionPoll() : wants_to_stop_(check_of_thread), loop_is_over_(loop_of_thread) {}

void InterruptionPoll::throw_loop_is_over() {
    throw Cancelled("interrupted");  // parallel_for knows why, and throws that
}

void InterruptionPoll::ask_when_due() const {
    ask_when_due(std::chrono::steady_clock::now());
}

void InterruptionPoll::ask_when_due(std::chrono::steady_clock::time_point now) const {
    if (now < next_question) return;
    next_question = now + interval;
    if ((*wants_to_stop_)()) throw Cancelled("interrupted");
}

void TaskPoll::look() {
    constexpr int longest_step = 16;
    constexpr std::chrono::microseconds soon(500);
    const auto now = std::chrono::steady_clock::now();
    step_ = now - last_look_ < soon ? std::min(2 * step_, longest_step) : 1;
    last_look_ = now;
    poll_.ask_when_due(now);
}

PolledLoop::PolledLoop(const std::atomic<bool>& is_over)
    : previous_(std::exchange(loop_of_thread, &is_over)) {}

PolledLoop::~PolledLoop() {
    loop_of_thread = previous_;
}

}  // namespace core
}  // namespace zonal
