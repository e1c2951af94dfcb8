#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "radial/pixel_sum/pixel_sum_cuda.cuh"

namespace zonal::radial::cuda {
namespace {

constexpr int threads_per_block = 128;
/// Blocks of add_square that registers are left for: its warps wait for memory, and others work meanwhile.
template <class T>
constexpr int blocks_per_processor = sizeof(T) == 4 ? 6 : 4;
/// Images are folded and read in groups of four.
constexpr int group_images = 4, n_groups = static_cast<int>(n_images) / group_images;
template <class T>
struct alignas(4 * sizeof(T)) Four {
    T value[group_images];
};

template <class T>
struct SquareView {
    const CudaFoldedRow* rows;
    const CudaSquareGroup* groups;
    const CudaSquarePair* pairs;
    const T* weights;
    const CudaTask *tasks, *fold_tasks;
};

/// Pixels of a folded row: a block takes threads_per_block of them, all images.
template <class T, class Map>
__global__ void __launch_bounds__(threads_per_block)
    fold_rings(SquareView<T> square, const Map* __restrict__ in, Four<T>* __restrict__ folded) {
    const CudaTask task = square.fold_tasks[blockIdx.x];
    const CudaFoldedRow& row = square.rows[task.index];
    const std::int64_t i = task.first + threadIdx.x;
    if (i >= row.n_pixels) return;
    const std::int64_t place = modulo(row.from + i, row.ring.n_pixels);
    for (int group = 0; group < n_groups; ++group) {
        Four<T> four = {};
        const bool mirrored = group * group_images >= n_images / 2;
        if (!mirrored || row.has_mirrored) {
            const CudaRing& ring = mirrored ? row.mirrored : row.ring;
            const T weight = static_cast<T>(ring.weight);
#pragma unroll
            for (int g = 0; g < group_images; ++g) {
                const Image image = image_of(ring, group * group_images + g);
                // image.start is below 2n.
                const std::int64_t k =
                    wrapped(wrapped(image.start, ring.n_pixels) + image.direction * place, ring.n_pixels);
                four.value[g] = weight * static_cast<T>(in[ring.first_pixel + k]);
            }
        }
        folded[row.first + group * row.n_pixels + i] = four;
    }
}

/// K of a tap at u, by its polynomial (pixel_sum_weights.hpp).
template <class T>
__device__ __forceinline__ T tap_weight(const Four<T>* tap, T u) {
    T number[tap_numbers<T>];
#pragma unroll
    for (int i = 0; i < tap_numbers<T> / group_images; ++i) {
        const Four<T> four = tap[i];
#pragma unroll
        for (int g = 0; g < group_images; ++g) number[i * group_images + g] = four.value[g];
    }
    const T s = fma(u, number[0], number[1]);
    T value = number[2 + weight_degree<T>];
#pragma unroll
    for (int power = weight_degree<T> - 1; power >= 0; --power) value = fma(value, s, number[2 + power]);
    return fabs(s) <= T(1) + weight_slack<T> ? value : T(0);
}

/// The taps of one output pixel on a folded row: the first at pixel `first`, j with the weight at u of tap +
/// j.
template <class T>
struct PixelTaps {
    std::int64_t first = 0;
    int n = 0;
    const Four<T>* tap = nullptr;
    T u = 0;
};

template <class T>
__device__ PixelTaps<T> taps_of_pixel(const SquareTaps& taps, const T* weights, double k) {
    const double x = fma(k, taps.ratio, taps.origin), below = floor(x);
    const double at = (x - below) * taps.n_pieces;
    const int piece = min(static_cast<int>(at), taps.n_pieces - 1);
    const std::int64_t first_tap = static_cast<std::int64_t>(piece) * taps.n_taps;
    const T* const tap = weights + taps.first_weight + first_tap * tap_numbers<T>;
    return {taps.first + static_cast<std::int64_t>(below), taps.n_taps, reinterpret_cast<const Four<T>*>(tap),
            static_cast<T>(at - piece)};
}

// Rings below each other have their taps at nearly the same pixels, which are loaded once.
template <class T>
__device__ void add_pair(const CudaSquarePair& pair, const T* weights, const Four<T>* folded, std::int64_t k,
                         const bool (&works)[square_rings], T (&sums)[square_rings][n_images]) {
    PixelTaps<T> taps[square_rings];
    std::int64_t first = INT64_MAX, end = 0;
#pragma unroll
    for (int r = 0; r < square_rings; ++r) {
        if (!works[r] || pair.taps[r].n_taps == 0) continue;
        taps[r] = taps_of_pixel(pair.taps[r], weights, static_cast<double>(k));
        first = min(first, taps[r].first);
        end = max(end, taps[r].first + taps[r].n);
    }
    if (end <= first) return;
    const int count = static_cast<int>(end - first);
    int skip[square_rings];
#pragma unroll
    for (int r = 0; r < square_rings; ++r) skip[r] = static_cast<int>(taps[r].first - first);
    const Four<T>* pixel = folded + first;
    for (int i = 0; i < count; ++i, ++pixel) {
        T weight[square_rings];
#pragma unroll
        for (int r = 0; r < square_rings; ++r) {
            const int j = i - skip[r];
            weight[r] = j >= 0 && j < taps[r].n
                            ? tap_weight(taps[r].tap + j * (tap_numbers<T> / group_images), taps[r].u)
                            : T(0);
        }
#pragma unroll
        for (int group = 0; group < n_groups; ++group) {
            const Four<T> four = pixel[group * pair.row_pixels];
#pragma unroll
            for (int r = 0; r < square_rings; ++r)
#pragma unroll
                for (int g = 0; g < group_images; ++g) {
                    T& sum = sums[r][group * group_images + g];
                    sum = fma(weight[r], four.value[g], sum);
                }
        }
    }
}

template <class T, class Map>
__device__ void store_images(const CudaSquareRing& ring, std::int64_t k, const T (&sums)[n_images],
                             Map* out) {
#pragma unroll
    for (int i = 0; i < n_images; ++i) {
        if (i >= n_images / 2 && !ring.has_mirrored) return;
        const CudaRing& target = i < n_images / 2 ? ring.ring : ring.mirrored;
        const OwnPixels own = own_pixels(target, i);
        if (k < own.first || k >= own.end) continue;
        const Image image = image_of(target, i);
        Map& pixel = out[target.first_pixel + wrapped(image.start + image.direction * k, target.n_pixels)];
        pixel = static_cast<Map>(ring.is_set ? static_cast<T>(pixel) + sums[i] : sums[i]);
    }
}

template <class T, class Map>
__global__ void __launch_bounds__(threads_per_block, blocks_per_processor<T>)
    add_square(SquareView<T> square, const Four<T>* __restrict__ folded, Map* __restrict__ out) {
    const CudaTask task = square.tasks[blockIdx.x];
    const CudaSquareGroup& group = square.groups[task.index];
    const std::int64_t k = task.first + threadIdx.x;
    bool works[square_rings], any = false;
#pragma unroll
    for (int r = 0; r < square_rings; ++r) {
        works[r] = r < group.n_rings && k < n_distinct(group.rings[r].ring);
        any = any || works[r];
    }
    if (!any) return;
    T sums[square_rings][n_images] = {};
    for (std::int64_t p = group.first_pair; p < group.end_pair; ++p)
        add_pair(square.pairs[p], square.weights, folded, k, works, sums);
#pragma unroll
    for (int r = 0; r < square_rings; ++r)
        if (works[r]) store_images(group.rings[r], k, sums[r], out);
}

/// The pixels of an input ring that some output ring needs.
struct Needed {
    std::int64_t from = 0, end = 0;
    void include(std::int64_t first, std::int64_t last) {
        const bool is_first = end == from;
        from = is_first ? first : std::min(from, first);
        end = is_first ? last : std::max(end, last);
    }
};

}  // namespace

template <class T>
struct SquareStage<T>::HostArrays {
    std::vector<CudaFoldedRow> rows;
    std::vector<CudaSquareGroup> groups;
    std::vector<CudaSquarePair> pairs;
    std::vector<T> weights;
    std::vector<CudaTask> tasks, fold_tasks;
    std::int64_t folded_size = 0;
    std::vector<std::int64_t> row_origin, row_pixels;  ///< [input]

