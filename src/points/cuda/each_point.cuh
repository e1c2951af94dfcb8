#pragma once

#include <algorithm>
#include <cstdint>

#include "core/cuda.cuh"

/// Work that every point of many has by itself.
namespace zonal::points::cuda {

inline constexpr int threads_of_points = 256;
/// Enough to fill any device, and each with a sum of its own, so that sums do not depend on the device.
inline constexpr unsigned most_blocks_of_points = 4096;

inline unsigned blocks_for(std::int64_t n) {
    return static_cast<unsigned>(
        std::clamp<std::int64_t>((n + threads_of_points - 1) / threads_of_points, 1, most_blocks_of_points));
}

/// work(i) for i < n.
template <class Work>
__global__ void __launch_bounds__(threads_of_points) each_kernel(std::int64_t n, Work work) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads_of_points;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_points + threadIdx.x; i < n;
         i += step)
        work(i);
}

/// The same on the current device, and waits. what: for errors.
template <class Work>
void for_each(const char* what, std::int64_t n, const Work& work) {
    if (n == 0) return;
    each_kernel<<<blocks_for(n), threads_of_points>>>(n, work);
    core::check_launch(what);
    core::check_cuda(cudaStreamSynchronize(cudaStreamLegacy), what);
}

}  // namespace zonal::points::cuda
