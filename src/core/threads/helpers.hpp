#pragma once

#include <functional>
#include <memory>
#include <vector>

/// Threads that help with parallel loops and sleep in between.
namespace zonal::core {

/// Starts a thread that nobody waits for, to which no signals go: they are for the caller's threads. Throws
/// std::system_error if the system starts none.
void start_thread(const std::function<void()>& run);

class Helper;

/// About how many helpers have nothing to do and do not sleep yet, so that they would begin at once.
int helpers_awake();

/// While it lives, helpers run a loop's work beside the caller. Its destructor returns when none does any
/// more: a helper that has not begun by then does not begin.
class HelpersAtWork {
  public:
    /// Has work(1) to work(n_helpers) run by one helper each. Throws Error if the system starts no more
    /// threads, which is no reason to work with fewer in silence. work must not throw.
    HelpersAtWork(int n_helpers, const std::function<void(int thread)>& work);
    ~HelpersAtWork();
    HelpersAtWork(const HelpersAtWork&) = delete;
    HelpersAtWork& operator=(const HelpersAtWork&) = delete;

  private:
    friend class Helper;
    struct Loop;

    std::unique_ptr<const Loop> loop_;
    std::vector<Helper*> helpers_;
};

}  // namespace zonal::core
