#pragma once

#include "radial/ring_fft/fold.cuh"
#include "radial/ring_fft/stage_cuda.cuh"

/// The kernels of the Fourier stage: pixels to bins to modes and back, with phases and aliasing.
namespace zonal::radial::cuda {

template <class From, class To>
__global__ void convert_kernel(const From* from, std::int64_t count, To* to) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < count) to[k] = static_cast<To>(from[k]);
}

/// F(m) of a run's rings from the bins 0..n/2 of their transforms, which lie `stride` apart from map to map.
template <class R, int Maps>
__global__ void unfold_run_kernel(const RunRing* rings, std::int64_t n, const Complex<R>* bins,
                                  std::int64_t stride, ModesOfMaps<Complex<R>> to) {
    const RunRing ring = rings[blockIdx.y];
    const std::int64_t m = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (ring.modes < 0 || m >= ring.n_modes) return;
    const std::int64_t k = m < n ? m : m % n, row = static_cast<std::int64_t>(blockIdx.y) * (n / 2 + 1);
    const double2 turn = conjugate(phase(m, ring.phi_0));
#pragma unroll
    for (int map = 0; map < Maps; ++map, bins += stride) {
        const double2 bin = k <= n / 2 ? widened(bins[row + k]) : conjugate(widened(bins[row + n - k]));
        const double2 value = times(bin, turn);
        to.modes[map * to.stride + ring.modes + m] =
            narrowed<R>({ring.weight * value.x, ring.weight * value.y});
    }
}

template <class R, int Maps>
__global__ void fold_run_kernel(const RunRing* rings, std::int64_t n, ModesOfMaps<const Complex<R>> from,
                                Complex<R>* bins, std::int64_t stride) {
    const RunRing ring = rings[blockIdx.y];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k > n / 2) return;
    double2 sum[Maps] = {};
    if (ring.modes >= 0) fold<R>({from.modes + ring.modes, from.stride}, ring.n_modes, ring.phi_0, n, k, sum);
#pragma unroll
    for (int map = 0; map < Maps; ++map)
        bins[map * stride + static_cast<std::int64_t>(blockIdx.y) * (n / 2 + 1) + k] = narrowed<R>(sum[map]);
}

/// The weighted pixels north + i south times conj chirp, and zeros.
template <class T, class R>
__global__ void read_pairs_kernel(const PairSequence* pairs, std::int64_t length, const T* map,
                                  Complex<R>* sequences) {
    const PairSequence pair = pairs[blockIdx.y];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= length) return;
    double2 value{0, 0};
    if (k < pair.n_pixels) {
        if (pair.pixel[0] >= 0) value.x = pair.weight[0] * static_cast<double>(map[pair.pixel[0] + k]);
        if (pair.pixel[1] >= 0) value.y = pair.weight[1] * static_cast<double>(map[pair.pixel[1] + k]);
        value = times(value, conjugate(chirp(k, pair.n_pixels)));
    }
    sequences[blockIdx.y * length + k] = narrowed<R>(value);
}

/// Times the spectrum of the chirp (forward transforms of the rings), or its conjugate.
template <class R>
__global__ void filter_pairs_kernel(const PairSequence* pairs, std::int64_t length, const Complex<R>* filters,
                                    bool forward, Complex<R>* sequences) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= length) return;
    const Complex<R> filter = filters[pairs[blockIdx.y].filter + k];
    Complex<R>& value = sequences[blockIdx.y * length + k];
    const R im = forward ? filter.y : -filter.y;
    value = {value.x * filter.x - value.y * im, value.x * im + value.y * filter.x};
}

/// F(m) of both rings from the sequence's transform Z but for its chirp.
template <class R>
__global__ void unfold_pairs_kernel(const PairSequence* pairs, std::int64_t length,
                                    const Complex<R>* sequences, Complex<R>* modes) {
    const PairSequence pair = pairs[blockIdx.y];
    const std::int64_t m = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (m >= pair.n_modes) return;
    const std::int64_t n = pair.n_pixels, k = m % n, opposite = k == 0 ? 0 : n - k;
    const Complex<R>* const z = sequences + blockIdx.y * length;
    const double2 up = times(widened(z[k]), conjugate(chirp(k, n)));
    const double2 down = times(widened(z[opposite]), conjugate(chirp(opposite, n)));
    store_pair<R>(pair, m, conjugate(phase(m, pair.phi_0)), up, down, modes);
}

/// The bins of north + i south times the chirp, and zeros.
template <class R>
__global__ void fold_pairs_kernel(const PairSequence* pairs, std::int64_t length, const Complex<R>* modes,
                                  Complex<R>* sequences) {
    const PairSequence pair = pairs[blockIdx.y];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= length) return;
    const std::int64_t n = pair.n_pixels;
    double2 sum[1] = {};
    if (k < n) {
        fold_pair<R>(pair, {modes, 0}, k, sum);
        sum[0] = times(sum[0], chirp(k, n));
    }
    sequences[blockIdx.y * length + k] = narrowed<R>(sum[0]);
}

template <class T, class R>
__global__ void write_pairs_kernel(const PairSequence* pairs, std::int64_t length,
                                   const Complex<R>* sequences, T* map) {
    const PairSequence pair = pairs[blockIdx.y];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= pair.n_pixels) return;
    const double2 value = times(widened(sequences[blockIdx.y * length + k]), chirp(k, pair.n_pixels));
    if (pair.pixel[0] >= 0) map[pair.pixel[0] + k] = static_cast<T>(value.x);
    if (pair.pixel[1] >= 0) map[pair.pixel[1] + k] = static_cast<T>(value.y);
}

/// exp(i pi k^2 / n) around 0, in double: the filters before their transforms.
static __global__ void chirp_kernel(const std::pair<std::int64_t, std::int64_t>* lengths, std::int64_t padded,
                                    double2* sequences) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= padded) return;
    const std::int64_t n = lengths[blockIdx.y].first, distance = min(k, padded - k);
    sequences[blockIdx.y * padded + k] = distance < n ? chirp(distance, n) : double2{0, 0};
}

/// Divided by the padded length, as neither direction of the library's transforms is.
template <class R>
__global__ void store_filters_kernel(const double2* sequences, std::int64_t count, double scale,
                                     Complex<R>* filters) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < count) filters[k] = narrowed<R>({scale * sequences[k].x, scale * sequences[k].y});
}

}  // namespace zonal::radial::cuda
