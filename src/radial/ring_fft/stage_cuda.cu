#include "radial/ring_fft/stage_cuda.cuh"

#include <algorithm>
#include <map>
#include <numeric>

#include "radial/ring_fft/stage_kernels.cuh"

namespace zonal::radial::cuda {
namespace {

using fft::cuda::FftBatch;

/// Fewer rings of one length than this go through Bluestein's algorithm.
constexpr std::int64_t shortest_run = 16;
/// Rings and pairs of a launch at most: of the grid's second dimension, and of the scratch memory.
constexpr std::int64_t most_rings = 32768;
constexpr std::int64_t most_scratch = std::int64_t{1} << 27;  // complex numbers
/// Shorter sequences share one length: they are few.
constexpr std::int64_t shortest_padding = 1024;

/// The smallest power of 2 that holds a linear convolution of n values.
std::int64_t padded_length(std::int64_t n) {
    std::int64_t length = shortest_padding;
    while (length < 2 * n - 1) length *= 2;
    return length;
}

/// Where the FFT library may read and write pixels: in precision R and aligned to a complex number.
template <class R, class T>
bool usable(const T* pixels) {
    return sizeof(R) == sizeof(T) && reinterpret_cast<std::uintptr_t>(pixels) % sizeof(Complex<R>) == 0;
}

/// Calls visit with the number of maps, 1, 2 or 4, as a constant.
template <class Visit>
void with_number_of_maps(std::int64_t n_maps, const Visit& visit) {
    if (n_maps == 4)
        visit(std::integral_constant<int, 4>());
    else if (n_maps == 2)
        visit(std::integral_constant<int, 2>());
    else
        visit(std::integral_constant<int, 1>());
}

dim3 grid_of(std::int64_t count, std::int64_t n_rows) {
    return {blocks_of(count), static_cast<unsigned>(n_rows)};
}

}  // namespace

template <class R>
RingTransforms<R>::RingTransforms(const RingFftGeometry& geometry, const SumSchedule& schedule,
                                  Direction direction)
    : direction_(direction) {
    const bool input = direction == Direction::to_modes;
    const Grid& grid = input ? geometry.grid() : geometry.grid_out();
    std::vector<RunRing> ring_modes(grid.rings().size());
    std::vector<bool> wanted(grid.rings().size(), !input);
    for (std::int64_t k = 0; k < geometry.n_nodes(); ++k)
        for (int side = 0; side < 2; ++side) {
            const RingNode& node = geometry.nodes()[k];
            const std::int64_t ring = input ? node.input[side] : node.output[side];
            if (ring < 0) continue;
            const std::int64_t n_modes = input ? node.input_modes : node.output_modes;
            const auto& modes = input ? schedule.input_modes : schedule.output_modes;
            ring_modes[ring] = {modes[2 * k + side], node.phi_0, grid.rings()[ring].weight,
                                static_cast<std::int32_t>(n_modes)};
            if (n_modes > 0) wanted[ring] = true;
        }
    std::vector<std::int64_t> order;
    for (std::int64_t k = 0; k < grid.n_rings(); ++k)
        if (wanted[k]) order.push_back(k);
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return grid.rings()[a].first_pixel < grid.rings()[b].first_pixel;
    });
    std::vector<bool> in_run(grid.rings().size(), false);
    std::vector<std::int64_t> run;
    for (const std::int64_t index : order) {
        const Ring& ring = grid.rings()[index];
        if (!run.empty()) {
            const Ring& last = grid.rings()[run.back()];
            const bool follows =
                ring.n_pixels == last.n_pixels && ring.first_pixel == last.first_pixel + last.n_pixels;
            const auto size = static_cast<std::int64_t>(run.size());
            if (!follows || size == most_rings || (size + 1) * (ring.n_pixels + 4) > 2 * most_scratch) {
                add_run(grid, run, in_run, ring_modes);
                run.clear();
            }
        }
        run.push_back(index);
    }
    if (!run.empty()) add_run(grid, run, in_run, ring_modes);
    make_batches(geometry, schedule, in_run);
    make_filters();
}

