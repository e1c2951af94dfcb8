#pragma once

#include "fft/ring_caps_cuda.cuh"

/// Between modes and the bins of a ring's n pixels: phases and aliasing.
namespace zonal::radial::cuda {

using fft::cuda::blocks_of, fft::cuda::ring_threads;
using fft::cuda::chirp, fft::cuda::phase;
using fft::cuda::Complex, fft::cuda::conjugate, fft::cuda::narrowed, fft::cuda::times, fft::cuda::widened;

/// A ring and its mirror, either of which may be missing (pixel = -1), and their modes (-1: none, zero).
struct PairSequence {
    std::int64_t pixel[2], modes[2];
    double phi_0, weight[2];
    std::int64_t filter;  ///< where the spectrum of the chirp starts, for pairs of a batch
    std::int32_t n_pixels, n_modes;
};

/// Maps whose modes lie `stride` apart.
template <class C>
struct ModesOfMaps {
    C* modes;
    std::int64_t stride;
};

/// sum over all modes that alias to bin k: G(m) exp(i m phi_0), m = k mod n, and conjugates, m = -k mod n; of
/// each map.
template <class R, int Maps>
__device__ void fold(ModesOfMaps<const Complex<R>> from, std::int32_t n_modes, double phi_0, std::int64_t n,
                     std::int64_t k, double2 (&sum)[Maps]) {
    const auto add = [&](std::int64_t m, double sign) {
        const double2 turn = phase(m, phi_0);
#pragma unroll
        for (int map = 0; map < Maps; ++map) {
            const double2 value = times(widened(from.modes[map * from.stride + m]), turn);
            sum[map].x += value.x, sum[map].y += m == 0 ? 0 : sign * value.y;
        }
    };
    for (std::int64_t m = k; m < n_modes; m += n) add(m, 1);
    for (std::int64_t m = n - k; m < n_modes; m += n) add(m, -1);
}

/// Bin k of north + i south of each map.
template <class R, int Maps>
__device__ void fold_pair(const PairSequence& pair, ModesOfMaps<const Complex<R>> from, std::int64_t k,
                          double2 (&sum)[Maps]) {
    const std::int64_t n = pair.n_pixels;
    const std::int64_t north = pair.modes[0], south = pair.modes[1];
    const auto add = [&](std::int64_t m, double sign) {
        const double2 turn = phase(m, pair.phi_0);
#pragma unroll
        for (int map = 0; map < Maps; ++map) {
            const Complex<R>* const modes = from.modes + map * from.stride;
            if (north >= 0) {
                const double2 value = times(widened(modes[north + m]), turn);
                sum[map].x += value.x, sum[map].y += m == 0 ? 0 : sign * value.y;
            }
            if (south >= 0) {
                const double2 value = times(widened(modes[south + m]), turn);
                sum[map].x -= m == 0 ? 0 : sign * value.y, sum[map].y += value.x;
            }
        }
    };
    for (std::int64_t m = k; m < pair.n_modes; m += n) add(m, 1);
    for (std::int64_t m = n - k; m < pair.n_modes; m += n) add(m, -1);
}

/// F(m) of both rings from bins m and -m mod n of north + i south. turn: exp(-i m phi_0).
template <class R>
__device__ void store_pair(const PairSequence& pair, std::int64_t m, double2 turn, double2 up, double2 down,
                           Complex<R>* modes) {
    if (pair.modes[0] >= 0)
        modes[pair.modes[0] + m] = narrowed<R>(times({0.5 * (up.x + down.x), 0.5 * (up.y - down.y)}, turn));
    if (pair.modes[1] >= 0)
        modes[pair.modes[1] + m] = narrowed<R>(times({0.5 * (up.y + down.y), 0.5 * (down.x - up.x)}, turn));
}

/// fold_pair and store_pair for the caps' transforms.
template <class R>
struct FoldedPairs {
    const PairSequence* pairs;
    ModesOfMaps<const Complex<R>> from;
    FoldedPairs of_map(int map) const { return {pairs, {from.modes + map * from.stride, from.stride}}; }
    template <int Maps>
    __device__ void operator()(const fft::cuda::CapPair& cap, std::int64_t k, double2 (&bins)[Maps]) const {
        fold_pair<R>(pairs[cap.pair], from, k, bins);
    }
};
template <class R>
struct StorePairs {
    const PairSequence* pairs;
    ModesOfMaps<Complex<R>> to;
    __device__ double2 turn(const fft::cuda::CapPair& cap, std::int64_t m) const {
        return conjugate(phase(m, pairs[cap.pair].phi_0));
    }
    __device__ void operator()(const fft::cuda::CapPair& cap, std::int64_t m, int map, double2 turn,
                               double2 up, double2 down) const {
        store_pair<R>(pairs[cap.pair], m, turn, up, down, to.modes + map * to.stride);
    }
};

}  // namespace zonal::radial::cuda
