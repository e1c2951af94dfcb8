#pragma once

#include <vector>

#include "core/cuda.cuh"

/// Sums and counts over maps and alm that are the same in every run.
namespace zonal::sht::cuda {

/// The sum over a block of n threads, in its first thread.
template <int n>
__device__ double block_sum(double value) {
    static_assert(n % 32 == 0 && n <= 1024);
    __shared__ double warps[n / 32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    if (threadIdx.x == 0)
        for (int k = 0; k < n / 32; ++k) value += warps[k];
    return value;
}

/// Rows of partial sums, which are added in order on the host.
class PartialSums {
  public:
    PartialSums(std::int64_t length, std::int64_t n_rows)
        : length_(length), n_rows_(n_rows), memory_(length * n_rows) {}
    double* row(std::int64_t index) const { return memory_.data() + index * length_; }

    /// The sums of n groups of rows; waits for the stream.
    std::vector<double> sums(std::int64_t n, cudaStream_t stream) const {
        std::vector<double> host(memory_.size()), sums(n);
        core::check_cuda(
            cudaMemcpyAsync(host.data(), memory_.data(), memory_.bytes(), cudaMemcpyDeviceToHost, stream),
            "reading sums");
        core::check_cuda(cudaStreamSynchronize(stream), "reading sums");
        const std::int64_t rows = n > 0 ? n_rows_ / n : 0;
        for (std::int64_t k = 0; k < n; ++k)
            for (std::int64_t i = 0; i < rows * length_; ++i) sums[k] += host[k * rows * length_ + i];
        return sums;
    }

  private:
    std::int64_t length_, n_rows_;
    core::DeviceArray<double> memory_;
};

/// How many there are, and the first one; -1 where there is none.
struct Counter {
    unsigned long long number;
    unsigned long long first;

    __device__ void count(std::int64_t index) {
        atomicAdd(&number, 1ull);
        atomicMin(&first, static_cast<unsigned long long>(index));
    }
};
struct Count {
    std::int64_t number, first;
};

/// Some counters on the device.
class Counters {
  public:
    Counters(int device, std::int64_t n, cudaStream_t stream) : current_(device), memory_(n) {
        const std::vector<Counter> none(n, Counter{0, ~0ull});
        core::check_cuda(
            cudaMemcpyAsync(memory_.data(), none.data(), memory_.bytes(), cudaMemcpyHostToDevice, stream),
            "clearing counters");
    }
    Counter* at(std::int64_t k) const { return memory_.data() + k; }
    /// Waits for the stream.
    std::vector<Count> read(cudaStream_t stream) const {
        std::vector<Counter> host(memory_.size());
        core::check_cuda(
            cudaMemcpyAsync(host.data(), memory_.data(), memory_.bytes(), cudaMemcpyDeviceToHost, stream),
            "reading counters");
        core::check_cuda(cudaStreamSynchronize(stream), "reading counters");
        std::vector<Count> counts;
        for (const Counter& counter : host)
            counts.push_back({static_cast<std::int64_t>(counter.number),
                              counter.number == 0 ? -1 : static_cast<std::int64_t>(counter.first)});
        return counts;
    }

  private:
    core::CurrentDevice current_;
    core::DeviceArray<Counter> memory_;
};

}  // namespace zonal::sht::cuda