template <class R>
void RingTransforms<R>::add_run(const Grid& grid, const std::vector<std::int64_t>& rings,
                                std::vector<bool>& in_run, const std::vector<RunRing>& ring_modes) {
    const auto n_rings = static_cast<std::int64_t>(rings.size());
    if (n_rings < shortest_run) return;
    std::vector<RunRing> entries;
    std::int64_t n_modes = 0;
    for (const std::int64_t ring : rings) {
        entries.push_back(ring_modes[ring]);
        n_modes = std::max<std::int64_t>(n_modes, ring_modes[ring].n_modes);
        in_run[ring] = true;
    }
    const Ring& first = grid.rings()[rings.front()];
    const std::int64_t n = first.n_pixels, n_bins = n / 2 + 1;
    FftBatch transform = direction_ == Direction::to_modes
                             ? FftBatch(n, n_rings, fft::cuda::real_to_complex<R>, n, n_bins)
                             : FftBatch(n, n_rings, fft::cuda::complex_to_real<R>, n_bins, n);
    library_bytes_ = std::max(library_bytes_, transform.work_bytes());
    runs_.push_back(
        {first.first_pixel, n, n_rings, n_modes, core::DeviceArray<RunRing>(entries), std::move(transform)});
    // Bins, and pixels of precision R where the map's cannot be used.
    scratch_size_ = std::max(scratch_size_, n_rings * (n_bins + (n + 1) / 2) + 1);
}

template <class R>
void RingTransforms<R>::make_batches(const RingFftGeometry& geometry, const SumSchedule& schedule,
                                     const std::vector<bool>& in_run) {
    const bool input = direction_ == Direction::to_modes;
    const Grid& grid = input ? geometry.grid() : geometry.grid_out();
    std::map<std::int64_t, std::vector<PairSequence>> by_length;
    std::map<std::int64_t, std::int64_t> filter_of;
    std::int64_t n_filters = 0;
    std::vector<PairSequence> cap_pairs;
    std::vector<fft::cuda::CapPair> caps;
    const std::int64_t longest_part = fft::cuda::CapTransforms<R>::longest_part();
    for (std::int64_t k = 0; k < geometry.n_nodes(); ++k) {
        const RingNode& node = geometry.nodes()[k];
        const std::int64_t n_modes = input ? node.input_modes : node.output_modes;
        if (input && n_modes == 0) continue;
        PairSequence pair{};
        pair.phi_0 = node.phi_0;
        pair.n_pixels = static_cast<std::int32_t>(node.n_pixels);
        pair.n_modes = static_cast<std::int32_t>(n_modes);
        for (int side = 0; side < 2; ++side) {
            const std::int64_t ring = input ? node.input[side] : node.output[side];
            const bool here = ring >= 0 && !in_run[ring];
            pair.pixel[side] = here ? grid.rings()[ring].first_pixel : -1;
            pair.weight[side] = here ? grid.rings()[ring].weight : 0;
            pair.modes[side] =
                here ? (input ? schedule.input_modes : schedule.output_modes)[2 * k + side] : -1;
        }
        if (pair.pixel[0] < 0 && pair.pixel[1] < 0) continue;
        if (node.n_pixels / fft::cuda::cap_parts(node.n_pixels) <= longest_part &&
            static_cast<std::int64_t>(caps.size()) < most_rings) {
            caps.push_back({{pair.pixel[0], pair.pixel[1]},
                            {pair.weight[0], pair.weight[1]},
                            static_cast<std::int32_t>(caps.size()),
                            pair.n_pixels,
                            pair.n_modes});
            cap_pairs.push_back(pair);
            continue;
        }
        const std::int64_t length = padded_length(node.n_pixels);
        const auto [filter, is_new] = filter_of.try_emplace(node.n_pixels, n_filters);
        if (is_new) {
            n_filters += length;
            filter_lengths_.emplace_back(node.n_pixels, length);
        }
        pair.filter = filter->second;
        by_length[length].push_back(pair);
    }
    cap_pairs_ = core::DeviceArray<PairSequence>(cap_pairs);
    caps_ = std::make_unique<fft::cuda::CapTransforms<R>>(std::move(caps));
    scratch_size_ = std::max(scratch_size_, caps_->scratch_size());
    for (const auto& [length, pairs] : by_length) {
        const std::int64_t at_once = std::clamp<std::int64_t>(most_scratch / length, 1, most_rings);
        for (std::size_t first = 0; first < pairs.size(); first += at_once) {
            const std::size_t end = std::min(pairs.size(), first + static_cast<std::size_t>(at_once));
            const auto count = static_cast<std::int64_t>(end - first);
            const std::vector<PairSequence> part(pairs.begin() + first, pairs.begin() + end);
            std::int64_t n_modes = 0;
            for (const PairSequence& pair : part) n_modes = std::max<std::int64_t>(n_modes, pair.n_modes);
            batches_.push_back({length, count, n_modes, core::DeviceArray<PairSequence>(part),
                                FftBatch(length, count, fft::cuda::complex_to_complex<R>, length, length)});
            library_bytes_ = std::max(library_bytes_, batches_.back().transform.work_bytes());
            scratch_size_ = std::max(scratch_size_, length * count);
        }
    }
    filters_ = core::DeviceArray<Complex<R>>(n_filters);
}

