#pragma once

#include "radial/convolver.hpp"
#include "sht/cuda_batch.cuh"

namespace zonal::radial::cuda {

/// Device memory of one call of the pixel sum, and what fills it. A plan of one field takes none of a plan of
/// Q and U, nor the other way round.
template <int components>
struct PixelSumStorage : PixelConvolutionWorkspace::Storage {
    PixelSumStorage(int device, int threads) : device(device), transfer(device, threads) {}

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
    core::DeviceArray<char> folded;
    sht::cuda::BatchCopies maps, convolved;  ///< of host arrays
    sht::cuda::BatchStreams batches;
};

}  // namespace zonal::radial::cuda
