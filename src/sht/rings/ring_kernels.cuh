#pragma once

#include "sht/rings/ring_stage_cuda.cuh"

/// The kernels of the Fourier stage: modes to bins and back, with phases and aliasing.
namespace zonal::sht::cuda {

using fft::cuda::chirp, fft::cuda::conjugate, fft::cuda::times;

/// value * exp(i m phi_0); the rounding error of m phi_0 is put back, as an angle of many turns has lost
/// digits.
__device__ inline double2 rotated(double re, double im, std::int64_t m, double phi_0) {
    const double angle = static_cast<double>(m) * phi_0, lost = fma(static_cast<double>(m), phi_0, -angle);
    double s, c;
    sincos(angle, &s, &c);
    const double cosine = c - lost * s, sine = s + lost * c;
    return {re * cosine - im * sine, re * sine + im * cosine};
}

/// One order's modes at one pair, exp(i sign m phi_0) turned.
__device__ inline void turn(const PairGeometry& pair, std::int64_t m, double sign, double2& north,
                            double2& south) {
    const double2 north_turn = rotated(1, 0, m, sign * pair.north_phi_0);
    const double2 south_turn =
        pair.south_phi_0 == pair.north_phi_0 ? north_turn : rotated(1, 0, m, sign * pair.south_phi_0);
    north = times(north, north_turn);
    south = times(south, south_turn);
}

/// F_m of a pair's rings, each turned by its phase; m = 0 is real.
struct TurnedModes {
    double2 north, south;

    __device__ TurnedModes(const PairModes* fourier, const PairGeometry& pair, std::int64_t at,
                           std::int64_t m) {
        const PairModes f = fourier[at];
        north = {f.north.x, m == 0 ? 0 : f.north.y};
        south = {f.south.x, m == 0 ? 0 : f.south.y};
        turn(pair, m, 1, north, south);
    }
};

/// Bin k of 0..n/2 of every ring of a run: the sum of the modes that alias to it.
static __global__ void run_spectrum_kernel(const PairGeometry* pairs, const RunRing* rings,
                                           const std::int64_t* origin, const PairModes* fourier,
                                           std::int64_t n_rings, double2* spectrum) {
    const std::int64_t ring = blockIdx.y + static_cast<std::int64_t>(blockIdx.z) * gridDim.y;
    if (ring >= n_rings) return;
    const RunRing which = rings[ring];
    const PairGeometry pair = pairs[which.pair];
    const std::int64_t n = pair.n_pixels, n_bins = n / 2 + 1;
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= n_bins) return;
    double2 sum{0, 0};
    const auto add = [&](std::int64_t m, double sign) {
        const PairModes& modes = fourier[origin[m] + which.pair];
        const double2 f = which.south ? modes.south : modes.north;
        const double2 turned =
            rotated(f.x, m == 0 ? 0 : f.y, m, which.south ? pair.south_phi_0 : pair.north_phi_0);
        sum.x += turned.x;
        sum.y += sign * turned.y;
    };
    for (std::int64_t m = k; m <= pair.last_m; m += n) add(m, 1);
    for (std::int64_t m = n - k; m <= pair.last_m; m += n) add(m, -1);
    spectrum[ring * n_bins + k] = sum;
}

/// The transpose: a run's spectra to F_m of its rings (one half of the pairs' modes each).
static __global__ void run_modes_kernel(const PairGeometry* pairs, const RunRing* rings,
                                        const std::int64_t* origin, const double2* spectrum, bool weighted,
                                        std::int64_t n_rings, PairModes* fourier) {
    const std::int64_t ring = blockIdx.y + static_cast<std::int64_t>(blockIdx.z) * gridDim.y;
    if (ring >= n_rings) return;
    const RunRing which = rings[ring];
    const PairGeometry pair = pairs[which.pair];
    const std::int64_t n = pair.n_pixels, n_bins = n / 2 + 1;
    const std::int64_t m = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (m > pair.last_m) return;
    const std::int64_t bin = m % n, k = bin < n_bins ? bin : n - bin;
    const double2 value = spectrum[ring * n_bins + k];
    const double weight = !weighted ? 1 : which.south ? pair.south_weight : pair.north_weight;
    const double2 turned = rotated(weight * value.x, weight * (k == bin ? value.y : -value.y), m,
                                   -(which.south ? pair.south_phi_0 : pair.north_phi_0));
    PairModes& modes = fourier[origin[m] + which.pair];
    (which.south ? modes.south : modes.north) = turned;
    if ((which.south ? pair.north_pixel : pair.south_pixel) < 0)
        (which.south ? modes.north : modes.south) = {0, 0};
}

