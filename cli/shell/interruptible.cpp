#include "shell/interruptible.hpp"

#include <chrono>
#include <cstdlib>
#include <future>

#include "shell/error.hpp"
#include "shell/interrupt.hpp"

namespace zonal::cli {

void do_interruptible(Session& session, const std::function<void()>& work) {
    // How soon a signal is seen, and how long work that sees it by itself has for ending.
    constexpr std::chrono::milliseconds step(20), grace(300);
    auto done = std::async(std::launch::async, work);
    while (done.wait_for(step) != std::future_status::ready) {
        if (!is_interrupted()) continue;
        if (done.wait_for(grace) == std::future_status::ready) break;
        session.fail("interrupted", interrupted);
        std::_Exit(interrupted);  // nothing is unwound under the thread that works on
    }
    done.get();
}

}  // namespace zonal::cli
