#include "core/parallel.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/interruption.hpp"
#include "core/threads/control_groups.hpp"
#include "core/threads/helpers.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"

namespace zonal {

int available_cpus() {
    // Threads beyond the quota would run for a part of each period and then all wait for the rest of it. It
    // is read once: files take longer than small transforms.
    static const double quota = core::cpu_quota().value_or(1e9);
    int cpus = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) cpus = std::max(1, CPU_COUNT(&set));
#endif
    return static_cast<int>(std::min(std::ceil(quota), static_cast<double>(cpus)));
}

}  // namespace zonal

namespace zonal::core {

std::vector<int> usable_cpus() {
    std::vector<int> cpus;
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
#endif
    if (cpus.empty())
        for (int cpu = 0; cpu < available_cpus(); ++cpu) cpus.push_back(cpu);
    return cpus;
}

std::string machine_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

int resolve_threads(int requested) {
    if (requested < 0 || requested > max_threads)
        throw InvalidArgument("threads", requested,
                              fmt::format("must be from 0 (all CPUs) to {}", max_threads));
    return requested == 0 ? available_cpus() : requested;
}

int paying_threads(int n_threads, double microseconds, int awake) {
    const auto best = [&](double least_share, double wake) {
        return std::min(microseconds / least_share, std::sqrt(microseconds / wake));
    };
    const double at_once = awake + 2;  // the caller, those awake and one more
    const double pay = std::max(best(30, 2), std::min(at_once, best(3, 0.15)));
    return static_cast<int>(std::clamp<double>(pay, 1, std::max(n_threads, 1)));
}

int paying_threads(int n_threads, double microseconds) {
    return paying_threads(n_threads, microseconds, helpers_awake());
}

void parallel_for(std::int64_t n_tasks, int n_threads, const std::function<void(std::int64_t, int)>& body) {
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> is_over{false};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto stop = [&] {
        next = n_tasks;  // nobody starts another task
        is_over = true;
    };
    auto work = [&](int thread) {
        try {
            TaskPoll poll;  // of what this loop is a part of
            const PolledLoop loop(is_over);
            for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) {
                body(task, thread);
                poll();
            }
        } catch (...) {
            std::lock_guard lock(failure_mutex);
            if (!failure) failure = std::current_exception();
            stop();
        }
    };
    const auto n_used = static_cast<int>(std::min<std::int64_t>(n_threads, n_tasks));
    if (n_used <= 1) {
        work(0);
    } else {
        const std::function<void(int)> share = work;
        const HelpersAtWork helpers(n_used - 1, share);
        work(0);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace zonal::core
