#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "zonal/error.hpp"
#include "zonal/interruption.hpp"

namespace zonal::core {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds task_time(2);

/// Counts the tasks that are begun.
void work_for_long(int threads, std::int64_t n_tasks, std::atomic<int>* begun = nullptr) {
    parallel_for(n_tasks, threads, [&](std::int64_t, int) {
        if (begun != nullptr) ++*begun;
        std::this_thread::sleep_for(task_time);
    });
}

TEST(ParallelInterruption, EndsLongWorkFromTheCallersThread) {
    for (const int threads : {1, 3}) {
        const auto caller = std::this_thread::get_id();
        int questions = 0;
        const InterruptionCheck check([&] {
            EXPECT_EQ(std::this_thread::get_id(), caller);
            return ++questions == 2;
        });
        std::atomic<int> begun{0};
        EXPECT_THROW(work_for_long(threads, 1'000'000, &begun), Cancelled);
        EXPECT_EQ(questions, 2) << "the first answer was to go on";
        // The second question is due after 0.1 s, when each thread has begun 50; other threads go on where
        // the caller's waits for a CPU.
        EXPECT_LT(begun, 5000 * threads);
    }
}

// Not after each of them, as a look at the clock takes as long as a task.
TEST(ParallelInterruption, EndsManyShortTasks) {
    const auto start = Clock::now();
    const InterruptionCheck check([] { return true; });
    std::int64_t done = 0;
    EXPECT_THROW(parallel_for(std::int64_t{1} << 60, 1, [&](std::int64_t, int) { ++done; }), Cancelled);
    EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(50)) << "when the first question is due";
    EXPECT_GT(done, 1000);
    // Tasks that are short at first and long then.
    const auto again = Clock::now();
    EXPECT_THROW(parallel_for(std::int64_t{1} << 60, 1,
                              [&](std::int64_t task, int) {
                                  if (task > 100) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                              }),
                 Cancelled);
    EXPECT_LT(Clock::now() - again, std::chrono::seconds(10)) << "16 of them are 80 ms on an idle machine";
}

TEST(ParallelInterruption, AsksAtMostEveryFiftyMilliseconds) {
    int questions = 0;
    const auto start = Clock::now();
    {
        const InterruptionCheck check([&] { return ++questions < 0; });
        for (int k = 0; k < 30; ++k) work_for_long(2, 10);  // short loops do not begin anew
    }
    EXPECT_GE(questions, 1);
    EXPECT_LE(questions, (Clock::now() - start) / std::chrono::milliseconds(50));
}

TEST(ParallelInterruption, EndsTasksOfOtherThreadsThatPoll) {
    const InterruptionCheck check([] { return true; });
    std::atomic<int> begun{0}, ended{0};
    EXPECT_THROW(parallel_for(3, 3,
                              [&](std::int64_t, int) {
                                  const InterruptionPoll poll;
                                  // Once one has ended, no other begins.
                                  for (++begun; begun < 3;) std::this_thread::yield();
                                  try {
                                      for (;;) poll();
                                  } catch (const Cancelled&) {
                                      ++ended;
                                      throw;
                                  }
                              }),
                 Cancelled);
    EXPECT_EQ(ended, 3);
}

TEST(ParallelInterruption, LeavesTheFirstFailureAsItIs) {
    std::atomic<bool> has_begun{false};
    try {
        parallel_for(2, 2, [&](std::int64_t task, int) {
            const InterruptionPoll poll;
            if (task == 0)
                for (;;) {
                    has_begun = true;
                    poll();
                }
            while (!has_begun) std::this_thread::yield();
            throw InvalidArgument("of task 1");
        });
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ(error.what(), "of task 1");
    }
    EXPECT_NO_THROW(work_for_long(1, 1)) << "the end of that loop is not that of others";
}

TEST(ParallelInterruption, IsOfItsOwnThreadAndEndsWithItsScope) {
    std::atomic<int> outer{0}, inner{0};
    const InterruptionCheck check([&] { return ++outer < 0; });
    {
        const InterruptionCheck innermost([&] { return ++inner < 0; });
        work_for_long(1, 50);
    }
    EXPECT_EQ(outer, 0) << "the inner check takes its place";
    EXPECT_GE(inner, 1);
    const int before = inner;
    std::thread([] { work_for_long(2, 50); }).join();
    EXPECT_EQ(outer, 0) << "another thread's work is not asked about";
    work_for_long(2, 100);
    EXPECT_GE(outer, 1);
    EXPECT_EQ(inner, before);
}

}  // namespace
}  // namespace zonal::core
