#pragma once

#include "fft/complex.cuh"

/// Discrete Fourier transforms of a few values in registers, and of up to 4096 by a group of threads through
/// shared memory, of float2 or double2.
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

}  // namespace zonal::fft::cuda
