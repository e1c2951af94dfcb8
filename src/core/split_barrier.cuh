#pragma once

#include <cstdint>

namespace zonal::core {

/// A barrier in shared memory where arriving and waiting are apart: work goes on between them while others
/// are still on their way. Each takes turns 0, 1, ... in order: nobody arrives for turn k + 1 before it has
/// waited for turn k. Compute capability 8.0 or higher.
class SplitBarrier {
  public:
    /// By one thread, before all of the block meet.
    __device__ void begin(int arrivals) {
#if __CUDA_ARCH__ >= 800
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
#endif
    }
    __device__ void arrive() {
#if __CUDA_ARCH__ >= 800
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address())
                     : "memory");
#endif
    }
    /// Until all have arrived for this turn.
    __device__ void wait(int turn) {
#if __CUDA_ARCH__ >= 900
        int there = 0;
        while (there == 0)
            asm volatile(
                "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                : "=r"(there)
                : "r"(address()), "r"(turn % 2)
                : "memory");
#elif __CUDA_ARCH__ >= 800
        int there = 0;
        while (there == 0)
            asm volatile(
                "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                : "=r"(there)
                : "r"(address()), "r"(turn % 2)
                : "memory");
#endif
    }

  private:
    __device__ std::uint32_t address() {
        return static_cast<std::uint32_t>(__cvta_generic_to_shared(&memory_));
    }
    std::uint64_t memory_;
};

}  // namespace zonal::core