template <class R>
void RingTransforms<R>::make_filters() {
    const core::OwnStream stream;
    core::DeviceArray<double2> sequences;
    core::DeviceArray<char> library;
    std::int64_t offset = 0;
    for (std::size_t first = 0; first < filter_lengths_.size();) {
        const std::int64_t length = filter_lengths_[first].second;
        std::size_t end = first;
        while (end < filter_lengths_.size() && filter_lengths_[end].second == length &&
               static_cast<std::int64_t>(end - first + 1) * length <= most_scratch / 4)
            ++end;
        end = std::max(end, first + 1);
        const auto count = static_cast<std::int64_t>(end - first);
        const core::DeviceArray<std::pair<std::int64_t, std::int64_t>> lengths(
            std::vector<std::pair<std::int64_t, std::int64_t>>(filter_lengths_.begin() + first,
                                                               filter_lengths_.begin() + end));
        sequences.reserve(count * length);
        const FftBatch transform(length, count, CUFFT_Z2Z, length, length);
        library.reserve(static_cast<std::int64_t>(transform.work_bytes()));
        chirp_kernel<<<grid_of(length, count), ring_threads, 0, stream.get()>>>(lengths.data(), length,
                                                                                sequences.data());
        core::check_launch("chirp filters");
        transform.transform(sequences.data(), CUFFT_FORWARD, library.data(), stream.get());
        store_filters_kernel<R><<<blocks_of(count * length), ring_threads, 0, stream.get()>>>(
            sequences.data(), count * length, 1.0 / static_cast<double>(length), filters_.data() + offset);
        core::check_launch("chirp filters");
        core::check_cuda(cudaStreamSynchronize(stream.get()), "chirp filters");
        offset += count * length;
        first = end;
    }
}

template <class R>
std::int64_t RingTransforms<R>::bytes() const {
    std::int64_t sum = filters_.bytes() + cap_pairs_.bytes() + caps_->bytes();
    for (const RingRun& run : runs_) sum += run.rings.bytes();
    for (const PairBatch& batch : batches_) sum += batch.pairs.bytes();
    return sum;
}

template <class R>
template <int Maps, class T>
void RingTransforms<R>::maps_to_modes(const T* maps, std::int64_t map_stride, ModesOfMaps<Complex<R>> modes,
                                      Complex<R>* scratch, void* library, cudaStream_t stream) const {
    const std::lock_guard lock(library_mutex_);
    caps_->template to_bins<Maps>(maps, map_stride, true, StorePairs<R>{cap_pairs_.data(), modes}, scratch,
                                  stream);
    for (int map = 0; map < Maps; ++map)
        for (const PairBatch& batch : batches_) {
            const dim3 blocks = grid_of(batch.length, batch.n_pairs);
            const PairSequence* const pairs = batch.pairs.data();
            read_pairs_kernel<T, R>
                <<<blocks, ring_threads, 0, stream>>>(pairs, batch.length, maps + map * map_stride, scratch);
            batch.transform.transform(scratch, CUFFT_FORWARD, library, stream);
            filter_pairs_kernel<R>
                <<<blocks, ring_threads, 0, stream>>>(pairs, batch.length, filters_.data(), true, scratch);
            batch.transform.transform(scratch, CUFFT_INVERSE, library, stream);
            unfold_pairs_kernel<R><<<grid_of(batch.n_modes, batch.n_pairs), ring_threads, 0, stream>>>(
                pairs, batch.length, scratch, modes.modes + map * modes.stride);
            core::check_launch("rings of the caps");
        }
    for (const RingRun& run : runs_) {
        const std::int64_t n_values = run.n_rings * run.n_pixels;
        for (int map = 0; map < Maps; ++map) {
            const T* const pixels = maps + map * map_stride + run.first_pixel;
            Complex<R>* const bins = scratch + map * scratch_size_;
            R* values = reinterpret_cast<R*>(bins + run.n_rings * (run.n_pixels / 2 + 1));
            if (usable<R>(pixels))
                values = const_cast<R*>(reinterpret_cast<const R*>(pixels));
            else
                convert_kernel<<<blocks_of(n_values), ring_threads, 0, stream>>>(pixels, n_values, values);
            run.transform.to_bins(values, bins, library, stream);
        }
        unfold_run_kernel<R, Maps><<<grid_of(run.n_modes, run.n_rings), ring_threads, 0, stream>>>(
            run.rings.data(), run.n_pixels, scratch, scratch_size_, modes);
        core::check_launch("rings of one length");
    }
}

