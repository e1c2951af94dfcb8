#include "sht/rings/ring_stage_cuda.cuh"

#include <algorithm>
#include <limits>
#include <map>

#include "sht/rings/ring_kernels.cuh"

namespace zonal::sht::cuda {
namespace {

using fft::cuda::FftBatch;

/// Fewer rings than this go through Bluestein's algorithm.
constexpr std::int64_t shortest_run = 16;
/// At once through the FFT library.
constexpr std::int64_t all_rings = std::numeric_limits<std::int64_t>::max();
/// Pairs of a batch at most: of the grid's dimension that counts them, and of the scratch memory.
constexpr std::int64_t most_pairs = 32768;
constexpr std::int64_t most_batch_bytes = std::int64_t{1} << 30;

/// The smallest 2^k or 3 2^k that holds a linear convolution of n values.
std::int64_t padded_length(std::int64_t n) {
    std::int64_t power = 4;
    while (power < 2 * n - 1) power *= 2;
    return power / 4 * 3 >= 2 * n - 1 ? power / 4 * 3 : power;
}

/// Blocks over (bins, rings); the rings may be more than one dimension counts.
dim3 run_blocks(std::int64_t count, std::int64_t n_rings) {
    const std::int64_t y = std::min(n_rings, most_pairs);
    return {blocks_of(count), static_cast<unsigned>(y), static_cast<unsigned>((n_rings + y - 1) / y)};
}

/// The pairs that a run's rings make up, in the order of the pairs; empty where the other ring of one is not
/// in the run, or where orders alias.
std::vector<RunPair> whole_pairs(const std::vector<RunRing>& rings, const std::vector<PairGeometry>& pairs) {
    std::map<std::int32_t, RunPair> found;
    for (std::size_t k = 0; k < rings.size(); ++k) {
        RunPair& entry = found.try_emplace(rings[k].pair, RunPair{rings[k].pair, -1, -1}).first->second;
        (rings[k].south ? entry.south : entry.north) = static_cast<std::int32_t>(k);
    }
    std::vector<RunPair> result;
    for (const auto& [pair, entry] : found) {
        const PairGeometry& geometry = pairs[pair];
        const bool whole = (entry.north >= 0) == (geometry.north_pixel >= 0) &&
                           (entry.south >= 0) == (geometry.south_pixel >= 0);
        if (!whole || 2 * geometry.last_m > geometry.n_pixels) return {};
        result.push_back(entry);
    }
    return result;
}

/// Blocks of a run's fast kernels.
dim3 tiles_of(std::int64_t n_orders, std::int64_t n_pairs) {
    return {static_cast<unsigned>((n_orders + tile_orders - 1) / tile_orders),
            static_cast<unsigned>((n_pairs + tile_pairs - 1) / tile_pairs)};
}

/// Where the FFT library may read and write a run's pixels: the map itself where it is double and aligned to
/// a complex number.
bool usable(const double* pixels) {
    return reinterpret_cast<std::uintptr_t>(pixels) % sizeof(double2) == 0;
}
bool usable(const float*) {
    return false;
}

}  // namespace

RunTransforms::RunTransforms(std::int64_t n_pixels, std::int64_t n_rings)
    : synthesis(n_pixels, n_rings, CUFFT_Z2D, n_pixels / 2 + 1, n_pixels),
      adjoint(n_pixels, n_rings, CUFFT_D2Z, n_pixels, n_pixels / 2 + 1) {}

RingStage::RingStage(const Grid& grid, const RingPairs& rings, const std::int64_t* fourier_origin)
    : RingStage(grid, rings, fourier_origin, {0, static_cast<std::int64_t>(rings.pairs.size())}, all_rings,
                *std::make_unique<RunTransformsBySize>()) {}

RingStage::RingStage(const Grid& grid, const RingPairs& rings, const std::int64_t* fourier_origin,
                     PairRange range, std::int64_t most_rings, RunTransformsBySize& transforms)
    : in_run_(grid.rings().size(), false),
      fourier_origin_(fourier_origin),
      n_orders_(range.end == 0 ? 1 : rings.last_m[(range.end - 1) / block_size] + 1) {
    for (std::size_t p = 0; p < rings.pairs.size(); ++p) {
        const Ring* north = rings.pairs[p].north >= 0 ? &grid.rings()[rings.pairs[p].north] : nullptr;
        const Ring* south = rings.pairs[p].south >= 0 ? &grid.rings()[rings.pairs[p].south] : nullptr;
        const Ring* any = north != nullptr ? north : south;
        host_pairs_.push_back({north != nullptr ? north->phi_0 : 0, south != nullptr ? south->phi_0 : 0,
                               north != nullptr ? north->weight : 0, south != nullptr ? south->weight : 0,
                               north != nullptr ? north->first_pixel : -1,
                               south != nullptr ? south->first_pixel : -1,
                               static_cast<std::int32_t>(any != nullptr ? any->n_pixels : 0),
                               static_cast<std::int32_t>(rings.last_m[p / block_size])});
    }
    pairs_ = core::DeviceArray<PairGeometry>(host_pairs_);
    find_runs(grid, rings, range, most_rings, transforms);
    make_batches(rings, range);
    make_filters();
}

void RingStage::find_runs(const Grid& grid, const RingPairs& rings, PairRange range, std::int64_t most_rings,
                          RunTransformsBySize& transforms) {
    std::vector<RunRing> pair_of(grid.rings().size());
    std::vector<std::int64_t> order;
    for (std::int64_t p = range.first; p < range.end; ++p)
        for (const bool south : {false, true}) {
            const std::int64_t ring = south ? rings.pairs[p].south : rings.pairs[p].north;
            if (ring < 0) continue;
            pair_of[ring] = {static_cast<std::int32_t>(p), south};
            order.push_back(ring);
        }
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return grid.rings()[a].first_pixel < grid.rings()[b].first_pixel;
    });
    using Piece = std::vector<std::int64_t>;
    std::map<std::int64_t, std::vector<Piece>> by_length;
    Piece piece;
    const auto end_piece = [&] {
        const auto size = static_cast<std::int64_t>(piece.size());
        for (std::int64_t first = 0; size >= shortest_run && first < size; first += most_rings) {
            const std::int64_t end = size - first > most_rings ? first + most_rings : size;
            by_length[grid.rings()[piece.front()].n_pixels].emplace_back(piece.begin() + first,
                                                                         piece.begin() + end);
        }
        piece.clear();
    };
    // Northern and southern rings are cut alike, so that pairs stay whole.
    const auto side = [&](std::int64_t ring) {
        const RingPair pair = rings.pairs[pair_of[ring].pair];
        return pair.north < 0 || pair.south < 0 ? 2 : pair_of[ring].south;
    };
    for (const std::int64_t index : order) {
        const Ring& ring = grid.rings()[index];
        if (!piece.empty()) {
            const Ring& last = grid.rings()[piece.back()];
            if (ring.n_pixels != last.n_pixels || ring.first_pixel != last.first_pixel + last.n_pixels ||
                (most_rings < all_rings && side(index) != side(piece.back())))
                end_piece();
        }
        piece.push_back(index);
    }
    end_piece();
    for (const auto& [length, pieces] : by_length) add_run(grid, pieces, pair_of, transforms);
}