/// Tiles of a run's fast kernels: orders, of which a ring's are neighbours in its spectrum, by pairs, which
/// are neighbours in the Fourier coefficients.
inline constexpr int tile_orders = 32;
inline constexpr int tile_pairs = 8;
static_assert(tile_orders * tile_pairs == ring_threads);

/// run_spectrum_kernel for runs of whole pairs without aliasing, 2 m <= n: through shared memory, so that
/// both sides are accessed in rows. Threads along pairs first, then along orders.
static __global__ void paired_spectrum_kernel(const PairGeometry* pairs, const RunPair* run,
                                              const std::int64_t* origin, const PairModes* fourier,
                                              std::int64_t n_pairs, double2* spectrum) {
    __shared__ double2 tile[2][tile_pairs][tile_orders + 1];
    const std::int64_t first_order = static_cast<std::int64_t>(blockIdx.x) * tile_orders;
    const std::int64_t first_pair = static_cast<std::int64_t>(blockIdx.y) * tile_pairs;
    {
        const int p = threadIdx.x % tile_pairs, order = threadIdx.x / tile_pairs;
        const std::int64_t m = first_order + order;
        double2 north{0, 0}, south{0, 0};
        if (first_pair + p < n_pairs) {
            const std::int32_t which = run[first_pair + p].pair;
            const PairGeometry pair = pairs[which];
            if (m <= pair.last_m) {
                const PairModes modes = fourier[origin[m] + which];
                north = {modes.north.x, m == 0 ? 0 : modes.north.y};
                south = {modes.south.x, m == 0 ? 0 : modes.south.y};
                turn(pair, m, 1, north, south);
                if (2 * m == pair.n_pixels) north.x *= 2, south.x *= 2;  // m and -m are one bin
            }
        }
        tile[0][p][order] = north;
        tile[1][p][order] = south;
    }
    __syncthreads();
    const int order = threadIdx.x % tile_orders, p = threadIdx.x / tile_orders;
    if (first_pair + p >= n_pairs) return;
    const RunPair entry = run[first_pair + p];
    const std::int64_t k = first_order + order, n_bins = pairs[entry.pair].n_pixels / 2 + 1;
    if (k >= n_bins) return;
    if (entry.north >= 0) spectrum[entry.north * n_bins + k] = tile[0][p][order];
    if (entry.south >= 0) spectrum[entry.south * n_bins + k] = tile[1][p][order];
}

/// One ring's.
__device__ inline double2 turned(const PairGeometry& pair, bool south, std::int64_t m, double sign,
                                 double2 value) {
    return rotated(value.x, value.y, m, sign * (south ? pair.south_phi_0 : pair.north_phi_0));
}

/// Where a thread has F_m of a tile, two times: the two rings of a pair are those of two threads, so that
/// these access whole lines together.
struct RingOfTile {
    int south, p, order;

    __device__ explicit RingOfTile(int half)
        : south(static_cast<int>(threadIdx.x) % 2),
          p(static_cast<int>(threadIdx.x) / 2 % tile_pairs),
          order(static_cast<int>(threadIdx.x) / (2 * tile_pairs) + half * tile_orders / 2) {}
};

