#pragma once

#include "core/cuda.cuh"

/// The kernels of Lindvall (2019) for products of primed Chebyshev series, for comparison: listings 1 and 2,
/// and the same in two dimensions after its section 3, with eq. 10 as it must be
/// (docs/how-it-works/chebyshev.md).
namespace zonal::bench {

/// Eq. 9 times two, for terms j = first, first + step, ..
__device__ inline double row_sum(const double* a, const double* b, int k, int n, int first, int step) {
    double sum = 0;
    for (int j = first; j < n; j += step) {
        if (j <= k) sum = fma(a[j], b[k - j], sum);
        if (j > 0 && j < n - k) sum = fma(a[j], b[j + k], fma(a[j + k], b[j], sum));
    }
    return sum;
}

/// Eq. 10 times four: eq. 9 over the rows, of eq. 9 along them. [n][n]
__device__ inline double plane_sum(const double* a, const double* b, int k, int l, int n, int first,
                                   int step) {
    double sum = 0;
    for (int i = 0; i <= k; ++i) sum += row_sum(a + i * n, b + (k - i) * n, l, n, first, step);
    for (int i = 1; i < n - k; ++i) {
        sum += row_sum(a + i * n, b + (i + k) * n, l, n, first, step);
        sum += row_sum(a + (i + k) * n, b + i * n, l, n, first, step);
    }
    return sum;
}

__global__ void monolithic_line(const double* a, const double* b, double* c, int n) {
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (k < n) c[k] = 0.5 * row_sum(a, b, k, n, 0, 1);
}

__global__ void monolithic_plane(const double* a, const double* b, double* c, int n) {
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index < n * n) c[index] = 0.25 * plane_sum(a, b, index / n, index % n, n, 0, 1);
}

__device__ inline double warp_sum(double sum) {
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
    return sum;
}

/// Blocks of one warp, one for each coefficient.
__global__ void stride_line(const double* a, const double* b, double* c, int n) {
    const int k = static_cast<int>(blockIdx.x);
    const double sum = warp_sum(row_sum(a, b, k, n, static_cast<int>(threadIdx.x), 32));
    if (threadIdx.x == 0) c[k] = 0.5 * sum;
}

__global__ void stride_plane(const double* a, const double* b, double* c, int n) {
    const int index = static_cast<int>(blockIdx.x);
    const double sum = warp_sum(plane_sum(a, b, index / n, index % n, n, static_cast<int>(threadIdx.x), 32));
    if (threadIdx.x == 0) c[index] = 0.25 * sum;
}

/// c = a b, of n or n x n coefficients.
inline void paper_product(bool stride, int dimensions, const double* a, const double* b, double* c, int n,
                          cudaStream_t stream) {
    constexpr int threads = 128;
    const int size = dimensions == 1 ? n : n * n, blocks = (size + threads - 1) / threads;
    if (stride)
        (dimensions == 1 ? stride_line : stride_plane)<<<size, 32, 0, stream>>>(a, b, c, n);
    else
        (dimensions == 1 ? monolithic_line : monolithic_plane)<<<blocks, threads, 0, stream>>>(a, b, c, n);
    core::check_launch("the paper's kernel");
}

}  // namespace zonal::bench
