#pragma once

/// Marks functions that the CPU and the CUDA backends share (the *_math.hpp of each module).
#ifdef __CUDACC__
#define ZONAL_HOST_DEVICE __host__ __device__
#else
#define ZONAL_HOST_DEVICE
#endif
