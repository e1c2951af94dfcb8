#pragma once

#include <cstdint>
#include <string>

/// Memory for zonal::Buffer. Without CUDA code all but the releases throw BackendUnavailable.
namespace zonal::core {

/// The CUDA devices that this process can use; without any, why.
struct CudaDevices {
    int count = 0;
    std::string reason;
};
CudaDevices cuda_devices();

/// Returns why a device below that count cannot be used: it may be older than all that this build has code
/// for. Empty if it can.
std::string why_not_usable(int device);

void* allocate_on_cuda(int device, std::int64_t bytes);
void* allocate_page_locked(int device, std::int64_t bytes);
void release_on_cuda(void* memory) noexcept;
void release_page_locked(void* memory) noexcept;

/// Between the host and memory of a device, on its default stream; all is there when they return.
void copy_to_cuda(void* device, const void* host, std::int64_t bytes);
void copy_from_cuda(void* host, const void* device, std::int64_t bytes);

/// Makes memory of a device 0, and returns when it is.
void clear_on_cuda(void* memory, std::int64_t bytes);

}  // namespace zonal::core
