#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace zonal::bench {

/// Calls work(rank) in a thread for each rank. Ends the program where one throws: the others would wait for
/// it.
template <class Work>
void in_rank_threads(std::size_t n_ranks, const Work& work) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < n_ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                work(rank);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "rank %zu: %s\n", rank, error.what());
                std::_Exit(1);
            }
        });
    for (auto& thread : threads) thread.join();
}

}  // namespace zonal::bench
