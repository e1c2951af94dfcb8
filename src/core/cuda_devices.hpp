#pragma once

#include <string>

namespace zonal::core {

/// The CUDA devices that this process can use; without any, why.
struct CudaDevices {
    int count = 0;
    std::string reason;
};
CudaDevices cuda_devices();

}  // namespace zonal::core
