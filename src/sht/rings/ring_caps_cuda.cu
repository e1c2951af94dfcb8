#include "sht/rings/ring_caps_cuda.cuh"

#include <algorithm>
#include <map>

#include "fft/dft_registers.cuh"
#include "sht/rings/ring_kernels.cuh"

namespace zonal::sht::cuda {
namespace {

constexpr int fewest_threads = 128;

/// A block's shape for parts padded to P.
template <int P>
struct CapBlock {
    using Dft = SharedDft<P>;
    static constexpr int sequences = std::max(1, fewest_threads / Dft::threads);
    static constexpr int threads = sequences * Dft::threads;
    static constexpr int shared_bytes = sequences * Dft::memory_size * static_cast<int>(sizeof(double2));
};

/// exp(2 pi i j / n)
__device__ double2 root_of(std::int64_t j, std::int64_t n) {
    double2 root;
    sincospi(2.0 * static_cast<double>(j) / static_cast<double>(n), &root.y, &root.x);
    return root;
}

/// One entry k of all parts of a pair per thread: s_c[k].
__global__ void fold_caps_kernel(const PairGeometry* pairs, const CapPair* caps, const std::int64_t* origin,
                                 const PairModes* fourier, double2* sequences) {
    const CapPair cap = caps[blockIdx.y];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= cap.part_length) return;
    const PairGeometry pair = pairs[cap.pair];
    double2 bins[4] = {};
    for (int d = 0; d < cap.n_parts; ++d) {
        const std::int64_t bin = k + static_cast<std::int64_t>(d) * cap.part_length, n = pair.n_pixels;
        for (std::int64_t m = bin; m <= pair.last_m; m += n) {
            const TurnedModes f(fourier, pair, origin[m] + cap.pair, m);
            bins[d] = bins[d] + double2{f.north.x - f.south.y, f.north.y + f.south.x};
        }
        for (std::int64_t m = n - bin; m <= pair.last_m; m += n) {
            const TurnedModes f(fourier, pair, origin[m] + cap.pair, m);
            bins[d] = bins[d] + double2{f.north.x + f.south.y, f.south.x - f.north.y};
        }
    }
    double2* const out = sequences + cap.sequence + k;
    if (cap.n_parts == 1) {
        out[0] = bins[0];
        return;
    }
    const double2 root = root_of(k, pair.n_pixels);
    if (cap.n_parts == 2) {
        out[0] = bins[0] + bins[1];
        out[cap.part_length] = times(bins[0] - bins[1], root);
        return;
    }
    dft<4, true>(bins);
    const double2 square = times(root, root);
    out[0] = bins[0];
    out[cap.part_length] = times(bins[1], root);
    out[2 * cap.part_length] = times(bins[2], square);
    out[3 * cap.part_length] = times(bins[3], times(square, root));
}

/// The ring's bin `bin` from the parts' spectra: sum_c exp(-2 pi i c bin / n) U_c[bin % length].
__device__ double2 bin_of(const CapPair& cap, const double2* parts, std::int64_t bin) {
    const std::int64_t d = bin / cap.part_length, k = bin - d * cap.part_length;
    double2 sum = parts[k];
    if (cap.n_parts == 1) return sum;
    const double2 root = conjugate(root_of(bin, static_cast<std::int64_t>(cap.n_parts) * cap.part_length));
    double2 power = root;
    for (int c = 1; c < cap.n_parts; ++c) {
        sum = sum + times(parts[c * static_cast<std::int64_t>(cap.part_length) + k], power);
        power = times(power, root);
    }
    return sum;
}

/// The transpose of fold_caps_kernel: F_m of the rings that the cap has, one m per thread.
__global__ void unfold_caps_kernel(const PairGeometry* pairs, const CapPair* caps, const std::int64_t* origin,
                                   const double2* sequences, PairModes* fourier) {
    const CapPair cap = caps[blockIdx.y];
    const PairGeometry pair = pairs[cap.pair];
    const std::int64_t m = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x,
                       n = pair.n_pixels;
    if (m > pair.last_m) return;
    const std::int64_t k = m % n;
    const double2* const parts = sequences + cap.sequence;
    const double2 up = bin_of(cap, parts, k), down = bin_of(cap, parts, k == 0 ? 0 : n - k);
    store_modes(pair, cap.has_north, cap.has_south, m, up, down, fourier[origin[m] + cap.pair]);
}

/// Spectra of the parts' filters, as SharedDft leaves them, over the padded length; and the chirps.
template <int P>
__global__ void __launch_bounds__(CapBlock<P>::threads)
    filters_kernel(const CapPair* caps, const CapPart* parts, int n_parts, double2* chirps,
                   double2* filters) {
    extern __shared__ double2 memory[];
    using Dft = SharedDft<P>;
    const int sequence = threadIdx.x / Dft::threads, t = threadIdx.x % Dft::threads;
    const int index = blockIdx.x * CapBlock<P>::sequences + sequence;
    const CapPart which = parts[min(index, n_parts - 1)];
    const CapPair cap = caps[which.cap];
    double2 v[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        const int j = t + Dft::threads * r, distance = min(j, P - j);
        const double2 value = chirp(distance, cap.part_length);
        v[r] = distance < cap.part_length ? conjugate(value) : double2{0, 0};
        if (index < n_parts && which.part == 0 && j < cap.part_length) chirps[cap.chirp + j] = value;
    }
    Dft::forward(v, t, memory + sequence * Dft::memory_size);
    if (index >= n_parts || which.part != 0) return;
    constexpr double scale = 1.0 / P;
#pragma unroll
    for (int r = 0; r < 16; ++r)
        filters[cap.filter + Dft::threads * r + t] = {scale * v[r].x, scale * v[r].y};
}

/// One part of a pair per P / 16 threads. Synthesis: from s_c to pixels; adjoint: from pixels to U_c.
template <int P, bool Adjoint, class T>
__global__ void __launch_bounds__(CapBlock<P>::threads)
    caps_kernel(const PairGeometry* pairs, const CapPair* caps, const CapPart* parts, int n_parts,
                const double2* chirps, const double2* filters, double2* sequences, T* map, bool weighted) {
    extern __shared__ double2 memory[];
    using Dft = SharedDft<P>;
    const int sequence = threadIdx.x / Dft::threads, t = threadIdx.x % Dft::threads;
    const int index = blockIdx.x * CapBlock<P>::sequences + sequence;
    const CapPart which = parts[min(index, n_parts - 1)];
    const CapPair cap = caps[which.cap];
    const PairGeometry pair = pairs[cap.pair];
    const int length = cap.part_length;
    double2* const part = sequences + cap.sequence + static_cast<std::int64_t>(which.part) * length;
    const auto turn = [](double2 factor) { return Adjoint ? conjugate(factor) : factor; };
    double2 v[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        const int k = t + Dft::threads * r;
        v[r] = {0, 0};
        if (r >= 8 || k >= length) continue;  // 2 length - 1 <= P
        double2 value{0, 0};
        if constexpr (Adjoint) {
            const std::int64_t pixel = static_cast<std::int64_t>(cap.n_parts) * k + which.part;
            if (cap.has_north)
                value.x =
                    (weighted ? pair.north_weight : 1) * static_cast<double>(map[pair.north_pixel + pixel]);
            if (cap.has_south)
                value.y =
                    (weighted ? pair.south_weight : 1) * static_cast<double>(map[pair.south_pixel + pixel]);
        } else {
            value = part[k];
        }
        v[r] = times(value, turn(chirps[cap.chirp + k]));
    }
    double2* const mine = memory + sequence * Dft::memory_size;
    Dft::forward(v, t, mine);
#pragma unroll
    for (int r = 0; r < 16; ++r) v[r] = times(v[r], turn(filters[cap.filter + Dft::threads * r + t]));
    Dft::inverse(v, t, mine);
    if (index >= n_parts) return;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        const int k = t + Dft::threads * r;
        if (k >= length) continue;
        const double2 value = times(v[r], turn(chirps[cap.chirp + k]));
        if constexpr (Adjoint) {
            part[k] = value;
        } else {
            const std::int64_t pixel = static_cast<std::int64_t>(cap.n_parts) * k + which.part;
            if (cap.has_north) map[pair.north_pixel + pixel] = static_cast<T>(value.x);
            if (cap.has_south) map[pair.south_pixel + pixel] = static_cast<T>(value.y);
        }
    }
}

