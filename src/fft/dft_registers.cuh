#pragma once

#include "core/cuda.cuh"

/// Discrete Fourier transforms of a few values in registers, and of up to 4096 by a group of threads through
/// shared memory.
namespace zonal::sht::cuda {

__device__ __forceinline__ double2 times(double2 a, double2 b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

__device__ __forceinline__ double2 conjugate(double2 a) {
    return {a.x, -a.y};
}

__device__ __forceinline__ double2 operator+(double2 a, double2 b) {
    return {a.x + b.x, a.y + b.y};
}

__device__ __forceinline__ double2 operator-(double2 a, double2 b) {
    return {a.x - b.x, a.y - b.y};
}

/// exp(2 pi i j / 16); folded to a constant where j is one.
__device__ __forceinline__ double2 root_of_16(int j) {
    constexpr double c1 = 0.92387953251128675613, c2 = 0.70710678118654752440, c3 = 0.38268343236508977173;
    constexpr double cosine[16] = {1, c1, c2, c3, 0, -c3, -c2, -c1, -1, -c1, -c2, -c3, 0, c3, c2, c1};
    return {cosine[j % 16], cosine[(j + 12) % 16]};
}

/// a times i, or -i.
template <bool Inverse>
__device__ __forceinline__ double2 quarter_turn(double2 a) {
    return Inverse ? double2{-a.y, a.x} : double2{a.y, -a.x};
}

/// v[k] <- sum_r v[r] exp(-+ 2 pi i r k / N), N = 1, 2, 4, 8 or 16; + for the inverse, which is not divided
/// by N.
template <int N, bool Inverse>
__device__ __forceinline__ void dft(double2* v) {
    if constexpr (N == 2) {
        const double2 a = v[0], b = v[1];
        v[0] = a + b, v[1] = a - b;
    } else if constexpr (N == 4) {
        const double2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3],
                      d = quarter_turn<Inverse>(v[1] - v[3]);
        v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
    } else if constexpr (N > 4) {
        constexpr int m = N / 4;
        double2 part[4][m];  // [k % 4][r % m]
#pragma unroll
        for (int r = 0; r < m; ++r) {
            double2 four[4] = {v[r], v[r + m], v[r + 2 * m], v[r + 3 * m]};
            dft<4, Inverse>(four);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const double2 root = root_of_16(r * k * (16 / N));
                part[k][r] = r * k == 0 ? four[k] : times(four[k], Inverse ? root : conjugate(root));
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

/// v[k] *= exp(-+ 2 pi i numerator k / denominator), k = 0..15; powers by few products, for few roundings.
template <bool Inverse>
__device__ __forceinline__ void twiddle(double2 (&v)[16], int numerator, int denominator) {
    double2 low[4] = {{1, 0}}, high[4] = {{1, 0}};
    sincospi(2.0 * numerator / denominator, &low[1].y, &low[1].x);
    if (!Inverse) low[1].y = -low[1].y;
    low[2] = times(low[1], low[1]), low[3] = times(low[2], low[1]);
    high[1] = times(low[2], low[2]), high[2] = times(high[1], high[1]), high[3] = times(high[2], high[1]);
#pragma unroll
    for (int k = 1; k < 16; ++k) {
        const double2 root = k % 4 == 0 ? high[k / 4] : k < 4 ? low[k] : times(high[k / 4], low[k % 4]);
        v[k] = times(v[k], root);
    }
}

/// Transforms of P = 256 .. 4096 values, 16 in each of P / 16 threads: value t + P/16 r in register r of
/// thread t. The spectrum stays where the last pass leaves it, in an order of its own that `inverse` undoes.
/// All threads of the block must call, as they meet.
template <int P>
struct SharedDft {
    static constexpr int threads = P / 16;
    static constexpr int last = P / 256;           ///< radix of the last pass
    static constexpr int stride = threads + last;  ///< both padded against conflicts of banks
    static constexpr int last_stride = last + 1;
    /// Complex numbers of shared memory.
    static constexpr int memory_size = 16 * stride > 256 * last_stride ? 16 * stride : 256 * last_stride;
    static_assert(P >= 256 && P <= 4096 && (P & (P - 1)) == 0);

    static __device__ void forward(double2 (&v)[16], int t, double2* memory) {
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
        if constexpr (last == 1) return;
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

    /// Not divided by P.
    static __device__ void inverse(double2 (&v)[16], int t, double2* memory) {
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

}  // namespace zonal::sht::cuda
