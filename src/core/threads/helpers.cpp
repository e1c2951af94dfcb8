#include "core/threads/helpers.hpp"

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "zonal/error.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zonal::core {

namespace {

inline void pause_briefly() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/// How long a thread looks for a change before it sleeps: waking takes 5 us on an idle machine and 200 us on
/// a virtual one, and the stages of a call follow each other in less. After the first looks it gives way to
/// others between two of them.
constexpr std::chrono::microseconds time_before_sleep(200);
constexpr int looks_before_yield = 200;

/// The CPUs that a thread may use.
struct Cpus {
#ifdef __linux__
    bool known = false;
    cpu_set_t set{};
#endif

    static Cpus of_this_thread() {
        Cpus cpus;
#ifdef __linux__
        cpus.known = sched_getaffinity(0, sizeof cpus.set, &cpus.set) == 0;
#endif
        return cpus;
    }
};

/// How many helpers nobody uses, and how many sleep.
struct Counts {
    std::atomic<int> unused{0}, asleep{0};
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
Counts counts;

}  // namespace

void start_thread(const std::function<void()>& run) {
    sigset_t all, before;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF})
        sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    try {
        std::thread(run).detach();
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// What all helpers of a loop do.
struct HelpersAtWork::Loop {
    const std::function<void(int)>& work;
    Cpus cpus;  ///< those of the caller
};

/// One thread, which lives as long as the process: at its end it sleeps, or is past what it was asked for.
/// While it looks for work, all that a caller writes and that it reads lies in one line of the cache.
class alignas(64) Helper {
  public:
    Helper() {
        start_thread([this] { run(); });
    }

    void offer(const HelpersAtWork::Loop& loop, int thread) {
        loop_ = &loop;
        thread_ = thread;
        become(offered);
    }
    /// Takes the work back, or waits for its end.
    void finish() {
        State expected = offered;
        if (state_.compare_exchange_strong(expected, idle)) return;
        wait_while(running);
    }

  private:
    enum State { idle, offered, running };

    void run() {
        while (true) {
            wait_while(idle);
            State expected = offered;
            if (!state_.compare_exchange_strong(expected, running)) continue;  // it was taken back
            use_cpus(loop_->cpus);
            loop_->work(thread_);
            become(idle);
        }
    }
    void become(State state) {
        state_ = state;
        // Who counts itself as waiting after this looks at the state after that.
        if (n_waiting_ == 0) return;
        { const std::lock_guard lock(mutex_); }
        changed_.notify_all();
    }
    void wait_while(State state) {
        for (int look = 0; look < looks_before_yield; ++look) {
            if (state_ != state) return;
            pause_briefly();
        }
        const auto end = std::chrono::steady_clock::now() + time_before_sleep;
        while (std::chrono::steady_clock::now() < end) {
            if (state_ != state) return;
            std::this_thread::yield();
        }
        const bool is_helper = state == idle;
        if (is_helper) ++counts.asleep;
        {
            std::unique_lock lock(mutex_);
            ++n_waiting_;
            changed_.wait(lock, [&] { return state_ != state; });
            --n_waiting_;
        }
        if (is_helper) --counts.asleep;
    }
    /// A thread has the CPUs of the one that started it, which may have been another than this caller.
    void use_cpus(const Cpus& cpus) {
#ifdef __linux__
        if (!cpus.known || std::memcmp(&cpus.set, &used_cpus_.set, sizeof cpus.set) == 0) return;
        if (sched_setaffinity(0, sizeof cpus.set, &cpus.set) == 0) used_cpus_ = cpus;
#endif
    }

    std::atomic<State> state_{idle};
    std::atomic<int> n_waiting_{0};  ///< for changed_: the helper, or the caller
    const HelpersAtWork::Loop* loop_ = nullptr;
    int thread_ = 0;
    alignas(64) std::mutex mutex_;
    std::condition_variable changed_;
    Cpus used_cpus_;
};

namespace {

/// The helpers that nobody uses. They are never destroyed, as their threads may outlive static objects.
class Pool {
  public:
    static Pool& get() {
        // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
        static Pool* const pool = [] {
            pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); }, forget_in_child);
            return new Pool;
        }();
        return *pool;
    }

    /// Adds the helpers that there are, up to n in all.
    void take(std::size_t n, std::vector<Helper*>& helpers) {
        const std::lock_guard lock(mutex_);
        for (; helpers.size() < n && !idle_.empty(); idle_.pop_back()) helpers.push_back(idle_.back());
        counts.unused = static_cast<int>(idle_.size());
    }
    void put_back(const std::vector<Helper*>& helpers) {
        const std::lock_guard lock(mutex_);
        // The last to be taken are the first to be used again: their CPUs' caches know them.
        idle_.insert(idle_.end(), helpers.rbegin(), helpers.rend());
        counts.unused = static_cast<int>(idle_.size());
    }

  private:
    /// The threads exist in the parent only.
    static void forget_in_child() {
        Pool& pool = get();
        new (&pool.idle_) std::vector<Helper*>;
        counts.unused = counts.asleep = 0;
        pool.mutex_.unlock();
    }

    std::mutex mutex_;
    std::vector<Helper*> idle_;
};

}  // namespace

int helpers_awake() {
    return std::max(0, counts.unused - counts.asleep);
}

HelpersAtWork::HelpersAtWork(int n_helpers, const std::function<void(int)>& work)
    : loop_(new Loop{work, Cpus::of_this_thread()}) {
    const auto n = static_cast<std::size_t>(n_helpers);
    helpers_.reserve(n);
    try {
        Pool::get().take(n, helpers_);
        while (helpers_.size() < n) helpers_.push_back(new Helper);
    } catch (const std::system_error& error) {
        Pool::get().put_back(helpers_);
        throw Error(fmt::format(
            "threads = {}: the system starts no more than {} ({}): ask for fewer threads, or raise "
            "what limits their number or memory (ulimit -u and -v, the limits of a container)",
            n_helpers + 1, helpers_.size() + 1, error.code().message()));
    }
    for (std::size_t i = 0; i < n; ++i) helpers_[i]->offer(*loop_, static_cast<int>(i) + 1);
}

HelpersAtWork::~HelpersAtWork() {
    for (Helper* const helper : helpers_) helper->finish();
    Pool::get().put_back(helpers_);
}

}  // namespace zonal::core