/// Calls visit with the padded length as a constant.
template <class Visit>
void with_padded_length(int padded, const Visit& visit) {
    switch (padded) {
        case 256:
            return visit(std::integral_constant<int, 256>());
        case 512:
            return visit(std::integral_constant<int, 512>());
        case 1024:
            return visit(std::integral_constant<int, 1024>());
        case 2048:
            return visit(std::integral_constant<int, 2048>());
        default:
            return visit(std::integral_constant<int, 4096>());
    }
}

/// Launches a kernel over the parts of a class.
template <int P, class Kernel, class... Arguments>
void launch(Kernel* kernel, std::int64_t n_parts, cudaStream_t stream, Arguments... arguments) {
    using Block = CapBlock<P>;
    core::check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::shared_bytes),
        "asking for shared memory");
    const auto blocks = static_cast<unsigned>((n_parts + Block::sequences - 1) / Block::sequences);
    kernel<<<blocks, Block::threads, Block::shared_bytes, stream>>>(arguments...);
    core::check_launch("rings of the caps");
}

std::int32_t padded_part(std::int64_t length) {
    std::int32_t padded = 256;
    while (padded < 2 * length - 1) padded *= 2;
    return padded;
}

}  // namespace

std::int64_t RingCaps::longest_part() {
    return core::device_limits().shared_memory_per_block >= CapBlock<4096>::shared_bytes ? 2048 : 1024;
}

