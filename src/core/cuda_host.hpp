#pragma once

#include <cstdint>
#include <memory>
#include <string>

/// What code without CUDA does with devices and their memory. Without CUDA code all but the releases throw
/// BackendUnavailable.
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

/// The bytes of a device's memory that are free now.
std::int64_t free_on_cuda(int device);
/// Throws InvalidArgument, naming the array, unless it lies in this device's memory.
void require_on_cuda(const char* name, const void* memory, int device);

/// A stream of a device, a cudaStream_t, that does not wait for the default one.
std::shared_ptr<void> make_cuda_stream(int device);
/// Copies from a place of a device's memory to another, in the order of the stream.
void copy_on_cuda(void* to, const void* from, std::int64_t bytes, void* stream);
/// Waits for what the stream, or the device's default stream where it is null, has been given so far.
void wait_for_cuda(int device, void* stream);

}  // namespace zonal::core
