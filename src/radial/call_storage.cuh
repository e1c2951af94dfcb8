#pragma once

#include <bit>

#include "radial/bands/latitude_bands.hpp"
#include "radial/convolver.hpp"
#include "sht/cuda_batch.cuh"
#include "sht/cuda_storage.cuh"

namespace zonal::radial::cuda {

/// The pixels of a grid's rings.
inline std::vector<sht::cuda::ElementRange> elements_of(const Grid& grid) {
    std::vector<sht::cuda::ElementRange> elements;
    for (const auto& range : ranges_of(grid)) elements.push_back({range.first, range.end});
    return elements;
}

inline std::uint64_t owner_of(int device) {
    return static_cast<std::uint64_t>(device);
}

/// What every sum over pixels on CUDA keeps between calls: its stream, and what brings host arrays.
struct CallStorage : PixelConvolutionWorkspace::Storage {
    CallStorage(int device, int threads)
        : Storage(owner_of(device)), device(device), transfer(device, threads) {}

    void use_stream(void* stream) override {
        caller = static_cast<cudaStream_t>(stream);
        has_caller = true;
    }
    cudaStream_t stream() const { return has_caller ? caller : own.get(); }

    /// work(b, count, maps, results, stream) for every map b, on the device, or for `count` of them, a power
    /// of 2 and at most at_once, where all arrays are there. Where they are on the host, the next map comes
    /// and the one before goes meanwhile. Has waited for all of it in the end unless a caller's stream works
    /// on device arrays. in_rings: the output's pixels in rings; others stay as they are.
    template <class T, class Work>
    void run(View<const T, 3> maps, View<T, 3> convolved,
             const std::vector<sht::cuda::ElementRange>& in_rings, const Progress& progress, const Work& work,
             std::int64_t at_once = 1) {
        core::require_place("maps", maps, device);
        core::require_place("convolved", convolved, device);
        const sht::cuda::Batch in(maps, map_copies);
        const sht::cuda::Batch out(convolved, convolved_copies);
        const std::int64_t n_maps = maps.extent(0);
        const auto report = [&](std::int64_t done) {
            if (progress && !progress(static_cast<double>(done) / static_cast<double>(n_maps)))
                throw Cancelled("convolution: cancelled");
        };
        const auto some = [&](std::int64_t b, std::int64_t count, cudaStream_t on) {
            report(b);
            work(b, count, Fields<const T>{in[b], in.component_stride(), maps.stride(0)},
                 Fields<T>{out[b], out.component_stride(), convolved.stride(0)}, on);
        };
        const auto one = [&](std::int64_t b, cudaStream_t on) { some(b, 1, on); };
        events.clear();
        seconds = {};
        if (in.is_copied() || out.is_copied()) {
            const auto fetch = [&](std::int64_t b, cudaStream_t on) { in.fetch(b, transfer, on); };
            batches.run(n_maps, stream(), fetch, one,
                        [&](std::int64_t b, cudaStream_t on) { out.deliver(b, in_rings, transfer, on); });
        } else {
            for (std::int64_t b = 0, count = 0; b < n_maps; b += count) {
                count = static_cast<std::int64_t>(
                    std::bit_floor(static_cast<std::uint64_t>(std::min(at_once, n_maps - b))));
                some(b, count, stream());
            }
            if (!has_caller) core::check_cuda(cudaStreamSynchronize(stream()), "convolution");
        }
        report(n_maps);
    }

    const int device;
    core::HostTransfer transfer;
    core::OwnStream own;
    cudaStream_t caller = nullptr;
    bool has_caller = false;
    core::EventList events;
    sht::cuda::BatchCopies map_copies, convolved_copies;  ///< of host arrays
    sht::cuda::BatchStreams batches;
};

}  // namespace zonal::radial::cuda
