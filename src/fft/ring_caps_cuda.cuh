#pragma once

#include <algorithm>
#include <vector>
#include "fft/complex.cuh"

/// FFTs of rings whose lengths all differ, as in HEALPix's polar caps. A ring and its mirror are the complex
/// sequence north + i south. Its n pixels are split into q = 4 (2, 1) interleaved parts of n / q, and each
/// part goes through Bluestein's algorithm in shared memory:
///   pixel q j + c = sum_{k < n/q} exp(2 pi i j k / (n/q)) s_c[k],
///   s_c[k] = exp(2 pi i c k / n) sum_{d < q} exp(2 pi i c d / q) Z[k + d n/q],  Z: the sequence's Fourier
///   bins.
namespace zonal::fft::cuda {

/// a times i, or -i.
template <bool Inverse, class C>
__device__ __forceinline__ C quarter_turn(C a) {
    return Inverse ? C{-a.y, a.x} : C{a.y, -a.x};
}

/// exp(2 pi i j / 16); folded to a constant where j is one.
template <class C>
__device__ __forceinline__ C root_of_16(int j) {
    using R = decltype(C::x);
    constexpr R c1 = R(0.92387953251128675613), c2 = R(0.70710678118654752440),
                c3 = R(0.38268343236508977173);
    constexpr R cosine[16] = {1, c1, c2, c3, 0, -c3, -c2, -c1, -1, -c1, -c2, -c3, 0, c3, c2, c1};
    return {cosine[j % 16], cosine[(j + 12) % 16]};
}

/// v[k] <- sum_r v[r] exp(-+ 2 pi i r k / N), N = 1, 2, 4, 8 or 16; + for the inverse, which is not divided
/// by N.
template <int N, bool Inverse, class C>
__device__ __forceinline__ void dft(C* v) {
    if constexpr (N == 2) {
        const C a = v[0], b = v[1];
        v[0] = a + b, v[1] = a - b;
    } else if constexpr (N == 4) {
        const C a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = quarter_turn<Inverse>(v[1] - v[3]);
        v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
    } else if constexpr (N > 4) {
        constexpr int m = N / 4;
        C part[4][m];  // [k % 4][r % m]
#pragma unroll
        for (int r = 0; r < m; ++r) {
            C four[4] = {v[r], v[r + m], v[r + 2 * m], v[r + 3 * m]};
            dft<4, Inverse>(four);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                C root = root_of_16<C>(r * k * (16 / N));
                if (!Inverse) root.y = -root.y;
                part[k][r] = r * k == 0 ? four[k] : times(four[k], root);
            }
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            dft<m, Inverse>(part[k]);
#pragma unroll
            for (int r = 0; r < m; ++r) v[k + 4 * r] = part[k][r];
        }
    }
}

/// v[k] *= exp(-+ 2 pi i numerator k / denominator), k = 0..15; powers by few products in double, for few
/// roundings.
template <bool Inverse, class C>
__device__ __forceinline__ void twiddle(C (&v)[16], int numerator, int denominator) {
    using R = decltype(C::x);
    double2 low[4] = {{1, 0}}, high[4] = {{1, 0}};
    sincospi(2.0 * numerator / denominator, &low[1].y, &low[1].x);
    if (!Inverse) low[1].y = -low[1].y;
    low[2] = times(low[1], low[1]), low[3] = times(low[2], low[1]);
    high[1] = times(low[2], low[2]), high[2] = times(high[1], high[1]);
    high[3] = times(high[2], high[1]);
#pragma unroll
    for (int k = 1; k < 16; ++k) {
        const double2 root = k % 4 == 0 ? high[k / 4] : k < 4 ? low[k] : times(high[k / 4], low[k % 4]);
        v[k] = times(v[k], C{static_cast<R>(root.x), static_cast<R>(root.y)});
    }
}

/// Transforms of P = 256 .. 4096 values, 16 in each of P / 16 threads: value t + P/16 r in register r of
/// thread t. The spectrum stays where the last pass leaves it, in an order of its own that `inverse` undoes.
/// All threads of the block must call, as they meet.
template <int P, class C>
struct SharedDft {
    static constexpr int threads = P / 16;
    static constexpr int last = P / 256;           ///< radix of the last pass
    static constexpr int stride = threads + last;  ///< both padded against conflicts of banks
    static constexpr int last_stride = last + 1;
    /// Complex numbers of shared memory.
    static constexpr int memory_size = 16 * stride > 256 * last_stride ? 16 * stride : 256 * last_stride;
    static_assert(P >= 256 && P <= 4096 && (P & (P - 1)) == 0);

