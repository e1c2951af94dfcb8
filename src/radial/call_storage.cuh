#pragma once

#include "radial/convolver.hpp"
#include "sht/cuda_batch.cuh"

namespace zonal::radial::cuda {

/// What every sum over pixels on CUDA keeps between calls: its stream, and what brings host arrays.
struct CallStorage : PixelConvolutionWorkspace::Storage {
    CallStorage(int device, int threads) : device(device), transfer(device, threads) {}

    void use_stream(void* stream) override {
        caller = static_cast<cudaStream_t>(stream);
        has_caller = true;
    }
    cudaStream_t stream() const { return has_caller ? caller : own.get(); }

    const int device;
    core::HostTransfer transfer;
    core::OwnStream own;
    cudaStream_t caller = nullptr;
    bool has_caller = false;
    core::EventList events;
    sht::cuda::BatchCopies maps, convolved;  ///< of host arrays
    sht::cuda::BatchStreams batches;
};

}  // namespace zonal::radial::cuda
