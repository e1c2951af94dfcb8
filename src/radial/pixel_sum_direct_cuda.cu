#include <algorithm>

#include "radial/pixel_sum_cuda.cuh"
#include "radial/pixel_sum_weights.hpp"

namespace zonal::radial::cuda {
namespace {

constexpr int threads_per_block = 128;

template <class T>
struct DirectView {
    const CudaDirectRing* rings;
    const CudaDirectPair* pairs;
    const CudaTask* tasks;
    ChordTableView<T> table;
};

/// sum_j K(chord of tap j) x[floor(x) - left + j] of one input ring.
template <class T, class Map>
__device__ T sum_of_ring(const CudaDirectPair& pair, const ChordTableView<T>& table, std::int64_t k,
                         const Map* in) {
    const double x = fma(static_cast<double>(k), pair.ratio, pair.origin), below = floor(x);
    const double t = x - below + static_cast<double>(pair.left);
    const std::int64_t n = pair.ring.n_pixels;
    std::int64_t index = modulo(static_cast<std::int64_t>(below) - pair.left, n);
    const T offset = static_cast<T>(pair.chord.offset), factor = static_cast<T>(pair.chord.factor);
    T sum = 0;
    for (std::int64_t j = 0; j < pair.n_taps; ++j) {
        const double apart = t - static_cast<double>(j);
        if (pair.is_whole || fabs(apart) <= pair.half_width_pixels) {
            const T sine = sin(static_cast<T>(apart * pair.half_pixel));
            const T chord_squared = fma(factor, sine * sine, offset);
            const T weight = evaluate(table, chord_squared < table.end ? chord_squared : table.end);
            sum = fma(weight, static_cast<T>(in[pair.ring.first_pixel + index]), sum);
        }
        index = index + 1 == n ? 0 : index + 1;
    }
    return sum * static_cast<T>(pair.ring.weight);
}

template <class T, class Map>
__global__ void __launch_bounds__(threads_per_block)
    add_direct(DirectView<T> direct, const Map* __restrict__ in, Map* __restrict__ out) {
    const CudaTask task = direct.tasks[blockIdx.x];
    const CudaDirectRing& ring = direct.rings[task.index];
    const std::int64_t k = task.first + threadIdx.x;
    if (k >= ring.ring.n_pixels) return;
    T sum = 0;
    for (std::int64_t p = ring.first_pair; p < ring.end_pair; ++p)
        sum += sum_of_ring(direct.pairs[p], direct.table, k, in);
    Map& pixel = out[ring.ring.first_pixel + k];
    pixel = static_cast<Map>(static_cast<T>(pixel) + sum);
}

CudaDirectPair direct_pair(const SumRing& out, const SumRing& in, double limit) {
    const PairTaps taps(out, in, limit);
    const double per_radian = 1 / taps.pixel;
    return {cuda_ring(in),
            taps.geometry.chord,
            static_cast<double>(in.n_pixels) / static_cast<double>(out.n_pixels),
            (out.phi_0 - in.phi_0) * per_radian,
            taps.half_width_pixels,
            0.5 * taps.pixel,
            taps.left,
            taps.n_taps,
            taps.is_whole};
}

}  // namespace

template <class T>
struct DirectStage<T>::HostArrays {
    std::vector<CudaDirectRing> rings;
    std::vector<CudaDirectPair> pairs;
    std::vector<CudaTask> tasks;
};

template <class T>
typename DirectStage<T>::HostArrays DirectStage<T>::host_arrays(const PixelSumSchedule& schedule,
                                                                const DirectPairs& pairs) {
    HostArrays host;
    DirectPairs sorted = pairs;
    std::sort(sorted.begin(), sorted.end());
    std::int64_t before = -1;
    for (const auto& [output, input] : sorted) {
        const SumRing& out = schedule.outputs()[output];
        const auto first = static_cast<std::int64_t>(host.pairs.size());
        if (output != before) {
            for (std::int64_t k = 0; k < out.n_pixels; k += threads_per_block)
                host.tasks.push_back({static_cast<int>(host.rings.size()), k});
            host.rings.push_back({cuda_ring(out), first, first});
        }
        before = output;
        host.pairs.push_back(direct_pair(out, schedule.inputs()[input], schedule.kernel().limit()));
        host.rings.back().end_pair = first + 1;
    }
    return host;
}

template <class T>
DirectStage<T>::DirectStage(const PixelSumSchedule& schedule, const HostArrays& host)
    : rings_(host.rings),
      pairs_(host.pairs),
      tasks_(host.tasks),
      coefficients_(schedule.kernel().plus().table->template coefficients<T>()),
      table_(schedule.kernel().plus().table->view(static_cast<const T*>(coefficients_.data()))) {}

template <class T>
DirectStage<T>::DirectStage(const PixelSumSchedule& schedule, const DirectPairs& pairs)
    : DirectStage(schedule, host_arrays(schedule, pairs)) {}

template <class T>
template <class Map>
void DirectStage<T>::run(const Map* in, Map* out, cudaStream_t stream) const {
    if (tasks_.size() == 0) return;
    const DirectView<T> view{rings_.data(), pairs_.data(), tasks_.data(), table_};
    add_direct<T, Map><<<static_cast<unsigned>(tasks_.size()), threads_per_block, 0, stream>>>(view, in, out);
    core::check_launch("add_direct");
}

template class DirectStage<float>;
template class DirectStage<double>;
template void DirectStage<float>::run(const float*, float*, cudaStream_t) const;
template void DirectStage<float>::run(const double*, double*, cudaStream_t) const;
template void DirectStage<double>::run(const float*, float*, cudaStream_t) const;
template void DirectStage<double>::run(const double*, double*, cudaStream_t) const;

}  // namespace zonal::radial::cuda
