#include "core/cuda.cuh"

#include <string>

#include "zonal/error.hpp"

namespace zonal::core {

void check_cuda(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a failed call must not fail the next one
    throw DeviceError(std::string("CUDA, ") + what + ": " + cudaGetErrorString(status));
}

void check_cufft(cufftResult status, const char* what) {
    if (status == CUFFT_SUCCESS) return;
    if (status == CUFFT_ALLOC_FAILED)
        throw OutOfDeviceMemory(std::string("cuFFT, ") + what + ": out of memory");
    throw DeviceError(std::string("cuFFT, ") + what + ": error " + std::to_string(static_cast<int>(status)));
}

CurrentDevice::CurrentDevice(int index) {
    check_cuda(cudaGetDevice(&before_), "asking for the current device");
    if (index == before_) return;
    check_cuda(cudaSetDevice(index), "choosing a device");
    changed_ = true;
}

CurrentDevice::~CurrentDevice() {
    if (changed_) cudaSetDevice(before_);
}

namespace {

DeviceLimits limits_of(int device) {
    const auto attribute = [&](cudaDeviceAttr which) {
        int value = 0;
        check_cuda(cudaDeviceGetAttribute(&value, which, device), "asking for a device's limits");
        return value;
    };
    return {attribute(cudaDevAttrMultiProcessorCount), attribute(cudaDevAttrComputeCapabilityMajor),
            attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}

std::vector<DeviceLimits> limits_of_all() {
    int count = 0;
    check_cuda(cudaGetDeviceCount(&count), "counting devices");
    std::vector<DeviceLimits> limits;
    for (int device = 0; device < count; ++device) limits.push_back(limits_of(device));
    return limits;
}

}  // namespace

const DeviceLimits& device_limits() {
    static const std::vector<DeviceLimits> all = limits_of_all();
    int device = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    return all[static_cast<std::size_t>(device)];
}

namespace {

/// Throws unless the memory was there.
void check_allocation(cudaError_t status, std::int64_t bytes) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    if (status != cudaErrorMemoryAllocation) check_cuda(status, "allocating memory");
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw OutOfDeviceMemory("CUDA: out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                            std::to_string(free) + " of " + std::to_string(total) + " free");
}

}  // namespace

void* allocate_device(std::int64_t bytes) {
    void* memory = nullptr;
    check_allocation(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), bytes);
    return memory;
}

void* allocate_in_stream(std::int64_t bytes, cudaStream_t stream) {
    void* memory = nullptr;
    check_allocation(cudaMallocAsync(&memory, static_cast<std::size_t>(bytes), stream), bytes);
    return memory;
}

}  // namespace zonal::core
