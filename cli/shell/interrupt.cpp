#include "shell/interrupt.hpp"

#include <csignal>

#include "zonal/error.hpp"

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

}  // namespace zonal::cli
