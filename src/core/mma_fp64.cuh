#pragma once

/// Products of small matrices of doubles by a warp: on the tensor cores where there are some for doubles.
namespace zonal::core {

/// c += a b, 8 x 4 by 4 x 8. Lane (g, t) = (lane / 4, lane % 4) has a = A[g][t], b = B[t][g] and
/// c = C[g][2t], C[g][2t + 1].
__device__ __forceinline__ void multiply_add_8x8x4(double (&c)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
#else
    const int lane = static_cast<int>(threadIdx.x) % 32, t = lane % 4;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const double left = __shfl_sync(~0u, a, (lane & ~3) + k);
        c[0] = fma(left, __shfl_sync(~0u, b, 8 * t + k), c[0]);
        c[1] = fma(left, __shfl_sync(~0u, b, 8 * t + 4 + k), c[1]);
    }
#endif
}

/// c += a b, 16 x 16 by 16 x 8. Lane (g, t) has
///   a[2i + h] = A[g + 8h][t + 4i], b[i] = B[t + 4i][g], c[2h + j] = C[g + 8h][2t + j].
__device__ __forceinline__ void multiply_add_16x8x16(double (&c)[4], const double (&a)[8],
                                                     const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            double part[2] = {c[2 * h], c[2 * h + 1]};
            multiply_add_8x8x4(part, a[2 * i + h], b[i]);
            c[2 * h] = part[0], c[2 * h + 1] = part[1];
        }
#endif
}

/// a of 16 rows in shared memory from a column on, which is even, read two numbers of a row at a time: its
/// column t + 4i is theirs of 8 (i / 2) + 2t + i % 2, and b[i] has to be of that row.
template <int Stride>
__device__ __forceinline__ void load_in_twos(const double (*rows)[Stride], int column, double (&a)[8]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            const double2 two = *reinterpret_cast<const double2*>(&rows[g + 8 * h][column + 4 * i + 2 * t]);
            a[2 * i + h] = two.x;
            a[2 * i + 2 + h] = two.y;
        }
}

}  // namespace zonal::core
