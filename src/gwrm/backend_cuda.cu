#include <algorithm>

#include "core/cuda_transfer.cuh"
#include "gwrm/backend.hpp"
#include "gwrm/linear/inverses.hpp"

namespace zonal::gwrm {
namespace {

constexpr int task_threads = 256;
constexpr int segment_threads = 512, segment_warps = segment_threads / 32;
/// Longer segments are worked through by several blocks.
constexpr std::int64_t elements_per_block = 1 << 14, most_chunks = 64;
/// Numbers that go to the host through page-locked memory.
constexpr std::int64_t staged_numbers = 1 << 10;

unsigned n_blocks(std::int64_t count, std::int64_t per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
}

template <class Each>
__global__ void __launch_bounds__(task_threads) for_each_element(const __grid_constant__ Each task) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * task_threads + threadIdx.x;
    if (i >= task.n_outer * task.n_inner) return;
    if (task.n_outer == 1)
        task(0, i);
    else
        task(i / task.n_inner, i % task.n_inner);
}

template <class Operation>
__device__ double combined_in_warp(double number) {
    for (int distance = 16; distance > 0; distance /= 2)
        number = Operation::combine(number, __shfl_xor_sync(~0u, number, distance));
    return number;
}

/// A warp for each segment.
template <class Each>
__global__ void __launch_bounds__(segment_threads) reduce_by_warps(const __grid_constant__ Each reduction) {
    const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * segment_warps + threadIdx.x / 32;
    if (s >= reduction.n_segments) return;
    const auto segment = reduction.segment(s);
    using Operation = typename Each::Operation;
    double number = 0;
    for (std::int64_t i = threadIdx.x % 32; i < segment.length; i += 32)
        number = Operation::combine(number, segment.value(i));
    number = combined_in_warp<Operation>(number);
    if (threadIdx.x % 32 == 0) reduction.store(s, number);
}

/// Blocks x for segments, y for their chunks. parts: [segment, chunk]; null: there is one chunk.
template <class Each>
__global__ void __launch_bounds__(segment_threads)
    reduce_by_blocks(const __grid_constant__ Each reduction, double* parts) {
    using Operation = typename Each::Operation;
    __shared__ double of_warps[segment_warps];
    const std::int64_t s = blockIdx.x, n_chunks = gridDim.y;
    const auto segment = reduction.segment(s);
    const std::int64_t length = (segment.length + n_chunks - 1) / n_chunks;
    const std::int64_t first = blockIdx.y * length;
    const std::int64_t last = first + length < segment.length ? first + length : segment.length;
    double number = 0;
    for (std::int64_t i = first + threadIdx.x; i < last; i += segment_threads)
        number = Operation::combine(number, segment.value(i));
    number = combined_in_warp<Operation>(number);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = number;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < segment_warps; ++warp) number = Operation::combine(number, of_warps[warp]);
    if (parts == nullptr)
        reduction.store(s, number);
    else
        parts[s * n_chunks + blockIdx.y] = number;
}

template <class Each>
__global__ void __launch_bounds__(32)
    combine_parts(const __grid_constant__ Each reduction, const double* parts, int n_chunks) {
    using Operation = typename Each::Operation;
    const std::int64_t s = blockIdx.x;
    double number = 0;
    for (int chunk = threadIdx.x; chunk < n_chunks; chunk += 32)
        number = Operation::combine(number, parts[s * n_chunks + chunk]);
    number = combined_in_warp<Operation>(number);
    if (threadIdx.x == 0) reduction.store(s, number);
}

class CudaBackend final : public Backend {
  public:
    /// device: the current one
    CudaBackend(Device device, int threads)
        : Backend(device, threads), staging_(staged_numbers * static_cast<std::int64_t>(sizeof(double))) {}
    ~CudaBackend() override { cudaStreamSynchronize(stream_.get()); }

    void* stream() const override { return stream_.get(); }

    void run(const Task& task) override {
        const core::CurrentDevice current(device().index());
        std::visit([&](const auto& each) { launch(each); }, task);
    }
    void reduce(const Reduction& reduction) override {
        const core::CurrentDevice current(device().index());
        std::visit([&](const auto& each) { launch_reduction(each); }, reduction);
    }
    std::unique_ptr<Inverse> dense_inverse(const VectorPlaces& place, const double* columns) override {
        const core::CurrentDevice current(device().index());
        return cuda::make_dense_inverse(*this, place, columns);
    }
    std::unique_ptr<Inverse> frozen_inverse(const Shape& shape, const TimeBasis& basis, double half_width,
                                            const double* constant, const double* integrated) override {
        const core::CurrentDevice current(device().index());
        return cuda::make_frozen_inverse(*this, shape, basis, half_width, constant, integrated);
    }

  private:
    template <class Each>
    void launch(const Each& task) {
        const auto count = task.n_outer * task.n_inner;
        if (count == 0) return;
        for_each_element<<<n_blocks(count, task_threads), task_threads, 0, stream_.get()>>>(task);
        core::check_launch("arithmetic of coefficients");
    }

    template <class Each>
    void launch_reduction(const Each& reduction) {
        if (reduction.n_segments == 0) return;
        const auto n_chunks = std::clamp<std::int64_t>(
            (reduction.n + elements_per_block - 1) / elements_per_block, 1, most_chunks);
        if (n_chunks > 1) parts_.reserve(reduction.n_segments * n_chunks);
        double* const parts = n_chunks > 1 ? parts_.data() : nullptr;
        const dim3 grid(static_cast<unsigned>(reduction.n_segments), static_cast<unsigned>(n_chunks));
        reduce_by_blocks<<<grid, segment_threads, 0, stream_.get()>>>(reduction, parts);
        core::check_launch("sums of coefficients");
        if (n_chunks == 1) return;
        combine_parts<<<grid.x, 32, 0, stream_.get()>>>(reduction, parts, static_cast<int>(n_chunks));
        core::check_launch("sums of coefficients");
    }
    void launch_reduction(const BoundaryRows& rows) {
        if (rows.n_segments == 0) return;
        reduce_by_warps<<<n_blocks(rows.n_segments, segment_warps), segment_threads, 0, stream_.get()>>>(
            rows);
        core::check_launch("boundary rows");
    }

    void upload_bytes_now(const void* host, std::int64_t bytes, void* to) override {
        const core::CurrentDevice current(device().index());
        core::check_cuda(
            cudaMemcpyAsync(to, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream_.get()),
            "copying to the device");
        core::check_cuda(cudaStreamSynchronize(stream_.get()), "copying to the device");
    }
    void download_now(const double* from, std::int64_t n, double* host) override {
        const core::CurrentDevice current(device().index());
        const bool is_staged = n <= staged_numbers;
        auto* const staging = reinterpret_cast<double*>(staging_.data());
        core::check_cuda(
            cudaMemcpyAsync(is_staged ? staging : host, from, static_cast<std::size_t>(n) * sizeof(double),
                            cudaMemcpyDeviceToHost, stream_.get()),
            "copying to the host");
        core::check_cuda(cudaStreamSynchronize(stream_.get()), "solving");
        if (is_staged) std::copy_n(staging, n, host);
    }

    core::OwnStream stream_;
    core::PageLockedArray staging_;
    core::DeviceArray<double> parts_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(Device device, int threads) {
    const core::CurrentDevice current(device.index());
    return std::make_unique<CudaBackend>(device, threads);
}

}  // namespace zonal::gwrm