void RingStage::add_run(const Grid& grid, const std::vector<std::vector<std::int64_t>>& pieces,
                        const std::vector<RunRing>& pair_of, RunTransformsBySize& transforms) {
    RingRun run{grid.rings()[pieces.front().front()].n_pixels, 0, {}, {}, {}};
    const std::int64_t n = run.n_pixels, n_bins = n / 2 + 1;
    std::vector<RunRing> entries;
    for (const auto& rings : pieces) {
        const auto n_rings = static_cast<std::int64_t>(rings.size());
        auto& both = transforms[{n, n_rings}];
        if (!both) both = std::make_shared<const RunTransforms>(n, n_rings);
        for (const FftBatch* transform : {&both->synthesis, &both->adjoint})
            sizes_.library_bytes =
                std::max(sizes_.library_bytes, static_cast<std::int64_t>(transform->work_bytes()));
        run.pieces.push_back({grid.rings()[rings.front()].first_pixel, n_rings, both});
        run.n_rings += n_rings;
        for (const std::int64_t ring : rings) {
            entries.push_back(pair_of[ring]);
            in_run_[ring] = true;
        }
    }
    run.rings = core::DeviceArray<RunRing>(entries);
    run.pairs = core::DeviceArray<RunPair>(whole_pairs(entries, host_pairs_));
    sizes_.buffer = std::max(sizes_.buffer, run.n_rings * (2 * n_bins + n));
    runs_.push_back(std::move(run));
}

