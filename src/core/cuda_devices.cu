#include "core/cuda_devices.hpp"

#include "core/cuda.cuh"

namespace zonal::core {

CudaDevices cuda_devices() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return {count, ""};
    cudaGetLastError();
    return {0, status == cudaSuccess ? "no CUDA device is there" : cudaGetErrorString(status)};
}

}  // namespace zonal::core
