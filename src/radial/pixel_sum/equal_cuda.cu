#include <algorithm>

#include "radial/pixel_sum/filters.hpp"
#include "radial/pixel_sum/pixel_sum_cuda.cuh"

namespace zonal::radial::cuda {
namespace {

/// Pixels beside each other in a lane's registers: odd, so that lanes read different banks.
constexpr int lane_pixels = 5;
constexpr int tile_pixels = 32 * lane_pixels;
/// Taps whose pixels are in registers at once.
constexpr int max_taps = 8;
/// Shared memory of a block; more rows than that come one after the other.
constexpr std::int64_t max_shared_bytes = 64 << 10;
/// Weights that all filters may take, in elements.
constexpr std::size_t max_weights = std::size_t{1} << 28;
/// A block has at most this many warps, so that each has the registers that the sums of Q and U take.
constexpr int most_warps = 8;

/// The parts of a kernel in the order of a filter's weights: even and odd, of Q and then of U.
constexpr KernelPart filter_parts[] = {KernelPart::qq, KernelPart::uq, KernelPart::uu, KernelPart::qu};

template <class T>
struct EqualView {
    const CudaBand* bands;
    const CudaRing* rows;
    const CudaFilterBlock* blocks;
    const CudaFilter* filters;
    const T* weights;
    const CudaTask* tasks;
    std::int64_t shared_elements;
};

template <class T>
struct alignas(4 * sizeof(T)) RingWeights {
    T weight[filter_rings];
};
static_assert(filter_rings == 4);

template <class T, int components>
using LaneSums = T[components][filter_rings][lane_pixels];

/// Taps 0 .. N-1 of component c: left and right are where tap 0 of the lane's first pixel is. odd: weights of
/// the other component's sums, where there is one.
template <int N, int c, class T, int components>
__device__ __forceinline__ void add_taps(const T* left, const T* right, const RingWeights<T>* weights,
                                         const RingWeights<T>* odd, LaneSums<T, components>& sums) {
    T before[N - 1 + lane_pixels], after[N - 1 + lane_pixels];
#pragma unroll
    for (int i = 0; i < N - 1 + lane_pixels; ++i) {
        before[i] = left[i - (N - 1)];
        after[i] = right[i];
    }
#pragma unroll
    for (int j = 0; j < N; ++j) {
        const RingWeights<T> weight = weights[j];
#pragma unroll
        for (int p = 0; p < lane_pixels; ++p) {
            const T both = before[N - 1 - j + p] + after[j + p];
#pragma unroll
            for (int r = 0; r < filter_rings; ++r) sums[c][r][p] = fma(weight.weight[r], both, sums[c][r][p]);
        }
        if constexpr (components == 2) {
            const RingWeights<T> odd_weight = odd[j];
#pragma unroll
            for (int p = 0; p < lane_pixels; ++p) {
                const T apart = before[N - 1 - j + p] - after[j + p];
#pragma unroll
                for (int r = 0; r < filter_rings; ++r)
                    sums[1 - c][r][p] = fma(odd_weight.weight[r], apart, sums[1 - c][r][p]);
            }
        }
    }
}

/// row: of component c.
template <int c, class T, int components>
__device__ void add_component(const CudaFilter& filter, const T* row, const T* all_weights,
                              LaneSums<T, components>& sums) {
    const T* left = row + filter.left;
    const T* right = row + filter.right;
    std::int64_t n = filter.n_taps;
    const auto* weights =
        reinterpret_cast<const RingWeights<T>*>(all_weights + filter.first_weight) + 2 * c * n;
    const auto* odd = weights + n;
    for (; n > max_taps;
         n -= max_taps, left -= max_taps, right += max_taps, weights += max_taps, odd += max_taps)
        add_taps<max_taps, c>(left, right, weights, odd, sums);
    switch (n) {
        case 1:
            return add_taps<1, c>(left, right, weights, odd, sums);
        case 2:
            return add_taps<2, c>(left, right, weights, odd, sums);
        case 3:
            return add_taps<3, c>(left, right, weights, odd, sums);
        case 4:
            return add_taps<4, c>(left, right, weights, odd, sums);
        case 5:
            return add_taps<5, c>(left, right, weights, odd, sums);
        case 6:
            return add_taps<6, c>(left, right, weights, odd, sums);
        case 7:
            return add_taps<7, c>(left, right, weights, odd, sums);
        default:
            return add_taps<8, c>(left, right, weights, odd, sums);
    }
}

/// rows[i] = pixels from, .. of an input ring times its weight, by one warp.
template <class T, class Map>
__device__ void load_row(const CudaRing& ring, std::int64_t from, std::int64_t count, const Map* in, T* row) {
    const std::int64_t n = ring.n_pixels, begin = modulo(from + ring.rotation, n);
    const T weight = static_cast<T>(ring.weight);
    for (std::int64_t i = threadIdx.x % 32; i < count; i += 32) {
        std::int64_t k = begin + i;
        while (k >= n) k -= n;
        row[i] = weight * static_cast<T>(in[ring.first_pixel + k]);
    }
}

/// The lanes' sums of one ring to the map, through a row of shared memory of the warp's own.
template <class T, class Map>
__device__ void store_ring(const CudaRing& ring, const T (&sums)[lane_pixels], std::int64_t from, T* row,
                           Map* out) {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int p = 0; p < lane_pixels; ++p) row[lane * lane_pixels + p] = sums[p];
    __syncwarp();
    for (int i = lane; i < tile_pixels && from + i < ring.n_pixels; i += 32) {
        const std::int64_t k = from + i + ring.rotation;
        out[ring.first_pixel + (k >= ring.n_pixels ? k - ring.n_pixels : k)] = static_cast<Map>(row[i]);
    }
}

// A block filters a tile of a band, each warp up to filter_rings output rings, from rows in shared memory: of
// each ring the one component and then the other.
template <class T, int components, class Map>
__global__ void __launch_bounds__(32 * most_warps)
    filter_bands(EqualView<T> equal, Fields<const Map> in, Fields<Map> out) {
    extern __shared__ double shared[];
    T* const rows = reinterpret_cast<T*>(shared);
    const CudaTask task = equal.tasks[blockIdx.x];
    const CudaBand band = equal.bands[task.index];
    const int warp = threadIdx.x / 32, n_warps = blockDim.x / 32, lane = threadIdx.x % 32;
    const std::int64_t row_size = tile_pixels + 2 * band.halo;
    const int rows_at_once = static_cast<int>(equal.shared_elements / (components * row_size));
    const bool works = warp < band.n_blocks;
    const CudaFilterBlock* const block = equal.blocks + band.first_block + (works ? warp : 0);
    LaneSums<T, components> sums = {};
    std::int64_t f = block->first_filter;
    for (int first = 0; first < band.n_rows; first += rows_at_once) {
        const int end = min(first + rows_at_once, band.n_rows);
        __syncthreads();
        for (int row = first + warp; row < end; row += n_warps)
            for (int c = 0; c < components; ++c)
                load_row(equal.rows[band.first_row + row], task.first - band.halo, row_size,
                         in.pixels + c * in.stride, rows + ((row - first) * components + c) * row_size);
        __syncthreads();
        if (!works) continue;
        for (; f < block->end_filter && equal.filters[f].row < end; ++f) {
            const CudaFilter filter = equal.filters[f];
            const T* const row =
                rows + (filter.row - first) * components * row_size + band.halo + lane * lane_pixels;
            add_component<0>(filter, row, equal.weights, sums);
            if constexpr (components == 2) add_component<1>(filter, row + row_size, equal.weights, sums);
        }
    }
    __syncthreads();
    if (!works) return;
#pragma unroll
    for (int c = 0; c < components; ++c)
#pragma unroll
        for (int r = 0; r < filter_rings; ++r)
            if (r < block->n_rings)
                store_ring(block->rings[r], sums[c][r], task.first, rows + warp * tile_pixels,
                           out.pixels + c * out.stride);
}

}  // namespace

