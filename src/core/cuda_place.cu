#include "core/cuda_place.cuh"

#include <string>

#include "core/cuda.cuh"
#include "zonal/device.hpp"
#include "zonal/error.hpp"

namespace zonal::core {
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
    if (found.type != cudaMemoryTypeManaged)
        throw InvalidArgument(std::string(name) + ": is not in device memory");
    int device = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    return device;
}

void require_place(const char* name, const void* data, MemorySpace space, int device, std::size_t alignment) {
    const auto found = look_up(data);
    const bool is_device = found.type == cudaMemoryTypeDevice;
    if (space != MemorySpace::cuda) {
        if (is_device)
            throw InvalidArgument(std::string(name) + ": is in device memory, but said to be in the host's");
        return;
    }
    const bool usable = found.type == cudaMemoryTypeManaged || (is_device && found.device == device);
    if (!usable)
        throw InvalidArgument(std::string(name) + ": is not in device memory of " +
                              to_string(Device::cuda(device)));
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        throw InvalidArgument(std::string(name) + ": must be aligned to " + std::to_string(alignment) +
                              " bytes");
}

}  // namespace zonal::core
