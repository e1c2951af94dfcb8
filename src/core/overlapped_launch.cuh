#pragma once

#include "core/cuda.cuh"

/// Launches whose preparations run beside the end of the work before them.
namespace zonal::core {

/// In a kernel launched by launch_overlapped: lets the next such one begin, once every block has come here.
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// In such a kernel: all earlier work of the stream is done, and what it wrote is there. Before this call the
/// kernel reads only what no work of the stream writes, and writes no global memory.
__device__ __forceinline__ void wait_for_earlier_work() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Puts a kernel on a stream that calls wait_for_earlier_work() in each of its threads; `name` is for errors.
/// Devices before sm_90 begin it when all before it is done.
template <class Argument, class... More>
void launch_overlapped(const char* name, void (*kernel)(Argument, More...), dim3 grid, int threads,
                       std::int64_t shared_bytes, cudaStream_t stream, const Argument& argument,
                       const More&... more) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = device_limits().architecture >= 9 ? 1 : 0;
    check_cuda(cudaLaunchKernelEx(&config, kernel, argument, more...), name);
}

}  // namespace zonal::core
