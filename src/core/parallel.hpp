#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace zonal::core {

/// More threads than any machine has CPUs.
inline constexpr int max_threads = 4096;

/// Number of threads that a request stands for: 0 means all CPUs that this process may use.
/// Throws InvalidArgument unless it is from 0 to max_threads.
int resolve_threads(int requested);

/// How many of n_threads pay for a loop that would take one thread this long, at least 1. With n threads it
/// takes t / n + n w, where w is what the caller spends on each: 2 us for a helper that sleeps, 0.15 us for
/// one that is awake. That is least at n = sqrt(t / w). Each shall have 30 us to do, or 3 us if it is awake.
/// Loops that follow each other soon, as those of repeated transforms of small maps, wake one more each.
/// Results do not depend on it.
int paying_threads(int n_threads, double microseconds);
/// The same for a number of helpers that are awake.
int paying_threads(int n_threads, double microseconds, int awake);

/// The numbers of the CPUs that this process may use, ascending.
std::vector<int> usable_cpus();
/// The name that this machine has in its network.
std::string machine_name();

/// Calls body(task, thread) for every task in [0, n_tasks), on n_threads threads of which the caller is one
/// (thread 0). Tasks are handed out one by one in ascending order, so put the longest first. Returns when all
/// are done; rethrows the first exception that a body threw, after the others have stopped. The caller asks
/// its InterruptionCheck after each of its tasks, and throws Cancelled. Tasks that take longer than a tenth
/// of a second should have an InterruptionPoll of their own.
void parallel_for(std::int64_t n_tasks, int n_threads,
                  const std::function<void(std::int64_t task, int thread)>& body);

/// Calls body(first, last) for pieces that together are [0, n), by parallel_for on as many threads as
/// `threads` stands for: for loops over pixels that are bound by memory, which then can be interrupted too.
template <class Body>
void for_pieces(std::int64_t n, int threads, const Body& body) {
    constexpr std::int64_t piece = 1 << 18;
    parallel_for((n + piece - 1) / piece, resolve_threads(threads),
                 [&](std::int64_t task, int) { body(task * piece, std::min(n, (task + 1) * piece)); });
}

}  // namespace zonal::core
