#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "zonal/error.hpp"
#include "zonal/progress.hpp"

namespace zonal::sht {

/// Progress of a part of the work that takes the whole from `begin` to `end`; empty if `whole` is empty.
inline Progress part_of(const Progress& whole, double begin, double end) {
    if (!whole) return {};
    return [&whole, begin, end](double done) { return whole(begin + (end - begin) * done); };
}

/// Progress of several threads' work, which thread 0, the caller's own, reports; if the callback cancels, all
/// threads stop.
class SharedProgress {
  public:
    /// task: what Cancelled names.
    SharedProgress(const Progress& progress, double total, std::string task)
        : progress_(progress), total_(std::max(total, 1.)), task_(std::move(task)) {
        report(0);
    }
    /// So much more is done. Throws Cancelled.
    void advance(double work, int thread) {
        const double done = done_.fetch_add(work) + work;
        if (thread == 0) report(done);
        throw_if_cancelled();
    }
    void finish() { report(total_); }

  private:
    void report(double done) {
        if (progress_ && !progress_(std::min(1.0, done / total_))) is_cancelled_ = true;
        throw_if_cancelled();
    }
    void throw_if_cancelled() const {
        if (is_cancelled_) throw Cancelled(task_ + ": cancelled");
    }

    const Progress& progress_;
    const double total_;
    const std::string task_;
    std::atomic<double> done_{0};
    std::atomic<bool> is_cancelled_{false};
};

}  // namespace zonal::sht