template <class T, int components>
struct EqualStage<T, components>::HostArrays {
    std::vector<CudaBand> bands;
    std::vector<CudaRing> rows;
    std::vector<CudaFilterBlock> blocks;
    std::vector<CudaFilter> filters;
    core::AlignedVector<T> weights;
    std::vector<CudaTask> tasks;
    std::int64_t shared_bytes = 0;
    int n_warps = 1;

    void add_band(const PixelSumSchedule& schedule, const RingBand& band, DirectPairs& direct);
    FilterTaps append_parts(const PixelSumSchedule& schedule, const FilterBlock& block, std::int64_t input,
                            int half_in);
    void add_tasks(const CudaBand& band);
};

/// The weights of all parts of the kernel, behind each other.
template <class T, int components>
FilterTaps EqualStage<T, components>::HostArrays::append_parts(const PixelSumSchedule& schedule,
                                                               const FilterBlock& block, std::int64_t input,
                                                               int half_in) {
    const SumKernel& kernel = schedule.kernel();
    if constexpr (components == 1) {
        return append_taps(schedule, kernel, block, input, half_in, weights);
    } else {
        const auto first_weight = static_cast<std::int64_t>(weights.size());
        FilterTaps taps{};
        for (const KernelPart part : filter_parts)
            taps = append_taps(schedule, kernel.with_part(part), block, input, half_in, weights);
        taps.first_weight = first_weight;
        return taps;
    }
}

