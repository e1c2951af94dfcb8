
#include <algorithm>
#include <string>

#include "core/cuda_host.hpp"

#include "core/cuda.cuh"
#include "zonal/device.hpp"
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
    const CurrentDevice current(device_of("memory", device));
    check_cuda(cudaMemcpy(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice), "copying");
    check_cuda(cudaStreamSynchronize(cudaStreamLegacy),
               "copying");  // from pageable memory it may still be on its way
}
void copy_from_cuda(void* host, const void* device, std::int64_t bytes) {
    const CurrentDevice current(device_of("memory", device));
    check_cuda(cudaMemcpy(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost), "copying");
}
void clear_on_cuda(void* memory, std::int64_t bytes) {
    const CurrentDevice current(device_of("memory", memory));
    check_cuda(cudaMemset(memory, 0, static_cast<std::size_t>(bytes)), "clearing memory");
    check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "clearing memory");  // the call above does not wait
}

std::int64_t free_on_cuda(int device) {
    const CurrentDevice current(device);
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "asking for the free memory");
    return static_cast<std::int64_t>(free);
}
void require_on_cuda(const char* name, const void* memory, int device) {
    const CurrentDevice current(device);
    require_place(name, memory, MemorySpace::cuda, device, 1);
}

std::shared_ptr<void> make_cuda_stream(int device) {
    const CurrentDevice current(device);
    const auto stream = std::make_shared<const OwnStream>();
    return {stream, stream->get()};
}
void copy_on_cuda(void* to, const void* from, std::int64_t bytes, void* stream) {
    check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                               static_cast<cudaStream_t>(stream)),
               "copying");
}
void wait_for_cuda(int device, void* stream) {
    const CurrentDevice current(device);
    check_cuda(
        cudaStreamSynchronize(stream == nullptr ? cudaStreamLegacy : static_cast<cudaStream_t>(stream)),
        "waiting for a stream");
}

namespace {

/// Why the runtime finds the driver too old: it may also be missing.
std::string why_no_driver() {
    const auto text = [](int version) {
        return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    };
    int version = 0;
    cudaDriverGetVersion(&version);
    if (version == 0) return "this machine has no driver for NVIDIA GPUs";
    return "the driver is for CUDA " + text(version) + ", and this build of Zonal needs one for CUDA " +
           text(CUDART_VERSION) + ": update the driver";
}

}  // namespace

CudaDevices cuda_devices() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return {count, ""};
    cudaGetLastError();
    if (status == cudaErrorInsufficientDriver) return {0, why_no_driver()};
    return {0, status == cudaSuccess ? "no CUDA device is there" : cudaGetErrorString(status)};
}

std::string why_not_usable(int device) {
    constexpr int architectures[] = {__CUDA_ARCH_LIST__};
    const int oldest = *std::min_element(std::begin(architectures), std::end(architectures));
    int major = 0, minor = 0;
    check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
               "asking for a device's architecture");
    check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
               "asking for a device's architecture");
    const auto text = [](int number) {
        return std::to_string(number / 10) + "." + std::to_string(number % 10);
    };
    if (10 * major + minor >= oldest / 10) return "";
    return "has compute capability " + text(10 * major + minor) + ", and this build of Zonal has code for " +
           text(oldest / 10) + " and later";
}

namespace {

cudaPointerAttributes look_up(const void* data) {
    cudaPointerAttributes found{};
    check_cuda(cudaPointerGetAttributes(&found, data), "looking up a pointer");
    return found;
}

}  // namespace

int device_of(const char* name, const void* data) {
    const auto found = look_up(data);
    if (found.type == cudaMemoryTypeDevice) return found.device;
    if (found.type != cudaMemoryTypeManaged) throw InvalidArgument(name, "is not in device memory");
    int device = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    return device;
}

void require_place(const char* name, const void* data, MemorySpace space, int device, std::size_t alignment) {
    const auto found = look_up(data);
    const bool is_device = found.type == cudaMemoryTypeDevice;
    if (space != MemorySpace::cuda) {
        if (is_device) throw InvalidArgument(name, "is in device memory, but said to be in the host's");
        return;
    }
    const bool usable = found.type == cudaMemoryTypeManaged || (is_device && found.device == device);
    if (!usable)
        throw InvalidArgument(std::string(name) + ": is not in device memory of " +
                              to_string(Device::cuda(device)));
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        throw InvalidArgument(name,
                              std::string("must be aligned to ") + std::to_string(alignment) + " bytes");
}

}  // namespace zonal::core
