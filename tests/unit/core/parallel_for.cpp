#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/parallel.hpp"
#include "core/threads/helpers.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"

namespace zonal::core {
namespace {

TEST(ParallelFor, CallsEveryTaskOnceOnPermittedThreads) {
    for (const int threads : {1, 2, 3, 7}) {
        constexpr std::int64_t n_tasks = 1000;
        std::vector<std::atomic<int>> calls(n_tasks);
        std::atomic<bool> thread_in_range{true};
        parallel_for(n_tasks, threads, [&](std::int64_t task, int thread) {
            ++calls[task];
            if (thread < 0 || thread >= threads) thread_in_range = false;
        });
        for (const auto& count : calls) ASSERT_EQ(count, 1);
        EXPECT_TRUE(thread_in_range);
    }
}

TEST(ParallelFor, WakesAsManyThreadsAsPay) {
    for (const int most : {1, 2, 16, 4096}) {
        EXPECT_EQ(paying_threads(most, 0, 0), 1);
        EXPECT_EQ(paying_threads(most, 5, 0), 1) << "two would have less than 3 us each";
        EXPECT_EQ(paying_threads(most, 59, 0), std::min(most, 2)) << "one is woken for the loops to come";
        EXPECT_EQ(paying_threads(most, 1e9, 0), most);
    }
    EXPECT_EQ(paying_threads(16, 61, 0), 2);
    EXPECT_EQ(paying_threads(16, 301, 0), 10) << "10 threads of 30 us";
    EXPECT_EQ(paying_threads(16, 451, 0), 15);
    EXPECT_EQ(paying_threads(16, 513, 0), 16);
    EXPECT_EQ(paying_threads(64, 1801, 0), 30) << "1801 / 30 + 30 * 2 us is the least";
    for (double before = 1, time = 1; time < 1e6; time *= 1.1) {
        const int threads = paying_threads(256, time, 0);
        EXPECT_GE(threads, before);
        before = threads;
    }
}

TEST(ParallelFor, GivesLittleToHelpersThatAreAwake) {
    EXPECT_EQ(paying_threads(16, 31, 3), 5) << "and wakes one more";
    EXPECT_EQ(paying_threads(16, 31, 15), 10) << "10 threads of 3 us";
    EXPECT_EQ(paying_threads(64, 241, 63), 40) << "241 / 40 + 40 * 0.15 us is the least";
    EXPECT_EQ(paying_threads(4, 1e3, 63), 4);
    EXPECT_EQ(paying_threads(64, 1801, 1), 30) << "as many as pay when they sleep";
}

TEST(ParallelFor, CountsHelpersAsAwakeUntilTheySleep) {
    constexpr int threads = 4;
    const auto wait_until = [](const auto& is_so) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!is_so() && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return is_so();
    };
    // On a busy machine, the first may sleep before the last has begun.
    bool are_awake = false;
    for (int loop = 0; loop < 10000 && !are_awake; ++loop) {
        std::atomic<int> begun{0};
        parallel_for(threads, threads, [&](std::int64_t, int) {
            ++begun;
            while (begun < threads) std::this_thread::yield();
        });
        are_awake = helpers_awake() >= threads - 1;
    }
    EXPECT_TRUE(are_awake);
    EXPECT_TRUE(wait_until([] { return helpers_awake() == 0; })) << helpers_awake();
}

/// What a thread writes to its own scratch needs no lock.
TEST(ParallelFor, NeverRunsTwoTasksOfOneThreadNumberAtOnce) {
    constexpr int threads = 4;
    std::vector<std::int64_t> sums(threads, 0);  // ThreadSanitizer would report a race
    parallel_for(2000, threads, [&](std::int64_t task, int thread) { sums[thread] += task; });
    std::int64_t total = 0;
    for (const std::int64_t sum : sums) total += sum;
    EXPECT_EQ(total, 2000 * 1999 / 2);
}

TEST(ParallelFor, HandsTasksOutInAscendingOrder) {
    std::vector<std::int64_t> order;
    parallel_for(50, 1, [&](std::int64_t task, int) { order.push_back(task); });
    for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(order[k], static_cast<std::int64_t>(k));
}

TEST(ParallelFor, TakesNoTasksAndMoreThreadsThanTasks) {
    int calls = 0;
    parallel_for(0, 4, [&](std::int64_t, int) { ++calls; });
    EXPECT_EQ(calls, 0);
    std::mutex mutex;
    std::set<std::int64_t> tasks;
    parallel_for(2, 16, [&](std::int64_t task, int) {
        const std::lock_guard lock(mutex);
        tasks.insert(task);
    });
    EXPECT_EQ(tasks, (std::set<std::int64_t>{0, 1}));
}

TEST(ParallelFor, RethrowsAfterAllThreadsHaveStopped) {
    for (const int threads : {1, 3}) {
        std::atomic<int> running{0}, calls{0};
        std::string message;
        try {
            parallel_for(100000, threads, [&](std::int64_t task, int) {
                ++running;
                ++calls;
                if (task == 17) {
                    --running;
                    throw std::runtime_error("task 17");
                }
                // All of them would take half a minute, so that the thread of task 17 comes first however
                // busy the machine is.
                if (task > 17) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                --running;
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        EXPECT_EQ(message, "task 17");
        EXPECT_EQ(running, 0);
        EXPECT_LT(calls, 100000) << "the other tasks were given up";
    }
}

TEST(ParallelFor, RunsInsideItself) {
    std::atomic<int> calls{0};
    parallel_for(4, 2, [&](std::int64_t, int) { parallel_for(5, 2, [&](std::int64_t, int) { ++calls; }); });
    EXPECT_EQ(calls, 20);
}

TEST(ParallelThreads, ZeroStandsForTheAvailableCpus) {
    EXPECT_GE(available_cpus(), 1);
    EXPECT_EQ(resolve_threads(0), available_cpus());
    EXPECT_EQ(resolve_threads(5), 5);
}

TEST(ParallelThreads, RejectsNegativeNumbers) {
    try {
        resolve_threads(-2);
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ(error.what(), "threads = -2: must be from 0 (all CPUs) to 4096");
    }
}

}  // namespace
}  // namespace zonal::core
