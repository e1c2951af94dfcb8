#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "core/cuda.cuh"
#include "core/mma_fp64.cuh"

/// Times on the device, and what the device can do.
namespace zonal::bench {

inline double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

/// Of one call, between events around `calls` of them: the median of rounds, after two that do not count.
inline double stream_seconds(cudaStream_t stream, int calls, int rounds, const std::function<void()>& call) {
    std::vector<double> seconds;
    for (int round = -2; round < rounds; ++round) {
        core::EventList events;
        events.record(stream);
        for (int k = 0; k < calls; ++k) call();
        events.record(stream);
        core::check_cuda(cudaStreamSynchronize(stream), "waiting");
        if (round >= 0) seconds.push_back(events.seconds(0) / calls);
    }
    return median(seconds);
}

/// The same of a graph of `calls` calls.
inline double graph_seconds(cudaStream_t stream, int calls, int rounds, const std::function<void()>& call) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    core::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capturing");
    for (int k = 0; k < calls; ++k) call();
    core::check_cuda(cudaStreamEndCapture(stream, &graph), "capturing");
    core::check_cuda(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
    const double seconds = stream_seconds(stream, 1, rounds, [&] {
        core::check_cuda(cudaGraphLaunch(executable, stream), "launching a graph");
    });
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return seconds / calls;
}

inline double wall_seconds(int rounds, const std::function<void()>& call) {
    const auto now = [] { return std::chrono::steady_clock::now(); };
    std::vector<double> seconds;
    for (int round = -2; round < rounds; ++round) {
        const auto start = now();
        call();
        if (round >= 0) seconds.push_back(std::chrono::duration<double>(now() - start).count());
    }
    return median(seconds);
}

/// Double-precision fused multiply-adds, 8 independent chains a thread.
__global__ void fma_kernel(double* out, int steps) {
    double x[8];
    for (int k = 0; k < 8; ++k) x[k] = threadIdx.x + k;
    for (int step = 0; step < steps; ++step)
#pragma unroll
        for (int k = 0; k < 8; ++k) x[k] = fma(x[k], 0.999999, 1e-9);
    double sum = 0;
    for (double value : x) sum += value;
    out[static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

/// Products of 16 x 16 and 16 x 8, 4 independent sums a warp.
__global__ void tensor_kernel(double* out, int steps) {
    double a[8], b[4], c[4][4] = {};
    for (int k = 0; k < 8; ++k) a[k] = 1e-3 * (threadIdx.x + k);
    for (int k = 0; k < 4; ++k) b[k] = 1e-3 * (threadIdx.x + 3 * k);
    for (int step = 0; step < steps; ++step)
#pragma unroll
        for (int k = 0; k < 4; ++k) core::multiply_add_16x8x16(c[k], a, b);
    double sum = 0;
    for (int k = 0; k < 4; ++k)
        for (double value : c[k]) sum += value;
    out[static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

/// FLOP/s of fused multiply-adds in double precision.
inline double fma_peak(cudaStream_t stream) {
    constexpr int blocks = 132 * 16, threads = 256, steps = 2048;
    const core::DeviceArray<double> out(blocks * threads);
    const double seconds = stream_seconds(stream, 1, 5, [&] {
        fma_kernel<<<blocks, threads, 0, stream>>>(out.data(), steps);
        core::check_launch("peak");
    });
    return 2.0 * 8 * steps * blocks * threads / seconds;
}

struct Peaks {
    double fma, tensor;  ///< FLOP/s
};

inline Peaks measure_peaks(cudaStream_t stream) {
    constexpr int blocks = 132 * 16, threads = 256, steps = 2048;
    const core::DeviceArray<double> out(blocks * threads);
    const double tensor_seconds = stream_seconds(stream, 1, 5, [&] {
        tensor_kernel<<<blocks, threads, 0, stream>>>(out.data(), steps);
        core::check_launch("peak");
    });
    const double warps = blocks * threads / 32;
    return {fma_peak(stream), 2.0 * 16 * 8 * 16 * 4 * steps * warps / tensor_seconds};
}

}  // namespace zonal::bench
