#include "core/threads/helpers.hpp"

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>

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

/// One thread, which lives as long as the process: at its end it sleeps, or is past what it was asked for.
class Helper {
  public:
    Helper() {
        start_thread([this] { run(); });
    }

    /// cpus: those of the caller.
    void offer(const std::function<void(int)>& work, int thread, const Cpus& cpus) {
        work_ = &work;
        thread_ = thread;
        cpus_ = cpus;
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
            use_cpus();
            (*work_)(thread_);
            become(idle);
        }
    }
    void become(State state) {
        {
            const std::lock_guard lock(mutex_);
            state_ = state;
        }
        changed_.notify_one();
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
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return state_ != state; });
    }
    /// A thread has the CPUs of the one that started it, which may have been another than this caller.
    void use_cpus() {
#ifdef __linux__
        if (!cpus_.known || std::memcmp(&cpus_.set, &used_cpus_.set, sizeof cpus_.set) == 0) return;
        if (sched_setaffinity(0, sizeof cpus_.set, &cpus_.set) == 0) used_cpus_ = cpus_;
#endif
    }

    std::mutex mutex_;  ///< of those who wait
    std::condition_variable changed_;
    std::atomic<State> state_{idle};
    const std::function<void(int)>* work_ = nullptr;
    int thread_ = 0;
    Cpus cpus_, used_cpus_;
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

    Helper* take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                Helper* const helper = idle_.back();
                idle_.pop_back();
                return helper;
            }
        }
        return new Helper;
    }
    void put_back(const std::vector<Helper*>& helpers) {
        const std::lock_guard lock(mutex_);
        // The last to be taken are the first to be used again: their CPUs' caches know them.
        idle_.insert(idle_.end(), helpers.rbegin(), helpers.rend());
    }

  private:
    /// The threads exist in the parent only.
    static void forget_in_child() {
        Pool& pool = get();
        new (&pool.idle_) std::vector<Helper*>;
        pool.mutex_.unlock();
    }

    std::mutex mutex_;
    std::vector<Helper*> idle_;
};

}  // namespace

HelpersAtWork::HelpersAtWork(int n_helpers, const std::function<void(int)>& work) {
    helpers_.reserve(static_cast<std::size_t>(n_helpers));
    try {
        while (static_cast<int>(helpers_.size()) < n_helpers) helpers_.push_back(Pool::get().take());
    } catch (const std::system_error& error) {
        Pool::get().put_back(helpers_);
        throw Error(fmt::format(
            "threads = {}: the system starts no more than {} ({}): ask for fewer threads, or raise "
            "what limits their number or memory (ulimit -u and -v, the limits of a container)",
            n_helpers + 1, helpers_.size() + 1, error.code().message()));
    }
    const Cpus cpus = Cpus::of_this_thread();
    for (std::size_t i = 0; i < helpers_.size(); ++i) helpers_[i]->offer(work, static_cast<int>(i) + 1, cpus);
}

HelpersAtWork::~HelpersAtWork() {
    for (Helper* const helper : helpers_) helper->finish();
    Pool::get().put_back(helpers_);
}

}  // namespace zonal::core