    static __device__ void forward(C (&v)[16], int t, C* memory) {
        dft<16, false>(v);
        twiddle<false>(v, t, P);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) memory[k * stride + t] = v[k];
        __syncthreads();
        const int k = t / last, n = t % last;
#pragma unroll
        for (int r = 0; r < 16; ++r) v[r] = memory[k * stride + n + last * r];
        dft<16, false>(v);
        if constexpr (last > 1) {
            twiddle<false>(v, n, threads);
            __syncthreads();
#pragma unroll
            for (int j = 0; j < 16; ++j) memory[(16 * k + j) * last_stride + n] = v[j];
            __syncthreads();
#pragma unroll
            for (int j = 0; j < 16; ++j) v[j] = memory[(t + j / last * threads) * last_stride + j % last];
#pragma unroll
            for (int j = 0; j < 16; j += last) dft<last, false>(v + j);
        }
    }

    /// Not divided by P.
    static __device__ void inverse(C (&v)[16], int t, C* memory) {
        const int k = t / last, n = t % last;
        if constexpr (last > 1) {
#pragma unroll
            for (int j = 0; j < 16; j += last) dft<last, true>(v + j);
            __syncthreads();
#pragma unroll
            for (int j = 0; j < 16; ++j) memory[(t + j / last * threads) * last_stride + j % last] = v[j];
            __syncthreads();
#pragma unroll
            for (int j = 0; j < 16; ++j) v[j] = memory[(16 * k + j) * last_stride + n];
            twiddle<true>(v, n, threads);
        }
        dft<16, true>(v);
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 16; ++r) memory[k * stride + n + last * r] = v[r];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; ++j) v[j] = memory[j * stride + t];
        twiddle<true>(v, t, P);
        dft<16, true>(v);
    }
};

/// The number of parts of a ring of n pixels.
inline std::int32_t cap_parts(std::int64_t n) {
    return n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
}

/// A ring and its mirror.
struct CapPair {
    std::int64_t pixel[2];  ///< where the northern and the southern ring start in the map; -1: left out
    double weight[2];       ///< by which their pixels count on the way to the bins
    std::int32_t pair;      ///< the caller's number of the pair
    std::int32_t n_pixels, n_modes;
    // The rest is set by CapTransforms.
    std::int32_t n_parts = 0, part_length = 0;
    std::int64_t sequence = 0;  ///< where its parts start in scratch memory
    std::int64_t chirp = 0;     ///< where exp(i pi k^2 / part_length) starts
    std::int64_t filter = 0;    ///< where the spectrum of its conjugate starts
};

/// s_c[k] of all parts c, one k per thread. bins_of(cap, k, bins): bin k of each of the maps, whose sequences
/// lie `stride` apart.
template <class R, int Maps, class Bins>
__global__ void fold_caps_kernel(const CapPair* caps, Bins bins_of, Complex<R>* sequences,
                                 std::int64_t stride) {
    const CapPair cap = caps[blockIdx.y];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= cap.part_length) return;
    double2 bins[4][Maps] = {};
#pragma unroll
    for (int d = 0; d < 4; ++d)
        if (d < cap.n_parts) bins_of(cap, k + static_cast<std::int64_t>(d) * cap.part_length, bins[d]);
    const double2 root = cap.n_parts == 1 ? double2{1, 0} : root_of_unity(k, cap.n_pixels);
#pragma unroll
    for (int map = 0; map < Maps; ++map) {
        double2 part[4] = {bins[0][map], bins[1][map], bins[2][map], bins[3][map]};
        if (cap.n_parts == 2)
            dft<2, true>(part);
        else if (cap.n_parts == 4)
            dft<4, true>(part);
        Complex<R>* const out = sequences + map * stride + cap.sequence + k;
        double2 power{1, 0};
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (c >= cap.n_parts) break;
            out[c * static_cast<std::int64_t>(cap.part_length)] = narrowed<R>(times(part[c], power));
            power = times(power, root);
        }
    }
}

