#include "radial/ring_fft/caps_cuda.cuh"

#include <algorithm>
#include <map>

#include "fft/shared_dft.cuh"
#include "radial/ring_fft/fold.cuh"

namespace zonal::radial::cuda {
namespace {

constexpr int fewest_threads = 128;

/// A block's shape for parts padded to P.
template <int P, class R>
struct CapBlock {
    using Dft = SharedDft<P, Complex<R>>;
    static constexpr int sequences = Dft::threads < fewest_threads ? fewest_threads / Dft::threads : 1;
    static constexpr int threads = sequences * Dft::threads;
    static constexpr int shared_bytes = sequences * Dft::memory_size * static_cast<int>(sizeof(Complex<R>));
};

/// exp(2 pi i j / n)
__device__ double2 root_of(std::int64_t j, std::int64_t n) {
    double2 root;
    sincospi(2.0 * static_cast<double>(j) / static_cast<double>(n), &root.y, &root.x);
    return root;
}

/// s_c[k] = exp(2 pi i c k / n) sum_{d < q} exp(2 pi i c d / q) Z[k + d n/q] of all parts c, one k per
/// thread; Z: the bins of north + i south.
template <class R>
__global__ void fold_caps_kernel(const PairSequence* pairs, const Complex<R>* modes, Complex<R>* sequences) {
    const PairSequence& pair = pairs[blockIdx.y];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= pair.part_length) return;
    double2 bins[4] = {};
    for (int d = 0; d < pair.n_parts; ++d)
        bins[d] = folded_pair<R>(pair, modes, k + static_cast<std::int64_t>(d) * pair.part_length);
    Complex<R>* const out = sequences + pair.sequence + k;
    const double2 root = root_of(k, pair.n_pixels);
    if (pair.n_parts == 2) {
        const double2 other = bins[1];
        bins[1] = difference(bins[0], other), bins[0] = sum_of(bins[0], other);
    } else if (pair.n_parts == 4) {
        dft<4, true>(bins);
    }
    double2 power{1, 0};
    for (int c = 0; c < pair.n_parts; ++c) {
        out[c * static_cast<std::int64_t>(pair.part_length)] = narrowed<R>(times(bins[c], power));
        power = times(power, root);
    }
}

/// The ring's bin `bin` from the parts' spectra: sum_c exp(-2 pi i c bin / n) U_c[bin % length].
template <class R>
__device__ double2 bin_of(const PairSequence& pair, const Complex<R>* parts, std::int64_t bin) {
    const std::int64_t k = bin % pair.part_length;
    double2 sum = widened(parts[k]);
    if (pair.n_parts == 1) return sum;
    const double2 root = conjugate(root_of(bin, pair.n_pixels));
    double2 power = root;
    for (int c = 1; c < pair.n_parts; ++c) {
        sum = sum_of(sum, times(widened(parts[c * static_cast<std::int64_t>(pair.part_length) + k]), power));
        power = times(power, root);
    }
    return sum;
}

template <class R>
__global__ void unfold_caps_kernel(const PairSequence* pairs, const Complex<R>* sequences,
                                   Complex<R>* modes) {
    const PairSequence& pair = pairs[blockIdx.y];
    const std::int64_t m = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (m >= pair.n_modes) return;
    const std::int64_t n = pair.n_pixels, k = m % n;
    const Complex<R>* const parts = sequences + pair.sequence;
    store_pair<R>(pair, m, bin_of<R>(pair, parts, k), bin_of<R>(pair, parts, k == 0 ? 0 : n - k), modes);
}

/// Spectra of the parts' filters, as SharedDft leaves them, over the padded length; and the chirps. In
/// double.
template <int P>
__global__ void __launch_bounds__(CapBlock<P, double>::threads)
    filters_kernel(const PairSequence* pairs, const CapPart* parts, int n_parts, double2* chirps,
                   double2* filters) {
    extern __shared__ double2 filter_memory[];
    using Dft = SharedDft<P, double2>;
    const int sequence = threadIdx.x / Dft::threads, t = threadIdx.x % Dft::threads;
    const int index = blockIdx.x * CapBlock<P, double>::sequences + sequence;
    const CapPart which = parts[min(index, n_parts - 1)];
    const PairSequence& pair = pairs[which.pair];
    double2 v[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        const int j = t + Dft::threads * r, distance = min(j, P - j);
        const double2 value = chirp(distance, pair.part_length);
        v[r] = distance < pair.part_length ? conjugate(value) : double2{0, 0};
        if (index < n_parts && which.part == 0 && j < pair.part_length) chirps[pair.chirp + j] = value;
    }
    Dft::forward(v, t, filter_memory + sequence * Dft::memory_size);
    if (index >= n_parts || which.part != 0) return;
    constexpr double scale = 1.0 / P;
#pragma unroll
    for (int r = 0; r < 16; ++r)
        filters[pair.filter + Dft::threads * r + t] = {scale * v[r].x, scale * v[r].y};
}

template <class R>
__global__ void narrow_kernel(const double2* from, std::int64_t count, Complex<R>* to) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < count) to[k] = narrowed<R>(from[k]);
}

