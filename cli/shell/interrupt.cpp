#include "shell/interrupt.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>

#include "shell/error.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

// A signal handler can reach nothing but a static object.
volatile std::sig_atomic_t stop_requested = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void request_stop(int) {
    stop_requested = 1;
}

void catch_signal(int number) {
    struct sigaction previous = {};
    sigaction(number, nullptr, &previous);
    if (previous.sa_handler == SIG_IGN) return;  // as nohup and background jobs want it
    struct sigaction action = {};
    action.sa_handler = request_stop;
    // Without SA_RESTART a blocked read of a pipe would end; with it, file IO sees no half-done calls.
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
}

/// Ends the program after a signal, unless the work ends first.
void watch(const std::stop_token& work_is_done, Session& session) {
    // How soon a signal is seen, and how long work that sees it by itself has for ending.
    constexpr std::chrono::milliseconds step(20), grace(120);
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    const auto is_done_within = [&](std::chrono::milliseconds time) {
        return wake.wait_for(lock, work_is_done, time, [&] { return work_is_done.stop_requested(); });
    };
    while (!is_interrupted())
        if (is_done_within(step)) return;
    if (is_done_within(grace)) return;
    // What has its name is no interrupted run's.
    if (io::AtomicFile::name_no_more() && is_done_within(grace)) return;
    // mpirun then sends SIGTERM to the other ranks, of which the first one speaks.
    if (!session.speaks()) end_all_ranks(interrupted);
    session.fail_at_once("interrupted", interrupted);
}

}  // namespace

void catch_signals() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) catch_signal(number);
    std::signal(SIGXFSZ, SIG_IGN);
}

bool is_interrupted() {
    return stop_requested != 0;
}

void stop_if_interrupted() {
    if (is_interrupted()) throw Cancelled("interrupted");
}

InterruptWatch::InterruptWatch(Session& session) {
    try {
        thread_ = std::jthread([&session](const std::stop_token& done) { watch(done, session); });
    } catch (const std::system_error&) {
        // Where no thread can be started, signals are seen by what looks for them.
    }
}

}  // namespace zonal::cli