/// The transpose of paired_spectrum_kernel, but for the factor at m = n / 2, which only sums have.
static __global__ void paired_modes_kernel(const PairGeometry* pairs, const RunPair* run,
                                           const std::int64_t* origin, const double2* spectrum, bool weighted,
                                           std::int64_t n_pairs, PairModes* fourier) {
    __shared__ double2 tile[tile_pairs][2][tile_orders + 1];
    const std::int64_t first_order = static_cast<std::int64_t>(blockIdx.x) * tile_orders;
    const std::int64_t first_pair = static_cast<std::int64_t>(blockIdx.y) * tile_pairs;
    {
        const int order = threadIdx.x % tile_orders, p = threadIdx.x / tile_orders;
        if (first_pair + p < n_pairs) {
            const RunPair entry = run[first_pair + p];
            const std::int64_t k = first_order + order, n_bins = pairs[entry.pair].n_pixels / 2 + 1;
            const bool there = k < n_bins;
            tile[p][0][order] =
                there && entry.north >= 0 ? spectrum[entry.north * n_bins + k] : double2{0, 0};
            tile[p][1][order] =
                there && entry.south >= 0 ? spectrum[entry.south * n_bins + k] : double2{0, 0};
        }
    }
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const RingOfTile at(half);
        if (first_pair + at.p >= n_pairs) return;
        const std::int32_t which = run[first_pair + at.p].pair;
        const PairGeometry pair = pairs[which];
        const std::int64_t m = first_order + at.order;
        if (m > pair.last_m) return;
        double2 value = tile[at.p][at.south][at.order];
        if (weighted) {
            const double weight = at.south ? pair.south_weight : pair.north_weight;
            value.x *= weight, value.y *= weight;
        }
        PairModes& modes = fourier[origin[m] + which];
        (at.south ? modes.south : modes.north) = turned(pair, at.south, m, -1, value);
    }
}

/// Bin k of north + i south: the sum of the modes that alias to it.
__device__ inline double2 pair_bin(const PairGeometry& pair, std::int32_t which, const std::int64_t* origin,
                                   const PairModes* fourier, std::int64_t k) {
    const std::int64_t n = pair.n_pixels;
    double2 sum{0, 0};
    for (std::int64_t m = k; m <= pair.last_m; m += n) {
        const TurnedModes f(fourier, pair, origin[m] + which, m);
        sum.x += f.north.x - f.south.y;
        sum.y += f.north.y + f.south.x;
    }
    for (std::int64_t m = n - k; m <= pair.last_m; m += n) {
        const TurnedModes f(fourier, pair, origin[m] + which, m);
        sum.x += f.north.x + f.south.y;
        sum.y += f.south.x - f.north.y;
    }
    return sum;
}

/// Bins of north + i south times the chirp, padded with zeros to `length`.
static __global__ void fold_kernel(const PairGeometry* pairs, const BluesteinPair* batch,
                                   const std::int64_t* origin, const PairModes* fourier, std::int64_t length,
                                   double2* sequences) {
    const BluesteinPair entry = batch[blockIdx.y];
    const PairGeometry pair = pairs[entry.pair];
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x,
                       n = pair.n_pixels;
    if (k >= length) return;
    double2 sum{0, 0};
    if (k < n) sum = times(pair_bin(pair, entry.pair, origin, fourier, k), chirp(k, n));
    sequences[blockIdx.y * length + k] = sum;
}

/// Multiplies the spectra by those of the filters, or their conjugates, over the length.
static __global__ void filter_kernel(const BluesteinPair* batch, const double2* filters, std::int64_t length,
                                     bool conjugated, double2* sequences) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k >= length) return;
    const double2 filter = filters[batch[blockIdx.y].filter + k];
    double2& value = sequences[blockIdx.y * length + k];
    const double scale = 1 / static_cast<double>(length);
    value = times(value, {scale * filter.x, scale * (conjugated ? -filter.y : filter.y)});
}

template <class T>
__global__ void write_pixels_kernel(const PairGeometry* pairs, const BluesteinPair* batch,
                                    std::int64_t length, const double2* sequences, T* map) {
    const BluesteinPair entry = batch[blockIdx.y];
    const PairGeometry pair = pairs[entry.pair];
    const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (j >= pair.n_pixels) return;
    const double2 value = times(sequences[blockIdx.y * length + j], chirp(j, pair.n_pixels));
    if (entry.has_north) map[pair.north_pixel + j] = static_cast<T>(value.x);
    if (entry.has_south) map[pair.south_pixel + j] = static_cast<T>(value.y);
}

template <class T>
__global__ void read_pixels_kernel(const PairGeometry* pairs, const BluesteinPair* batch, std::int64_t length,
                                   const T* map, bool weighted, double2* sequences) {
    const BluesteinPair entry = batch[blockIdx.y];
    const PairGeometry pair = pairs[entry.pair];
    const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (j >= length) return;
    double2 value{0, 0};
    if (j < pair.n_pixels) {
        if (entry.has_north)
            value.x = (weighted ? pair.north_weight : 1) * static_cast<double>(map[pair.north_pixel + j]);
        if (entry.has_south)
            value.y = (weighted ? pair.south_weight : 1) * static_cast<double>(map[pair.south_pixel + j]);
        value = times(value, conjugate(chirp(j, pair.n_pixels)));
    }
    sequences[blockIdx.y * length + j] = value;
}