template <class R>
template <int Maps, class T>
void RingTransforms<R>::modes_to_maps(ModesOfMaps<const Complex<R>> modes, T* maps, std::int64_t map_stride,
                                      Complex<R>* scratch, void* library, cudaStream_t stream) const {
    const std::lock_guard lock(library_mutex_);
    caps_->template to_pixels<Maps>(FoldedPairs<R>{cap_pairs_.data(), modes}, maps, map_stride, scratch,
                                    stream);
    for (int map = 0; map < Maps; ++map)
        for (const PairBatch& batch : batches_) {
            const dim3 blocks = grid_of(batch.length, batch.n_pairs);
            const PairSequence* const pairs = batch.pairs.data();
            fold_pairs_kernel<R><<<blocks, ring_threads, 0, stream>>>(
                pairs, batch.length, modes.modes + map * modes.stride, scratch);
            batch.transform.transform(scratch, CUFFT_FORWARD, library, stream);
            filter_pairs_kernel<R>
                <<<blocks, ring_threads, 0, stream>>>(pairs, batch.length, filters_.data(), false, scratch);
            batch.transform.transform(scratch, CUFFT_INVERSE, library, stream);
            write_pairs_kernel<T, R>
                <<<blocks, ring_threads, 0, stream>>>(pairs, batch.length, scratch, maps + map * map_stride);
            core::check_launch("rings of the caps");
        }
    for (const RingRun& run : runs_) {
        const std::int64_t n_values = run.n_rings * run.n_pixels, n_bins = run.n_pixels / 2 + 1;
        fold_run_kernel<R, Maps><<<grid_of(n_bins, run.n_rings), ring_threads, 0, stream>>>(
            run.rings.data(), run.n_pixels, modes, scratch, scratch_size_);
        for (int map = 0; map < Maps; ++map) {
            T* const pixels = maps + map * map_stride + run.first_pixel;
            Complex<R>* const bins = scratch + map * scratch_size_;
            R* values = reinterpret_cast<R*>(bins + run.n_rings * n_bins);
            const bool direct = usable<R>(pixels);
            if (direct) values = reinterpret_cast<R*>(pixels);
            run.transform.to_values(bins, values, library, stream);
            if (!direct)
                convert_kernel<<<blocks_of(n_values), ring_threads, 0, stream>>>(values, n_values, pixels);
        }
        core::check_launch("rings of one length");
    }
}

template <class R>
template <class T>
void RingTransforms<R>::transform(const T* maps, std::int64_t map_stride, std::int64_t n_maps,
                                  ModesOfMaps<Complex<R>> modes, Complex<R>* scratch, void* library,
                                  cudaStream_t stream) const {
    with_number_of_maps(n_maps, [&](auto number) {
        maps_to_modes<number>(maps, map_stride, modes, scratch, library, stream);
    });
}

template <class R>
template <class T>
void RingTransforms<R>::transform_back(ModesOfMaps<const Complex<R>> modes, T* maps, std::int64_t map_stride,
                                       std::int64_t n_maps, Complex<R>* scratch, void* library,
                                       cudaStream_t stream) const {
    with_number_of_maps(n_maps, [&](auto number) {
        modes_to_maps<number>(modes, maps, map_stride, scratch, library, stream);
    });
}

template class RingTransforms<float>;
template class RingTransforms<double>;
#define ZONAL_INSTANTIATE(R, T)                                                                           \
    template void RingTransforms<R>::transform(const T*, std::int64_t, std::int64_t,                      \
                                               ModesOfMaps<Complex<R>>, Complex<R>*, void*, cudaStream_t) \
        const;                                                                                            \
    template void RingTransforms<R>::transform_back(ModesOfMaps<const Complex<R>>, T*, std::int64_t,      \
                                                    std::int64_t, Complex<R>*, void*, cudaStream_t) const;
ZONAL_INSTANTIATE(float, float)
ZONAL_INSTANTIATE(float, double)
ZONAL_INSTANTIATE(double, float)
ZONAL_INSTANTIATE(double, double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::radial::cuda