    void add_group(const PixelSumSchedule& schedule, const std::int64_t* outputs,
                   const SquareTables<T>* parts, int n_rings);
    void add_row(const PixelSumSchedule& schedule, std::int64_t input, const Needed& needed);
};

template <class T>
void SquareStage<T>::HostArrays::add_group(const PixelSumSchedule& schedule, const std::int64_t* outputs,
                                           const SquareTables<T>* parts, int n_rings) {
    CudaSquareGroup group{};
    group.n_rings = n_rings;
    group.first_pair = static_cast<std::int64_t>(pairs.size());
    std::int64_t n_pixels = 0;
    std::vector<std::int64_t> inputs;
    for (int r = 0; r < n_rings; ++r) {
        const SumRing& ring = schedule.outputs()[outputs[r]];
        const bool has_mirrored = schedule.is_paired(outputs[r]);
        group.rings[r] = {cuda_ring(ring), cuda_ring(has_mirrored ? schedule.outputs()[ring.mirror] : ring),
                          has_mirrored, !schedule.is_alone(outputs[r])};
        n_pixels = std::max(n_pixels, n_distinct(ring));
        inputs.insert(inputs.end(), parts[r].inputs.begin(), parts[r].inputs.end());
    }
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    pairs.resize(pairs.size() + inputs.size());
    group.end_pair = static_cast<std::int64_t>(pairs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        pairs[static_cast<std::size_t>(group.first_pair) + i].row_pixels =
            row_pixels[static_cast<std::size_t>(inputs[i])];
    for (int r = 0; r < n_rings; ++r) {
        for (std::size_t p = 0; p < parts[r].taps.size(); ++p) {
            const std::int64_t input = parts[r].inputs[p];
            const auto at = std::lower_bound(inputs.begin(), inputs.end(), input) - inputs.begin();
            SquareTaps taps = parts[r].taps[p];
            taps.first += row_origin[static_cast<std::size_t>(input)];
            taps.first_weight += static_cast<std::int64_t>(weights.size());
            pairs[static_cast<std::size_t>(group.first_pair + at)].taps[r] = taps;
        }
        weights.insert(weights.end(), parts[r].weights.begin(), parts[r].weights.end());
    }
    for (std::int64_t k = 0; k < n_pixels; k += threads_per_block)
        tasks.push_back({static_cast<int>(groups.size()), k});
    groups.push_back(group);
}

template <class T>
void SquareStage<T>::HostArrays::add_row(const PixelSumSchedule& schedule, std::int64_t input,
                                         const Needed& needed) {
    const SumRing& ring = schedule.inputs()[input];
    const bool has_mirrored = schedule.both_mirrored();
    const std::int64_t count = needed.end - needed.from;
    for (std::int64_t k = 0; k < count; k += threads_per_block)
        fold_tasks.push_back({static_cast<int>(rows.size()), k});
    rows.push_back({cuda_ring(ring), cuda_ring(has_mirrored ? schedule.inputs()[ring.mirror] : ring),
                    has_mirrored, needed.from, count, folded_size});
    row_origin[static_cast<std::size_t>(input)] = folded_size - needed.from;
    row_pixels[static_cast<std::size_t>(input)] = count;
    folded_size += n_groups * count;
}

template <class T>
typename SquareStage<T>::HostArrays SquareStage<T>::host_arrays(const PixelSumSchedule& schedule, int threads,
                                                                DirectPairs& direct) {
    std::vector<std::int64_t> outputs;
    for (const RingBand& band : schedule.square_bands())
        outputs.insert(outputs.end(), band.outputs.begin(), band.outputs.end());
    std::sort(outputs.begin(), outputs.end());
    // Weights of fewer pixels come from tables too, which are made once and read many times.
    constexpr std::int64_t least_table_pixels = 1024;
    const std::int64_t least_pixels = square_tables_fit<T>(schedule, outputs) ? least_table_pixels : 0;
    std::vector<SquareTables<T>> parts(outputs.size());
    core::parallel_for(static_cast<std::int64_t>(outputs.size()), threads, [&](std::int64_t i, int) {
        const auto at = static_cast<std::size_t>(i);
        parts[at] = make_square_tables<T>(schedule, outputs[at], least_pixels);
    });
    HostArrays host;
    std::vector<Needed> needed(static_cast<std::size_t>(schedule.inputs().size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const SumRing& out = schedule.outputs()[outputs[i]];
        for (std::size_t p = 0; p < parts[i].taps.size(); ++p) {
            const SquareTaps& taps = parts[i].taps[p];
            const PixelPositions positions = positions_of(out, schedule.inputs()[parts[i].inputs[p]]);
            // One more on either side: the device finds floor(x) by rounded numbers.
            needed[static_cast<std::size_t>(parts[i].inputs[p])].include(
                base_at(positions, 0) + taps.first - 1,
                base_at(positions, n_distinct(out) - 1) + taps.first + taps.n_taps + 1);
        }
    }
    host.row_origin.resize(needed.size());
    host.row_pixels.resize(needed.size());
    for (std::size_t input = 0; input < needed.size(); ++input)
        if (needed[input].end > needed[input].from)
            host.add_row(schedule, static_cast<std::int64_t>(input), needed[input]);
    for (std::size_t i = 0; i < outputs.size();) {
        const bool has_next = i + 1 < outputs.size() && outputs[i + 1] == outputs[i] + 1;
        const int n_rings = has_next ? square_rings : 1;
        host.add_group(schedule, &outputs[i], &parts[i], n_rings);
        for (int r = 0; r < n_rings; ++r, ++i) {
            direct.insert(direct.end(), parts[i].left_out.begin(), parts[i].left_out.end());
            parts[i] = {};
        }
    }
    return host;
}

template <class T>
SquareStage<T>::SquareStage(const HostArrays& host)
    : rows_(host.rows),
      groups_(host.groups),
      pairs_(host.pairs),
      weights_(host.weights),
      tasks_(host.tasks),
      fold_tasks_(host.fold_tasks),
      folded_size_(group_images * host.folded_size) {}

template <class T>
SquareStage<T>::SquareStage(const PixelSumSchedule& schedule, int threads, DirectPairs& direct)
    : SquareStage(host_arrays(schedule, threads, direct)) {}

template <class T>
template <class Map>
void SquareStage<T>::run(const Map* in, T* folded, Map* out, cudaStream_t stream) const {
    const SquareView<T> view{rows_.data(),    groups_.data(), pairs_.data(),
                             weights_.data(), tasks_.data(),  fold_tasks_.data()};
    auto* const fours = reinterpret_cast<Four<T>*>(folded);
    if (fold_tasks_.size() > 0) {
        fold_rings<T, Map>
            <<<static_cast<unsigned>(fold_tasks_.size()), threads_per_block, 0, stream>>>(view, in, fours);
        core::check_launch("fold_rings");
    }
    if (tasks_.size() > 0) {
        add_square<T, Map>
            <<<static_cast<unsigned>(tasks_.size()), threads_per_block, 0, stream>>>(view, fours, out);
        core::check_launch("add_square");
    }
}

template class SquareStage<float>;
template class SquareStage<double>;
template void SquareStage<float>::run(const float*, float*, float*, cudaStream_t) const;
template void SquareStage<float>::run(const double*, float*, double*, cudaStream_t) const;
template void SquareStage<double>::run(const float*, double*, float*, cudaStream_t) const;
template void SquareStage<double>::run(const double*, double*, double*, cudaStream_t) const;

}  // namespace zonal::radial::cuda