/// One part of a pair per P / 16 threads. ToPixels: from s_c to pixels; else from pixels to U_c.
template <int P, bool ToPixels, class R, class T>
__global__ void __launch_bounds__(CapBlock<P, R>::threads)
    caps_kernel(const PairSequence* pairs, const CapPart* parts, int n_parts, const Complex<R>* chirps,
                const Complex<R>* filters, Complex<R>* sequences, T* map) {
    using C = Complex<R>;
    using Dft = SharedDft<P, C>;
    extern __shared__ double2 cap_memory[];
    const int sequence = threadIdx.x / Dft::threads, t = threadIdx.x % Dft::threads;
    const int index = blockIdx.x * CapBlock<P, R>::sequences + sequence;
    const CapPart which = parts[min(index, n_parts - 1)];
    const PairSequence& pair = pairs[which.pair];
    const int length = pair.part_length, n_split = pair.n_parts;
    const std::int64_t north = pair.pixel[0], south = pair.pixel[1];
    const C* const chirp = chirps + pair.chirp;
    const C* const filter = filters + pair.filter;
    C* const part = sequences + pair.sequence + static_cast<std::int64_t>(which.part) * length;
    const auto turn = [](C factor) { return ToPixels ? factor : C{factor.x, -factor.y}; };
    C v[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        const int k = t + Dft::threads * r;
        v[r] = {0, 0};
        if (r >= 8 || k >= length) continue;  // 2 length - 1 <= P
        C value{0, 0};
        if constexpr (ToPixels) {
            value = part[k];
        } else {
            const std::int64_t pixel = static_cast<std::int64_t>(n_split) * k + which.part;
            if (north >= 0)
                value.x = static_cast<R>(pair.weight[0] * static_cast<double>(map[north + pixel]));
            if (south >= 0)
                value.y = static_cast<R>(pair.weight[1] * static_cast<double>(map[south + pixel]));
        }
        v[r] = product(value, turn(chirp[k]));
    }
    C* const mine = reinterpret_cast<C*>(cap_memory) + sequence * Dft::memory_size;
    Dft::forward(v, t, mine);
#pragma unroll
    for (int r = 0; r < 16; ++r) v[r] = product(v[r], turn(filter[Dft::threads * r + t]));
    Dft::inverse(v, t, mine);
    if (index >= n_parts) return;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        const int k = t + Dft::threads * r;
        if (k >= length) continue;
        const C value = product(v[r], turn(chirp[k]));
        if constexpr (ToPixels) {
            const std::int64_t pixel = static_cast<std::int64_t>(n_split) * k + which.part;
            if (north >= 0) map[north + pixel] = static_cast<T>(value.x);
            if (south >= 0) map[south + pixel] = static_cast<T>(value.y);
        } else {
            part[k] = value;
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
template <class Block, class Kernel, class... Arguments>
void launch(Kernel* kernel, std::int64_t n_parts, cudaStream_t stream, Arguments... arguments) {
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

template <class R>
std::int64_t CapTransforms<R>::longest_part() {
    // The filters are made in double.
    return core::device_limits().shared_memory_per_block >= CapBlock<4096, double>::shared_bytes ? 2048
                                                                                                 : 1024;
}

template <class R>
CapTransforms<R>::CapTransforms(std::vector<PairSequence> pairs) {
    struct Tables {
        std::int64_t chirp, filter;
    };
    std::map<std::int64_t, Tables> tables_of;
    std::map<std::int32_t, std::vector<CapPart>, std::greater<>> by_length;
    std::int64_t n_chirps = 0, n_filters = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        PairSequence& pair = pairs[k];
        pair.n_parts = parts_of(pair.n_pixels);
        pair.part_length = pair.n_pixels / pair.n_parts;
        pair.sequence = n_sequence_;
        n_sequence_ += pair.n_pixels;
        longest_ = std::max<std::int64_t>(longest_, pair.part_length);
        most_modes_ = std::max<std::int64_t>(most_modes_, pair.n_modes);
        const std::int32_t padded = padded_part(pair.part_length);
        const auto [tables, is_new] = tables_of.try_emplace(pair.part_length, Tables{n_chirps, n_filters});
        if (is_new) n_chirps += pair.part_length, n_filters += padded;
        pair.chirp = tables->second.chirp;
        pair.filter = tables->second.filter;
        for (std::int32_t c = 0; c < pair.n_parts; ++c)
            by_length[padded].push_back({static_cast<std::int32_t>(k), c});
    }
    if (pairs.empty()) return;
    pairs_ = core::DeviceArray<PairSequence>(pairs);
    core::DeviceArray<double2> chirps(n_chirps), filters(n_filters);
    chirps_ = core::DeviceArray<Complex<R>>(n_chirps);
    filters_ = core::DeviceArray<Complex<R>>(n_filters);
    const core::OwnStream stream;
    for (const auto& [padded, parts] : by_length) {
        classes_.push_back({padded, core::DeviceArray<CapPart>(parts)});
        with_padded_length(padded, [&](auto p) {
            launch<CapBlock<p, double>>(&filters_kernel<p>, classes_.back().parts.size(), stream.get(),
                                        pairs_.data(), classes_.back().parts.data(),
                                        static_cast<int>(parts.size()), chirps.data(), filters.data());
        });
    }
    narrow_kernel<R>
        <<<blocks_of(n_chirps), ring_threads, 0, stream.get()>>>(chirps.data(), n_chirps, chirps_.data());
    narrow_kernel<R>
        <<<blocks_of(n_filters), ring_threads, 0, stream.get()>>>(filters.data(), n_filters, filters_.data());
    core::check_launch("chirp filters");
    core::check_cuda(cudaStreamSynchronize(stream.get()), "chirp filters");
}

template <class R>
template <class T>
void CapTransforms<R>::transform(const T* map, Complex<R>* modes, Complex<R>* scratch,
                                 cudaStream_t stream) const {
    if (classes_.empty()) return;
    for (const CapClass& one : classes_)
        with_padded_length(one.padded, [&](auto p) {
            launch<CapBlock<p, R>>(&caps_kernel<p, false, R, const T>, one.parts.size(), stream,
                                   pairs_.data(), one.parts.data(), static_cast<int>(one.parts.size()),
                                   chirps_.data(), filters_.data(), scratch, map);
        });
    unfold_caps_kernel<R>
        <<<dim3(blocks_of(most_modes_), static_cast<unsigned>(pairs_.size())), ring_threads, 0, stream>>>(
            pairs_.data(), scratch, modes);
    core::check_launch("rings of the caps");
}

template <class R>
template <class T>
void CapTransforms<R>::transform_back(const Complex<R>* modes, T* map, Complex<R>* scratch,
                                      cudaStream_t stream) const {
    if (classes_.empty()) return;
    fold_caps_kernel<R>
        <<<dim3(blocks_of(longest_), static_cast<unsigned>(pairs_.size())), ring_threads, 0, stream>>>(
            pairs_.data(), modes, scratch);
    core::check_launch("rings of the caps");
    for (const CapClass& one : classes_)
        with_padded_length(one.padded, [&](auto p) {
            launch<CapBlock<p, R>>(&caps_kernel<p, true, R, T>, one.parts.size(), stream, pairs_.data(),
                                   one.parts.data(), static_cast<int>(one.parts.size()), chirps_.data(),
                                   filters_.data(), scratch, map);
        });
}

template class CapTransforms<float>;
template class CapTransforms<double>;
template void CapTransforms<float>::transform(const float*, float2*, float2*, cudaStream_t) const;
template void CapTransforms<float>::transform(const double*, float2*, float2*, cudaStream_t) const;
template void CapTransforms<double>::transform(const float*, double2*, double2*, cudaStream_t) const;
template void CapTransforms<double>::transform(const double*, double2*, double2*, cudaStream_t) const;
template void CapTransforms<float>::transform_back(const float2*, float*, float2*, cudaStream_t) const;
template void CapTransforms<float>::transform_back(const float2*, double*, float2*, cudaStream_t) const;
template void CapTransforms<double>::transform_back(const double2*, float*, double2*, cudaStream_t) const;
template void CapTransforms<double>::transform_back(const double2*, double*, double2*, cudaStream_t) const;

}  // namespace zonal::radial::cuda