template <class T, int components>
void EqualStage<T, components>::HostArrays::add_band(const PixelSumSchedule& schedule, const RingBand& band,
                                                     DirectPairs& direct) {
    const double reference = schedule.reference_phi(band.outputs.front());
    CudaBand out{schedule.outputs()[band.outputs.front()].n_pixels,
                 0,
                 static_cast<int>(rows.size()),
                 0,
                 static_cast<int>(blocks.size()),
                 0};
    std::vector<std::int64_t> inputs = filter_inputs(schedule, band);
    std::int64_t halo = 2;
    for (const std::int64_t output : band.outputs)
        for (const std::int64_t input : schedule.near(output, PairKind::equal)) {
            const double width = schedule.pair_half_width(output, input) / (2 * std::numbers::pi);
            halo = std::max(halo, static_cast<std::int64_t>(width * static_cast<double>(out.n_pixels)) + 2);
        }
    const std::int64_t row_bytes =
        components * (tile_pixels + 2 * (halo + max_taps)) * static_cast<std::int64_t>(sizeof(T));
    if (row_bytes > max_shared_bytes || weights.size() > max_weights) {
        for (const std::int64_t output : band.outputs)
            for (const std::int64_t input : schedule.near(output, PairKind::equal))
                direct.emplace_back(output, input);
        inputs.clear();
    }
    for (const std::int64_t input : inputs) {
        const SumRing& ring = schedule.inputs()[input];
        rows.push_back(cuda_ring(ring));
        rows.back().rotation = align(reference, ring).rotation;
    }
    out.n_rows = static_cast<int>(inputs.size());
    for (const FilterBlock& block : filter_blocks(schedule, band)) {
        const auto first = static_cast<std::int64_t>(filters.size());
        CudaFilterBlock cuda_block{first, first, static_cast<int>(block.outputs.size()), {}};
        for (std::size_t r = 0; r < block.outputs.size(); ++r) {
            const SumRing& ring = schedule.outputs()[block.outputs[r]];
            cuda_block.rings[r] = cuda_ring(ring);
            cuda_block.rings[r].rotation = align(reference, ring).rotation;
        }
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const int half = align(reference, schedule.inputs()[inputs[i]]).half;
            const FilterTaps taps = append_parts(schedule, block, inputs[i], half);
            if (taps.n_taps == 0) continue;
            filters.push_back({static_cast<int>(i), taps.left, taps.right, taps.n_taps, taps.first_weight});
            out.halo = std::max(out.halo, taps.n_taps + 1);
        }
        cuda_block.end_filter = static_cast<std::int64_t>(filters.size());
        blocks.push_back(cuda_block);
        ++out.n_blocks;
    }
    add_tasks(out);
}