void RingStage::make_batches(const RingPairs& rings, PairRange range) {
    std::map<std::int64_t, std::vector<BluesteinPair>> by_length;
    std::map<std::int64_t, std::int64_t> filter_of;
    std::vector<fft::cuda::CapPair> caps;
    const std::int64_t longest_part = fft::cuda::CapTransforms<double>::longest_part();
    for (std::int64_t p = range.first; p < range.end; ++p) {
        const RingPair pair = rings.pairs[p];
        const bool north = pair.north >= 0 && !in_run_[pair.north],
                   south = pair.south >= 0 && !in_run_[pair.south];
        if (!north && !south) continue;
        const PairGeometry& geometry = host_pairs_[p];
        const std::int64_t n = geometry.n_pixels;
        if (n / fft::cuda::cap_parts(n) <= longest_part &&
            static_cast<std::int64_t>(caps.size()) < most_pairs) {
            caps.push_back({{north ? geometry.north_pixel : -1, south ? geometry.south_pixel : -1},
                            {geometry.north_weight, geometry.south_weight},
                            static_cast<std::int32_t>(p),
                            geometry.n_pixels,
                            geometry.last_m + 1});
            continue;
        }
        const std::int64_t length = padded_length(n);
        const auto [filter, is_new] = filter_of.try_emplace(n, n_filters_);
        if (is_new) n_filters_ += length;
        by_length[length].push_back({static_cast<std::int32_t>(p), north, south, filter->second});
    }
    caps_ = std::make_unique<fft::cuda::CapTransforms<double>>(std::move(caps));
    sizes_.buffer = std::max(sizes_.buffer, 2 * caps_->scratch_size());
    for (const auto& [length, pairs] : by_length) {
        const std::int64_t at_once =
            std::clamp<std::int64_t>(most_batch_bytes / (16 * length), 1, most_pairs);
        for (std::size_t first = 0; first < pairs.size(); first += at_once) {
            const std::size_t end = std::min(pairs.size(), first + static_cast<std::size_t>(at_once));
            const std::vector<BluesteinPair> part(pairs.begin() + first, pairs.begin() + end);
            const auto count = static_cast<std::int64_t>(part.size());
            batches_.push_back({length, count, core::DeviceArray<BluesteinPair>(part),
                                FftBatch(length, count, CUFFT_Z2Z, length, length)});
            sizes_.library_bytes = std::max(
                sizes_.library_bytes, static_cast<std::int64_t>(batches_.back().transform.work_bytes()));
            sizes_.buffer = std::max(sizes_.buffer, 2 * length * count);
        }
    }
}

void RingStage::make_filters() {
    if (n_filters_ == 0) return;
    filters_ = core::DeviceArray<double2>(n_filters_);
    core::DeviceArray<double2> sequences(sizes_.buffer / 2 + 1);
    core::DeviceArray<char> library(sizes_.library_bytes);
    const core::OwnStream stream;
    for (const BluesteinBatch& batch : batches_) {
        const dim3 blocks(blocks_of(batch.length), static_cast<unsigned>(batch.n_pairs));
        chirp_filter_kernel<<<blocks, ring_threads, 0, stream.get()>>>(pairs_.data(), batch.pairs.data(),
                                                                       batch.length, sequences.data());
        core::check_launch("chirp filters");
        batch.transform.transform(sequences.data(), CUFFT_FORWARD, library.data(), stream.get());
        store_filters_kernel<<<blocks, ring_threads, 0, stream.get()>>>(batch.pairs.data(), batch.length,
                                                                        sequences.data(), filters_.data());
        core::check_launch("chirp filters");
    }
    core::check_cuda(cudaStreamSynchronize(stream.get()), "chirp filters");
}

template <class T>
void RingStage::synthesize(const PairModes* fourier, T* map, const RingBuffers& scratch,
                           cudaStream_t stream) const {
    const std::lock_guard lock(library_mutex_);
    double* const buffer = scratch.buffer.data();
    auto* const complex = reinterpret_cast<double2*>(buffer);
    char* const library = scratch.library.data();
    caps_->template to_pixels<1>(CapBins{pairs_.data(), fourier_origin_, fourier}, map, 0, complex, stream);
    for (const BluesteinBatch& batch : batches_) {
        const dim3 blocks(blocks_of(batch.length), static_cast<unsigned>(batch.n_pairs));
        fold_kernel<<<blocks, ring_threads, 0, stream>>>(pairs_.data(), batch.pairs.data(), fourier_origin_,
                                                         fourier, batch.length, complex);
        batch.transform.transform(complex, CUFFT_FORWARD, library, stream);
        filter_kernel<<<blocks, ring_threads, 0, stream>>>(batch.pairs.data(), filters_.data(), batch.length,
                                                           false, complex);
        batch.transform.transform(complex, CUFFT_INVERSE, library, stream);
        write_pixels_kernel<T><<<blocks, ring_threads, 0, stream>>>(pairs_.data(), batch.pairs.data(),
                                                                    batch.length, complex, map);
        core::check_launch("rings of the caps");
    }
    for (const RingRun& run : runs_) {
        const std::int64_t n_bins = run.n_pixels / 2 + 1;
        if (run.pairs.size() > 0)
            paired_spectrum_kernel<<<tiles_of(n_bins, run.pairs.size()), ring_threads, 0, stream>>>(
                pairs_.data(), run.pairs.data(), fourier_origin_, fourier, run.pairs.size(), complex);
        else
            run_spectrum_kernel<<<run_blocks(n_bins, run.n_rings), ring_threads, 0, stream>>>(
                pairs_.data(), run.rings.data(), fourier_origin_, fourier, run.n_rings, complex);
        double2* bins = complex;
        for (const RunPiece& piece : run.pieces) {
            T* pixels = map + piece.first_pixel;
            const std::int64_t n_values = piece.n_rings * run.n_pixels;
            const bool direct = usable(pixels);
            double* out = direct ? reinterpret_cast<double*>(pixels) : buffer + 2 * run.n_rings * n_bins;
            const std::lock_guard of_handle(piece.transforms->mutex);
            piece.transforms->synthesis.to_values(bins, out, library, stream);
            if (!direct)
                convert_kernel<<<blocks_of(n_values), ring_threads, 0, stream>>>(out, n_values, pixels);
            bins += piece.n_rings * n_bins;
        }
        core::check_launch("rings of one length");
    }
}

