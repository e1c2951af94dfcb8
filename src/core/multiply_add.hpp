#pragma once

#include <cmath>

#include "core/host_device.hpp"

namespace zonal::core {

/// a b + c: fused on the device, where it costs half; not on the host, whose baseline has no such
/// instruction.
template <class T>
ZONAL_HOST_DEVICE inline T multiply_add(T a, T b, T c) {
#ifdef __CUDA_ARCH__
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

}  // namespace zonal::core
