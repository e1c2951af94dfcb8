#include "core/cuda_devices.hpp"

namespace zonal::core {

CudaDevices cuda_devices() {
    return {0, "this build of Zonal has no CUDA code"};
}

}  // namespace zonal::core