RingCaps::RingCaps(std::vector<CapPair> caps, const std::vector<PairGeometry>& geometry,
                   const PairGeometry* pairs, const std::int64_t* fourier_origin)
    : pairs_(pairs), fourier_origin_(fourier_origin) {
    struct Tables {
        std::int64_t chirp, filter;
    };
    std::map<std::int64_t, Tables> tables_of;
    std::map<std::int32_t, std::vector<CapPart>, std::greater<>> parts_of;
    std::int64_t n_chirps = 0, n_filters = 0;
    for (std::size_t k = 0; k < caps.size(); ++k) {
        CapPair& cap = caps[k];
        const std::int64_t n = geometry[cap.pair].n_pixels;
        cap.n_parts = cap_parts(n);
        cap.part_length = static_cast<std::int32_t>(n / cap.n_parts);
        cap.sequence = n_sequence_;
        n_sequence_ += n;
        longest_ = std::max<std::int64_t>(longest_, cap.part_length);
        last_m_ = std::max<std::int64_t>(last_m_, geometry[cap.pair].last_m);
        const std::int32_t padded = padded_part(cap.part_length);
        const auto [tables, is_new] = tables_of.try_emplace(cap.part_length, Tables{n_chirps, n_filters});
        if (is_new) n_chirps += cap.part_length, n_filters += padded;
        cap.chirp = tables->second.chirp;
        cap.filter = tables->second.filter;
        for (std::int32_t c = 0; c < cap.n_parts; ++c)
            parts_of[padded].push_back({static_cast<std::int32_t>(k), c});
    }
    if (caps.empty()) return;
    caps_ = core::DeviceArray<CapPair>(caps);
    chirps_ = core::DeviceArray<double2>(n_chirps);
    filters_ = core::DeviceArray<double2>(n_filters);
    const core::OwnStream stream;
    for (const auto& [padded, parts] : parts_of) {
        classes_.push_back({padded, core::DeviceArray<CapPart>(parts)});
        with_padded_length(padded, [&](auto p) {
            launch<p>(&filters_kernel<p>, classes_.back().parts.size(), stream.get(), caps_.data(),
                      classes_.back().parts.data(), static_cast<int>(parts.size()), chirps_.data(),
                      filters_.data());
        });
    }
    core::check_cuda(cudaStreamSynchronize(stream.get()), "chirp filters");
}

template <class T>
void RingCaps::synthesize(const PairModes* fourier, T* map, double* buffer, cudaStream_t stream) const {
    if (classes_.empty()) return;
    auto* const sequences = reinterpret_cast<double2*>(buffer);
    fold_caps_kernel<<<dim3(blocks_of(longest_), static_cast<unsigned>(caps_.size())), ring_threads, 0,
                       stream>>>(pairs_, caps_.data(), fourier_origin_, fourier, sequences);
    core::check_launch("rings of the caps");
    for (const CapClass& one : classes_)
        with_padded_length(one.padded, [&](auto p) {
            launch<p>(&caps_kernel<p, false, T>, one.parts.size(), stream, pairs_, caps_.data(),
                      one.parts.data(), static_cast<int>(one.parts.size()), chirps_.data(), filters_.data(),
                      sequences, map, false);
        });
}

template <class T>
void RingCaps::adjoint(const T* map, bool weighted, PairModes* fourier, double* buffer,
                       cudaStream_t stream) const {
    if (classes_.empty()) return;
    auto* const sequences = reinterpret_cast<double2*>(buffer);
    for (const CapClass& one : classes_)
        with_padded_length(one.padded, [&](auto p) {
            launch<p>(&caps_kernel<p, true, const T>, one.parts.size(), stream, pairs_, caps_.data(),
                      one.parts.data(), static_cast<int>(one.parts.size()), chirps_.data(), filters_.data(),
                      sequences, map, weighted);
        });
    unfold_caps_kernel<<<dim3(blocks_of(last_m_ + 1), static_cast<unsigned>(caps_.size())), ring_threads, 0,
                         stream>>>(pairs_, caps_.data(), fourier_origin_, sequences, fourier);
    core::check_launch("rings of the caps");
}

template void RingCaps::synthesize(const PairModes*, float*, double*, cudaStream_t) const;
template void RingCaps::synthesize(const PairModes*, double*, double*, cudaStream_t) const;
template void RingCaps::adjoint(const float*, bool, PairModes*, double*, cudaStream_t) const;
template void RingCaps::adjoint(const double*, bool, PairModes*, double*, cudaStream_t) const;

}  // namespace zonal::sht::cuda
