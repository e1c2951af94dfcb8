#include "fft/ring_caps_cuda.cuh"

#include <algorithm>
#include <map>

namespace zonal::fft::cuda {
namespace {

constexpr int fewest_threads = 128;
/// Threads of a multiprocessor: as many as leave each the registers it needs.
constexpr int threads_at_once = 512;

/// A block's shape for parts padded to P.
template <int P, class R>
struct CapBlock {
    using Dft = SharedDft<P, Complex<R>>;
    static constexpr int sequences = std::max(1, fewest_threads / Dft::threads);
    static constexpr int threads = sequences * Dft::threads;
    static constexpr int shared_bytes = sequences * Dft::memory_size * static_cast<int>(sizeof(Complex<R>));
};

/// Spectra of the parts' filters, as SharedDft leaves them, over the padded length; and the chirps. In
/// double.
template <int P>
__global__ void __launch_bounds__(CapBlock<P, double>::threads)
    filters_kernel(const CapPair* caps, const CapPart* parts, int n_parts, double2* chirps,
                   double2* filters) {
    extern __shared__ double2 filter_memory[];
    using Dft = SharedDft<P, double2>;
    const int sequence = threadIdx.x / Dft::threads, t = threadIdx.x % Dft::threads;
    const int index = blockIdx.x * CapBlock<P, double>::sequences + sequence;
    const CapPart which = parts[min(index, n_parts - 1)];
    const CapPair& cap = caps[which.cap];
    double2 v[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        const int j = t + Dft::threads * r, distance = min(j, P - j);
        const double2 value = chirp(distance, cap.part_length);
        v[r] = distance < cap.part_length ? conjugate(value) : double2{0, 0};
        if (index < n_parts && which.part == 0 && j < cap.part_length) chirps[cap.chirp + j] = value;
    }
    Dft::forward(v, t, filter_memory + sequence * Dft::memory_size);
    if (index >= n_parts || which.part != 0) return;
    constexpr double scale = 1.0 / P;
#pragma unroll
    for (int r = 0; r < 16; ++r)
        filters[cap.filter + Dft::threads * r + t] = {scale * v[r].x, scale * v[r].y};
}

template <class R>
__global__ void narrow_kernel(const double2* from, std::int64_t count, Complex<R>* to) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < count) to[k] = narrowed<R>(from[k]);
}

/// One part of a pair per P / 16 threads. ToPixels: from s_c to pixels; else from pixels to U_c.
template <int P, bool ToPixels, class R, class T>
__global__ void __launch_bounds__(CapBlock<P, R>::threads, threads_at_once / CapBlock<P, R>::threads)
    parts_kernel(const CapPair* caps, const CapPart* parts, int n_parts, const Complex<R>* chirps,
                 const Complex<R>* filters, Complex<R>* sequences, T* map, bool weighted) {
    using C = Complex<R>;
    using Dft = SharedDft<P, C>;
    extern __shared__ double2 cap_memory[];
    const int sequence = threadIdx.x / Dft::threads, t = threadIdx.x % Dft::threads;
    const int index = blockIdx.x * CapBlock<P, R>::sequences + sequence;
    const CapPart which = parts[min(index, n_parts - 1)];
    const CapPair& cap = caps[which.cap];
    const int length = cap.part_length, n_split = cap.n_parts;
    const std::int64_t north = cap.pixel[0], south = cap.pixel[1];
    const C* const chirp = chirps + cap.chirp;
    const C* const filter = filters + cap.filter;
    C* const part = sequences + cap.sequence + static_cast<std::int64_t>(which.part) * length;
    const auto turn = [](C factor) { return ToPixels ? factor : conjugate(factor); };
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
                value.x =
                    static_cast<R>((weighted ? cap.weight[0] : 1) * static_cast<double>(map[north + pixel]));
            if (south >= 0)
                value.y =
                    static_cast<R>((weighted ? cap.weight[1] : 1) * static_cast<double>(map[south + pixel]));
        }
        v[r] = times(value, turn(chirp[k]));
    }
    C* const mine = reinterpret_cast<C*>(cap_memory) + sequence * Dft::memory_size;
    Dft::forward(v, t, mine);