/// Gives the bins m and -m of each of the maps to `store`, one m per thread: bin k is
/// sum_c exp(-2 pi i c k / n) U_c[k % length].
template <class R, int Maps, class Store>
__global__ void unfold_caps_kernel(const CapPair* caps, const Complex<R>* sequences, std::int64_t stride,
                                   Store store) {
    const CapPair cap = caps[blockIdx.y];
    const int m = static_cast<int>(blockIdx.x) * ring_threads + static_cast<int>(threadIdx.x);
    if (m >= cap.n_modes) return;
    const int k = m % cap.n_pixels, up = k % cap.part_length, down = up == 0 ? 0 : cap.part_length - up;
    double2 power[4] = {{1, 0}};
    if (cap.n_parts > 1) power[1] = conjugate(root_of_unity(k, cap.n_pixels));
    power[2] = times(power[1], power[1]), power[3] = times(power[2], power[1]);
    const auto turn = store.turn(cap, m);
#pragma unroll
    for (int map = 0; map < Maps; ++map) {
        const Complex<R>* const parts = sequences + map * stride + cap.sequence;
        double2 above = widened(parts[up]), below = widened(parts[down]);
#pragma unroll
        for (int c = 1; c < 4; ++c) {
            if (c >= cap.n_parts) break;
            const Complex<R>* const part = parts + c * static_cast<std::int64_t>(cap.part_length);
            above = above + times(widened(part[up]), power[c]);
            below = below + times(widened(part[down]), conjugate(power[c]));
        }
        store(cap, m, map, turn, above, below);
    }
}

/// One part of one pair.
struct CapPart {
    std::int32_t cap, part;
};

/// The parts that are padded to one length.
struct CapClass {
    std::int32_t padded;
    core::DeviceArray<CapPart> parts;
};

/// The transforms of a grid's cap rings in precision R.
template <class R>
class CapTransforms {
  public:
    /// The longest part that fits in the current device's shared memory.
    static std::int64_t longest_part();

    /// caps: of parts no longer than longest_part()
    explicit CapTransforms(std::vector<CapPair> caps);

    /// Complex numbers of scratch memory that a call needs.
    std::int64_t scratch_size() const { return n_sequence_; }
    std::int64_t bytes() const { return caps_.bytes() + chirps_.bytes() + filters_.bytes(); }

    /// Writes the rings' pixels of `Maps` maps, map_stride apart. bins_of(cap, k, bins): writes bin k of
    /// north + i south of each map, a double2, called on the device;
    /// bins_of.of_map(map): the same for the maps from there on. scratch: scratch_size() for each map.
    template <int Maps, class T, class Bins>
    void to_pixels(const Bins& bins_of, T* maps, std::int64_t map_stride, Complex<R>* scratch,
                   cudaStream_t stream) const {
        if (classes_.empty()) return;
        constexpr int at_once = std::min(Maps, 2);  // more take too many registers
        for (int map = 0; map < Maps; map += at_once)
            fold_caps_kernel<R, at_once><<<blocks(longest_), ring_threads, 0, stream>>>(
                caps_.data(), bins_of.of_map(map), scratch + map * n_sequence_, n_sequence_);
        core::check_launch("rings of the caps");
        for (int map = 0; map < Maps; ++map)
            parts_to_pixels(scratch + map * n_sequence_, maps + map * map_stride, stream);
    }

    /// Calls store(cap, m, map, store.turn(cap, m), bin m, bin -m) on the device for all m < cap.n_modes of
    /// all maps. weighted: pixels count by their rings' weights.
    template <int Maps, class T, class Store>
    void to_bins(const T* maps, std::int64_t map_stride, bool weighted, const Store& store,
                 Complex<R>* scratch, cudaStream_t stream) const {
        if (classes_.empty()) return;
        for (int map = 0; map < Maps; ++map)
            pixels_to_parts(maps + map * map_stride, weighted, scratch + map * n_sequence_, stream);
        unfold_caps_kernel<R, Maps>
            <<<blocks(most_modes_), ring_threads, 0, stream>>>(caps_.data(), scratch, n_sequence_, store);
        core::check_launch("rings of the caps");
    }

  private:
    dim3 blocks(std::int64_t count) const { return {blocks_of(count), static_cast<unsigned>(caps_.size())}; }
    void make_filters(std::int64_t n_chirps, std::int64_t n_filters);
    template <class T>
    void parts_to_pixels(Complex<R>* sequences, T* map, cudaStream_t stream) const;
    template <class T>
    void pixels_to_parts(const T* map, bool weighted, Complex<R>* sequences, cudaStream_t stream) const;

    std::int64_t n_sequence_ = 0, longest_ = 0, most_modes_ = 0;
    core::DeviceArray<CapPair> caps_;
    core::DeviceArray<Complex<R>> chirps_, filters_;
    std::vector<CapClass> classes_;
};

}  // namespace zonal::fft::cuda
