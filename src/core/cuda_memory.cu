#include "core/cuda_memory.hpp"

#include "core/cuda.cuh"
#include "zonal/error.hpp"

namespace zonal::core {

void* allocate_on_cuda(int device, std::int64_t bytes) {
    const CurrentDevice current(device);
    return allocate_device(bytes);
}

void* allocate_page_locked(int device, std::int64_t bytes) {
    const CurrentDevice current(device);
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, static_cast<std::size_t>(bytes)), "allocating page-locked memory");
    return memory;
}

void release_on_cuda(void* memory) noexcept {
    cudaFree(memory);
}
void release_page_locked(void* memory) noexcept {
    cudaFreeHost(memory);
}

void copy_to_cuda(void* device, const void* host, std::int64_t bytes) {
    check_cuda(cudaMemcpy(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice), "copying");
    check_cuda(cudaStreamSynchronize(cudaStreamLegacy),
               "copying");  // from pageable memory it may still be on its way
}
void copy_from_cuda(void* host, const void* device, std::int64_t bytes) {
    check_cuda(cudaMemcpy(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost), "copying");
}

}  // namespace zonal::core
