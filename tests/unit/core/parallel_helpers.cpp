#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/parallel.hpp"

// The threads that help in loops and sleep in between.
namespace zonal::core {
namespace {

/// Calls visit() once on each of n_threads threads, which wait for each other.
template <class Visit>
void on_all(int n_threads, const Visit& visit) {
    std::barrier all_are_here(n_threads);
    parallel_for(n_threads, n_threads, [&](std::int64_t, int) {
        visit();
        all_are_here.arrive_and_wait();
    });
}

TEST(ParallelHelpers, AreTheSameInEveryCall) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    const auto note = [&] {
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
    };
    for (int call = 0; call < 20; ++call) on_all(4, note);
    EXPECT_EQ(seen.size(), 4U);
}

TEST(ParallelHelpers, ServeCallersAtTheSameTime) {
    constexpr int n_callers = 5, n_calls = 200;
    std::vector<std::int64_t> sums(n_callers, 0);
    {
        std::vector<std::jthread> callers;
        for (int caller = 0; caller < n_callers; ++caller)
            callers.emplace_back([&sums, caller] {
                for (int call = 0; call < n_calls; ++call) {
                    std::vector<std::int64_t> parts(3, 0);
                    parallel_for(100, 3, [&](std::int64_t task, int thread) { parts[thread] += task; });
                    sums[caller] += parts[0] + parts[1] + parts[2];
                }
            });
    }
    for (const std::int64_t sum : sums) EXPECT_EQ(sum, n_calls * 4950);
}

TEST(ParallelHelpers, UseTheCpusOfTheCaller) {
    cpu_set_t before{};
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    on_all(3, [] {});
    cpu_set_t one{};
    CPU_SET(usable_cpus().front(), &one);
    const auto expect_on_all = [](const cpu_set_t& expected) {
        on_all(3, [&] {
            cpu_set_t here{};
            EXPECT_EQ(sched_getaffinity(0, sizeof here, &here), 0);
            EXPECT_TRUE(CPU_EQUAL(&here, &expected));
        });
    };
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    expect_on_all(one);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    expect_on_all(before);
}

// ThreadSanitizer ends a child that starts threads.
#ifndef __SANITIZE_THREAD__
TEST(ParallelHelpers, AreOthersAfterFork) {
    on_all(3, [] {});
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // ends a child that waits for threads of its parent
        on_all(3, [] {});
        _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    on_all(3, [] {});
}
#endif

}  // namespace
}  // namespace zonal::core