template <class T, int components>
void EqualStage<T, components>::HostArrays::add_tasks(const CudaBand& band) {
    for (int block = 0; block < band.n_blocks; block += most_warps) {
        for (std::int64_t k = 0; k < band.n_pixels; k += tile_pixels)
            tasks.push_back({static_cast<int>(bands.size()), k});
        bands.push_back(band);
        bands.back().first_block += block;
        bands.back().n_blocks = std::min(most_warps, band.n_blocks - block);
        n_warps = std::max(n_warps, bands.back().n_blocks);
    }
    const std::int64_t row_bytes =
        components * (tile_pixels + 2 * band.halo) * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t at_once = std::min<std::int64_t>(band.n_rows, max_shared_bytes / row_bytes);
    const std::int64_t store = band.n_blocks * tile_pixels * static_cast<std::int64_t>(sizeof(T));
    shared_bytes = std::max({shared_bytes, store, at_once * row_bytes});
}

template <class T, int components>
typename EqualStage<T, components>::HostArrays EqualStage<T, components>::host_arrays(
    const PixelSumSchedule& schedule, DirectPairs& direct) {
    HostArrays host;
    for (const RingBand& band : schedule.equal_bands()) host.add_band(schedule, band, direct);
    return host;
}

template <class T, int components>
EqualStage<T, components>::EqualStage(const HostArrays& host)
    : bands_(host.bands),
      rows_(host.rows),
      blocks_(host.blocks),
      filters_(host.filters),
      weights_(host.weights),
      tasks_(host.tasks),
      shared_bytes_(host.shared_bytes),
      n_warps_(host.n_warps) {}

template <class T, int components>
EqualStage<T, components>::EqualStage(const PixelSumSchedule& schedule, DirectPairs& direct)
    : EqualStage(host_arrays(schedule, direct)) {}

template <class T, int components>
template <class Map>
void EqualStage<T, components>::run(const Fields<const Map>& in, const Fields<Map>& out,
                                    cudaStream_t stream) const {
    if (tasks_.size() == 0) return;
    const EqualView<T> view{bands_.data(),
                            rows_.data(),
                            blocks_.data(),
                            filters_.data(),
                            weights_.data(),
                            tasks_.data(),
                            shared_bytes_ / static_cast<std::int64_t>(sizeof(T))};
    const auto kernel = filter_bands<T, components, Map>;
    // All that there is, not shared_bytes_: another thread's plan may launch the kernel at the same time.
    core::check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(core::device_limits().shared_memory_per_block)),
                     "filter_bands: asking for shared memory");
    kernel<<<static_cast<unsigned>(tasks_.size()), static_cast<unsigned>(32 * n_warps_),
             static_cast<std::size_t>(shared_bytes_), stream>>>(view, in, out);
    core::check_launch("filter_bands");
}

template class EqualStage<float, 1>;
template class EqualStage<double, 1>;
template class EqualStage<float, 2>;
template class EqualStage<double, 2>;
template void EqualStage<float, 1>::run(const Fields<const float>&, const Fields<float>&, cudaStream_t) const;
template void EqualStage<float, 1>::run(const Fields<const double>&, const Fields<double>&,
                                        cudaStream_t) const;
template void EqualStage<double, 1>::run(const Fields<const float>&, const Fields<float>&,
                                         cudaStream_t) const;
template void EqualStage<double, 1>::run(const Fields<const double>&, const Fields<double>&,
                                         cudaStream_t) const;
template void EqualStage<float, 2>::run(const Fields<const float>&, const Fields<float>&, cudaStream_t) const;
template void EqualStage<float, 2>::run(const Fields<const double>&, const Fields<double>&,
                                        cudaStream_t) const;
template void EqualStage<double, 2>::run(const Fields<const float>&, const Fields<float>&,
                                         cudaStream_t) const;
template void EqualStage<double, 2>::run(const Fields<const double>&, const Fields<double>&,
                                         cudaStream_t) const;

}  // namespace zonal::radial::cuda