/// F_m of a pair from the spectrum of north + i south at m and at -m, for the rings that are asked for;
/// missing ones are zero.
__device__ inline void store_modes(const PairGeometry& pair, bool north, bool south, std::int64_t m,
                                   double2 up, double2 down, PairModes& modes) {
    double2 of_north{(up.x + down.x) / 2, (up.y - down.y) / 2},
        of_south{(up.y + down.y) / 2, (down.x - up.x) / 2};
    turn(pair, m, -1, of_north, of_south);
    if (north) modes.north = of_north;
    if (south) modes.south = of_south;
    if (pair.north_pixel < 0) modes.north = {0, 0};
    if (pair.south_pixel < 0) modes.south = {0, 0};
}

/// pair_bin and store_modes for the caps' transforms.
struct CapBins {
    const PairGeometry* pairs;
    const std::int64_t* origin;
    const PairModes* fourier;
    CapBins of_map(int) const { return *this; }
    __device__ void operator()(const fft::cuda::CapPair& cap, std::int64_t k, double2 (&bin)[1]) const {
        bin[0] = pair_bin(pairs[cap.pair], cap.pair, origin, fourier, k);
    }
};
struct CapModes {
    const PairGeometry* pairs;
    const std::int64_t* origin;
    PairModes* fourier;
    __device__ int turn(const fft::cuda::CapPair&, std::int64_t) const { return 0; }
    __device__ void operator()(const fft::cuda::CapPair& cap, std::int64_t m, int, int, double2 up,
                               double2 down) const {
        store_modes(pairs[cap.pair], cap.pixel[0] >= 0, cap.pixel[1] >= 0, m, up, down,
                    fourier[origin[m] + cap.pair]);
    }
};

/// The transpose of fold_kernel, after the filtering: F_m of the rings that the entry has.
static __global__ void unfold_kernel(const PairGeometry* pairs, const BluesteinPair* batch,
                                     const std::int64_t* origin, std::int64_t length,
                                     const double2* sequences, PairModes* fourier) {
    const BluesteinPair entry = batch[blockIdx.y];
    const PairGeometry pair = pairs[entry.pair];
    const std::int64_t m = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x,
                       n = pair.n_pixels;
    if (m > pair.last_m) return;
    const double2* sequence = sequences + blockIdx.y * length;
    const std::int64_t k = m % n, mirror = k == 0 ? 0 : n - k;
    const double2 up = times(sequence[k], conjugate(chirp(k, n)));
    const double2 down = times(sequence[mirror], conjugate(chirp(mirror, n)));
    store_modes(pair, entry.has_north, entry.has_south, m, up, down, fourier[origin[m] + entry.pair]);
}

/// The filter exp(-i pi j^2 / n), j = -(n-1)..n-1, wrapped to `length`.
static __global__ void chirp_filter_kernel(const PairGeometry* pairs, const BluesteinPair* batch,
                                           std::int64_t length, double2* sequences) {
    const std::int64_t n = pairs[batch[blockIdx.y].pair].n_pixels;
    const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (j >= length) return;
    const std::int64_t distance = min(j, length - j);
    sequences[blockIdx.y * length + j] = distance < n ? conjugate(chirp(distance, n)) : double2{0, 0};
}

/// Keeps the filters' spectra; pairs with the same filter write the same.
static __global__ void store_filters_kernel(const BluesteinPair* batch, std::int64_t length,
                                            const double2* sequences, double2* filters) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < length) filters[batch[blockIdx.y].filter + k] = sequences[blockIdx.y * length + k];
}

template <class From, class To>
__global__ void convert_kernel(const From* from, std::int64_t count, To* to) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < count) to[k] = static_cast<To>(from[k]);
}

template <class T>
__global__ void subtract_kernel(const T* from, std::int64_t count, T* out) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < count) out[k] = from[k] - out[k];
}

}  // namespace zonal::sht::cuda
