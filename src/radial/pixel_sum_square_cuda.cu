#include <algorithm>

#include "core/parallel.hpp"
#include "radial/pixel_sum_cuda.cuh"
#include "radial/pixel_sum_weights.hpp"

namespace zonal::radial::cuda {
namespace {

constexpr int threads_per_block = 128;
/// Images are folded and read in groups of four.
constexpr int group_images = 4, n_groups = static_cast<int>(n_images) / group_images;
/// A tap's weights: factor, shift, coefficients, padded to whole groups of four.
template <class T>
constexpr int tap_numbers = (weight_rows<T> + group_images - 1) / group_images* group_images;

template <class T>
struct alignas(4 * sizeof(T)) Four {
    T value[group_images];
};

template <class T>
struct SquareView {
    const CudaFoldedRow* rows;
    const CudaSquareRing* rings;
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
    for (int group = 0; group < n_groups; ++group) {
        Four<T> four = {};
        const bool mirrored = group * group_images >= n_images / 2;
        if (!mirrored || row.has_mirrored) {
            const CudaRing& ring = mirrored ? row.mirrored : row.ring;
            const T weight = static_cast<T>(ring.weight);
#pragma unroll
            for (int g = 0; g < group_images; ++g) {
                const Image image = image_of(ring, group * group_images + g);
                const std::int64_t k = modulo(image.start + image.direction * (row.from + i), ring.n_pixels);
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

template <class T>
__device__ void add_pair(const CudaSquarePair& pair, const T* weights, const Four<T>* folded, double k,
                         T (&sums)[n_images]) {
    const double x = fma(k, pair.ratio, pair.origin), below = floor(x);
    const double at = (x - below) * pair.n_pieces;
    const int piece = min(static_cast<int>(at), pair.n_pieces - 1);
    const T u = static_cast<T>(at - piece);
    const Four<T>* tap = reinterpret_cast<const Four<T>*>(
        weights + pair.first_weight + static_cast<std::int64_t>(piece) * pair.n_taps * tap_numbers<T>);
    const Four<T>* pixel = folded + pair.first + static_cast<std::int64_t>(below);
    for (int j = 0; j < pair.n_taps; ++j, tap += tap_numbers<T> / group_images, ++pixel) {
        const T weight = tap_weight(tap, u);
#pragma unroll
        for (int group = 0; group < n_groups; ++group) {
            const Four<T> four = pixel[group * pair.row_pixels];
#pragma unroll
            for (int g = 0; g < group_images; ++g)
                sums[group * group_images + g] = fma(weight, four.value[g], sums[group * group_images + g]);
        }
    }
}

template <class T, class Map>
__global__ void __launch_bounds__(threads_per_block)
    add_square(SquareView<T> square, const Four<T>* __restrict__ folded, Map* __restrict__ out) {
    const CudaTask task = square.tasks[blockIdx.x];
    const CudaSquareRing& ring = square.rings[task.index];
    const std::int64_t k = task.first + threadIdx.x;
    if (k >= n_distinct(ring.ring)) return;
    T sums[n_images] = {};
    for (std::int64_t p = ring.first_pair; p < ring.end_pair; ++p)
        add_pair(square.pairs[p], square.weights, folded, static_cast<double>(k), sums);
#pragma unroll
    for (int i = 0; i < n_images; ++i) {
        if (i >= n_images / 2 && !ring.has_mirrored) return;
        const CudaRing& target = i < n_images / 2 ? ring.ring : ring.mirrored;
        const OwnPixels own = own_pixels(target, i);
        if (k < own.first || k >= own.end) continue;
        const Image image = image_of(target, i);
        Map& pixel = out[target.first_pixel + modulo(image.start + image.direction * k, target.n_pixels)];
        pixel = static_cast<Map>(ring.is_set ? static_cast<T>(pixel) + sums[i] : sums[i]);
    }
}

/// From [piece][row][stride] to [piece][tap][tap_numbers].
template <class T>
void append_table(const PairTable<T>& table, std::int64_t n_taps, std::vector<T>& weights) {
    for (std::int64_t piece = 0; piece < table.n_pieces; ++piece)
        for (std::int64_t j = 0; j < n_taps; ++j)
            for (int row = 0; row < tap_numbers<T>; ++row)
                weights.push_back(row < weight_rows<T>
                                      ? table.rows[(piece * weight_rows<T> + row) * table.stride + j]
                                      : T(0));
}

/// What one output ring needs.
template <class T>
struct RingPart {
    std::vector<CudaSquarePair> pairs;  ///< first: still from the row's beginning
    std::vector<std::int64_t> inputs;
    std::vector<T> weights;
    DirectPairs direct;
};

template <class T>
RingPart<T> ring_part(const PixelSumSchedule& schedule, std::int64_t output) {
    RingPart<T> part;
    const SumRing& out = schedule.outputs()[output];
    PairTableScratch<T> scratch;
    for (const std::int64_t input : schedule.near(output, PairKind::square)) {
        const SumRing& in = schedule.inputs()[input];
        const PairTaps taps(out, in, schedule.kernel().limit());
        const PairTable<T> table =
            make_pair_table(taps, schedule.kernel(), schedule.tolerance(), n_distinct(out), scratch);
        if (table.n_pieces == 0) {
            part.direct.emplace_back(output, input);
            if (schedule.is_paired(output)) part.direct.emplace_back(out.mirror, in.mirror);
            continue;
        }
        const PixelPositions positions = positions_of(out, in);
        const double denominator = static_cast<double>(positions.denominator);
        part.inputs.push_back(input);
        part.pairs.push_back({static_cast<double>(positions.step) / denominator,
                              static_cast<double>(positions.first) / denominator, -taps.left, 0,
                              static_cast<std::int64_t>(part.weights.size()), static_cast<int>(taps.n_taps),
                              static_cast<int>(table.n_pieces)});
        append_table(table, taps.n_taps, part.weights);
    }
    return part;
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
    std::vector<CudaSquareRing> rings;
    std::vector<CudaSquarePair> pairs;
    std::vector<T> weights;
    std::vector<CudaTask> tasks, fold_tasks;
    std::int64_t folded_size = 0;

    void add_ring(const PixelSumSchedule& schedule, std::int64_t output, const RingPart<T>& part);
    std::int64_t add_row(const PixelSumSchedule& schedule, std::int64_t input, const Needed& needed);
};

template <class T>
void SquareStage<T>::HostArrays::add_ring(const PixelSumSchedule& schedule, std::int64_t output,
                                          const RingPart<T>& part) {
    const SumRing& ring = schedule.outputs()[output];
    const bool has_mirrored = schedule.is_paired(output);
    const auto first = static_cast<std::int64_t>(pairs.size());
    for (std::int64_t k = 0; k < n_distinct(ring); k += threads_per_block)
        tasks.push_back({static_cast<int>(rings.size()), k});
    rings.push_back({cuda_ring(ring), cuda_ring(has_mirrored ? schedule.outputs()[ring.mirror] : ring),
                     has_mirrored, !schedule.is_alone(output), first,
                     first + static_cast<std::int64_t>(part.pairs.size())});
    for (CudaSquarePair pair : part.pairs) {
        pair.first_weight += static_cast<std::int64_t>(weights.size());
        pairs.push_back(pair);
    }
    weights.insert(weights.end(), part.weights.begin(), part.weights.end());
}

/// Returns where the row's pixel 0 would be.
template <class T>
std::int64_t SquareStage<T>::HostArrays::add_row(const PixelSumSchedule& schedule, std::int64_t input,
                                                 const Needed& needed) {
    const SumRing& ring = schedule.inputs()[input];
    const bool has_mirrored = schedule.both_mirrored();
    const std::int64_t count = needed.end - needed.from;
    for (std::int64_t k = 0; k < count; k += threads_per_block)
        fold_tasks.push_back({static_cast<int>(rows.size()), k});
    rows.push_back({cuda_ring(ring), cuda_ring(has_mirrored ? schedule.inputs()[ring.mirror] : ring),
                    has_mirrored, needed.from, count, folded_size});
    folded_size += n_groups * count;
    return rows.back().first - needed.from;
}

template <class T>
typename SquareStage<T>::HostArrays SquareStage<T>::host_arrays(const PixelSumSchedule& schedule, int threads,
                                                                DirectPairs& direct) {
    std::vector<std::int64_t> outputs;
    for (const RingBand& band : schedule.square_bands())
        outputs.insert(outputs.end(), band.outputs.begin(), band.outputs.end());
    std::sort(outputs.begin(), outputs.end());
    std::vector<RingPart<T>> parts(outputs.size());
    core::parallel_for(static_cast<std::int64_t>(outputs.size()), threads, [&](std::int64_t i, int) {
        const auto at = static_cast<std::size_t>(i);
        parts[at] = ring_part<T>(schedule, outputs[at]);
    });
    HostArrays host;
    std::vector<Needed> needed(static_cast<std::size_t>(schedule.inputs().size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const SumRing& out = schedule.outputs()[outputs[i]];
        for (std::size_t p = 0; p < parts[i].pairs.size(); ++p) {
            const CudaSquarePair& pair = parts[i].pairs[p];
            const PixelPositions positions = positions_of(out, schedule.inputs()[parts[i].inputs[p]]);
            // One more on either side: the device finds floor(x) by rounded numbers.
            needed[static_cast<std::size_t>(parts[i].inputs[p])].include(
                base_at(positions, 0) + pair.first - 1,
                base_at(positions, n_distinct(out) - 1) + pair.first + pair.n_taps + 1);
        }
    }
    std::vector<std::int64_t> origin(needed.size());
    for (std::size_t input = 0; input < needed.size(); ++input)
        if (needed[input].end > needed[input].from)
            origin[input] = host.add_row(schedule, static_cast<std::int64_t>(input), needed[input]);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t p = 0; p < parts[i].pairs.size(); ++p) {
            const auto input = static_cast<std::size_t>(parts[i].inputs[p]);
            parts[i].pairs[p].first += origin[input];
            parts[i].pairs[p].row_pixels = needed[input].end - needed[input].from;
        }
        host.add_ring(schedule, outputs[i], parts[i]);
        direct.insert(direct.end(), parts[i].direct.begin(), parts[i].direct.end());
        parts[i] = {};
    }
    return host;
}

template <class T>
SquareStage<T>::SquareStage(const HostArrays& host)
    : rows_(host.rows),
      rings_(host.rings),
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
    const SquareView<T> view{rows_.data(),    rings_.data(), pairs_.data(),
                             weights_.data(), tasks_.data(), fold_tasks_.data()};
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