#pragma unroll
    for (int r = 0; r < 16; ++r) v[r] = times(v[r], turn(filter[Dft::threads * r + t]));
    Dft::inverse(v, t, mine);
    if (index >= n_parts) return;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        const int k = t + Dft::threads * r;
        if (k >= length) continue;
        const C value = times(v[r], turn(chirp[k]));
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
CapTransforms<R>::CapTransforms(std::vector<CapPair> caps) {
    struct Tables {
        std::int64_t chirp, filter;
    };
    std::map<std::int64_t, Tables> tables_of;
    std::map<std::int32_t, std::vector<CapPart>, std::greater<>> by_length;
    std::int64_t n_chirps = 0, n_filters = 0;
    for (std::size_t k = 0; k < caps.size(); ++k) {
        CapPair& cap = caps[k];
        cap.n_parts = cap_parts(cap.n_pixels);
        cap.part_length = cap.n_pixels / cap.n_parts;
        cap.sequence = n_sequence_;
        n_sequence_ += cap.n_pixels;
        longest_ = std::max<std::int64_t>(longest_, cap.part_length);
        most_modes_ = std::max<std::int64_t>(most_modes_, cap.n_modes);
        const std::int32_t padded = padded_part(cap.part_length);
        const auto [tables, is_new] = tables_of.try_emplace(cap.part_length, Tables{n_chirps, n_filters});
        if (is_new) n_chirps += cap.part_length, n_filters += padded;
        cap.chirp = tables->second.chirp;
        cap.filter = tables->second.filter;
        for (std::int32_t c = 0; c < cap.n_parts; ++c)
            by_length[padded].push_back({static_cast<std::int32_t>(k), c});
    }
    if (caps.empty()) return;
    caps_ = core::DeviceArray<CapPair>(caps);
    for (const auto& [padded, parts] : by_length)
        classes_.push_back({padded, core::DeviceArray<CapPart>(parts)});
    make_filters(n_chirps, n_filters);
}

template <class R>
void CapTransforms<R>::make_filters(std::int64_t n_chirps, std::int64_t n_filters) {
    core::DeviceArray<double2> chirps(n_chirps), filters(n_filters);
    const core::OwnStream stream;
    for (const CapClass& one : classes_)
        with_padded_length(one.padded, [&](auto p) {
            launch<CapBlock<p, double>>(&filters_kernel<p>, one.parts.size(), stream.get(), caps_.data(),
                                        one.parts.data(), static_cast<int>(one.parts.size()), chirps.data(),
                                        filters.data());
        });
    if constexpr (std::is_same_v<R, double>) {
        chirps_ = std::move(chirps);
        filters_ = std::move(filters);
    } else {
        chirps_ = core::DeviceArray<Complex<R>>(n_chirps);
        filters_ = core::DeviceArray<Complex<R>>(n_filters);
        narrow_kernel<R>
            <<<blocks_of(n_chirps), ring_threads, 0, stream.get()>>>(chirps.data(), n_chirps, chirps_.data());
        narrow_kernel<R><<<blocks_of(n_filters), ring_threads, 0, stream.get()>>>(filters.data(), n_filters,
                                                                                  filters_.data());
        core::check_launch("chirp filters");
    }
    core::check_cuda(cudaStreamSynchronize(stream.get()), "chirp filters");
}

template <class R>
template <class T>
void CapTransforms<R>::parts_to_pixels(Complex<R>* sequences, T* map, cudaStream_t stream) const {
    for (const CapClass& one : classes_)
        with_padded_length(one.padded, [&](auto p) {
            launch<CapBlock<p, R>>(&parts_kernel<p, true, R, T>, one.parts.size(), stream, caps_.data(),
                                   one.parts.data(), static_cast<int>(one.parts.size()), chirps_.data(),
                                   filters_.data(), sequences, map, false);
        });
}

template <class R>
template <class T>
void CapTransforms<R>::pixels_to_parts(const T* map, bool weighted, Complex<R>* sequences,
                                       cudaStream_t stream) const {
    for (const CapClass& one : classes_)
        with_padded_length(one.padded, [&](auto p) {
            launch<CapBlock<p, R>>(&parts_kernel<p, false, R, const T>, one.parts.size(), stream,
                                   caps_.data(), one.parts.data(), static_cast<int>(one.parts.size()),
                                   chirps_.data(), filters_.data(), sequences, map, weighted);
        });
}

template class CapTransforms<float>;
template class CapTransforms<double>;
template void CapTransforms<float>::parts_to_pixels(float2*, float*, cudaStream_t) const;
template void CapTransforms<float>::parts_to_pixels(float2*, double*, cudaStream_t) const;
template void CapTransforms<double>::parts_to_pixels(double2*, float*, cudaStream_t) const;
template void CapTransforms<double>::parts_to_pixels(double2*, double*, cudaStream_t) const;
template void CapTransforms<float>::pixels_to_parts(const float*, bool, float2*, cudaStream_t) const;
template void CapTransforms<float>::pixels_to_parts(const double*, bool, float2*, cudaStream_t) const;
template void CapTransforms<double>::pixels_to_parts(const float*, bool, double2*, cudaStream_t) const;
template void CapTransforms<double>::pixels_to_parts(const double*, bool, double2*, cudaStream_t) const;

}  // namespace zonal::fft::cuda
