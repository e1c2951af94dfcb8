#pragma once

#include <thread>

#include "shell/session.hpp"

namespace zonal::cli {

/// From now on SIGINT, SIGTERM and SIGHUP only leave a mark that is_interrupted() reads; a signal that was
/// ignored stays so. A file that grows beyond the system's limit (SIGXFSZ) becomes a failed write instead of
/// death, so that the temporary file is removed.
void catch_signals();

/// A signal has asked the program to stop.
bool is_interrupted();

/// Throws Cancelled once a signal has asked the program to stop.
void stop_if_interrupted();

/// While it lives, a signal ends the program within a fifth of a second, wherever the work is: work that
/// looks for signals has a moment to stop by itself, all other work is left as it stands. No part of an
/// output file stays behind.
class InterruptWatch {
  public:
    explicit InterruptWatch(Session& session);

  private:
    std::jthread thread_;
};

}  // namespace zonal::cli