template <class T>
void RingStage::adjoint(const T* map, bool weighted, PairModes* fourier, const RingBuffers& scratch,
                        cudaStream_t stream) const {
    const std::lock_guard lock(library_mutex_);
    double* const buffer = scratch.buffer.data();
    auto* const complex = reinterpret_cast<double2*>(buffer);
    char* const library = scratch.library.data();
    caps_->template to_bins<1>(map, 0, weighted, CapModes{pairs_.data(), fourier_origin_, fourier}, complex,
                               stream);
    for (const BluesteinBatch& batch : batches_) {
        const dim3 blocks(blocks_of(batch.length), static_cast<unsigned>(batch.n_pairs));
        const dim3 mode_blocks(blocks_of(n_orders_), static_cast<unsigned>(batch.n_pairs));
        read_pixels_kernel<T><<<blocks, ring_threads, 0, stream>>>(pairs_.data(), batch.pairs.data(),
                                                                   batch.length, map, weighted, complex);
        batch.transform.transform(complex, CUFFT_FORWARD, library, stream);
        filter_kernel<<<blocks, ring_threads, 0, stream>>>(batch.pairs.data(), filters_.data(), batch.length,
                                                           true, complex);
        batch.transform.transform(complex, CUFFT_INVERSE, library, stream);
        unfold_kernel<<<mode_blocks, ring_threads, 0, stream>>>(
            pairs_.data(), batch.pairs.data(), fourier_origin_, batch.length, complex, fourier);
        core::check_launch("rings of the caps");
    }
    for (const RingRun& run : runs_) {
        const std::int64_t n_bins = run.n_pixels / 2 + 1;
        double2* bins = complex;
        for (const RunPiece& piece : run.pieces) {
            const T* pixels = map + piece.first_pixel;
            const std::int64_t n_values = piece.n_rings * run.n_pixels;
            auto* in = const_cast<double*>(reinterpret_cast<const double*>(pixels));  // not written
            if (!usable(pixels)) {
                in = buffer + 2 * run.n_rings * n_bins;
                convert_kernel<<<blocks_of(n_values), ring_threads, 0, stream>>>(pixels, n_values, in);
            }
            const std::lock_guard of_handle(piece.transforms->mutex);
            piece.transforms->adjoint.to_bins(in, bins, library, stream);
            bins += piece.n_rings * n_bins;
        }
        if (run.pairs.size() > 0)
            paired_modes_kernel<<<tiles_of(n_orders_, run.pairs.size()), ring_threads, 0, stream>>>(
                pairs_.data(), run.pairs.data(), fourier_origin_, complex, weighted, run.pairs.size(),
                fourier);
        else
            run_modes_kernel<<<run_blocks(n_orders_, run.n_rings), ring_threads, 0, stream>>>(
                pairs_.data(), run.rings.data(), fourier_origin_, complex, weighted, run.n_rings, fourier);
        core::check_launch("rings of one length");
    }
}

template <class T>
void RingStage::adjoint_of_residual(const T* map, std::int64_t n_pixels, T* synthesized, PairModes* fourier,
                                    const RingBuffers& scratch, cudaStream_t stream) const {
    if (n_pixels > 0)
        subtract_kernel<<<blocks_of(n_pixels), ring_threads, 0, stream>>>(map, n_pixels, synthesized);
    core::check_launch("subtracting a map");
    adjoint<T>(synthesized, true, fourier, scratch, stream);
}

#define ZONAL_INSTANTIATE(T)                                                                                 \
    template void RingStage::synthesize(const PairModes*, T*, const RingBuffers&, cudaStream_t) const;       \
    template void RingStage::adjoint(const T*, bool, PairModes*, const RingBuffers&, cudaStream_t) const;    \
    template void RingStage::adjoint_of_residual(const T*, std::int64_t, T*, PairModes*, const RingBuffers&, \
                                                 cudaStream_t) const;
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::sht::cuda
