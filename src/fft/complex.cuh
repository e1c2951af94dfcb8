#pragma once

#include "core/cuda.cuh"

/// Complex numbers of either precision in device code, and the roots of unity of ring transforms.
namespace zonal::fft::cuda {

template <class R>
struct ComplexOf;
template <>
struct ComplexOf<float> {
    using type = float2;
};
template <>
struct ComplexOf<double> {
    using type = double2;
};
template <class R>
using Complex = typename ComplexOf<R>::type;

inline constexpr int ring_threads = 256;

/// Blocks of ring_threads threads for `count` items.
inline unsigned blocks_of(std::int64_t count) {
    return static_cast<unsigned>((count + ring_threads - 1) / ring_threads);
}

// Overloads rather than templates: the arguments may be braced lists.
__device__ __forceinline__ double2 times(double2 a, double2 b) {
    return {fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x)};
}
__device__ __forceinline__ float2 times(float2 a, float2 b) {
    return {fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x)};
}
__device__ __forceinline__ double2 operator+(double2 a, double2 b) {
    return {a.x + b.x, a.y + b.y};
}
__device__ __forceinline__ float2 operator+(float2 a, float2 b) {
    return {a.x + b.x, a.y + b.y};
}
__device__ __forceinline__ double2 operator-(double2 a, double2 b) {
    return {a.x - b.x, a.y - b.y};
}
__device__ __forceinline__ float2 operator-(float2 a, float2 b) {
    return {a.x - b.x, a.y - b.y};
}
__device__ __forceinline__ double2 conjugate(double2 a) {
    return {a.x, -a.y};
}
__device__ __forceinline__ float2 conjugate(float2 a) {
    return {a.x, -a.y};
}
template <class C>
__device__ __forceinline__ double2 widened(C a) {
    return {static_cast<double>(a.x), static_cast<double>(a.y)};
}
template <class R>
__device__ __forceinline__ Complex<R> narrowed(double2 a) {
    return {static_cast<R>(a.x), static_cast<R>(a.y)};
}

/// exp(i m phi_0); the rounding error of m phi_0 is put back, as an angle of many turns has lost digits.
__device__ inline double2 phase(std::int64_t m, double phi_0) {
    if (phi_0 == 0) return {1, 0};
    const double angle = static_cast<double>(m) * phi_0, lost = fma(static_cast<double>(m), phi_0, -angle);
    double s, c;
    sincos(angle, &s, &c);
    return {c - lost * s, s + lost * c};
}

/// exp(2 pi i j / n)
__device__ inline double2 root_of_unity(std::int64_t j, std::int64_t n) {
    double2 root;
    sincospi(2.0 * static_cast<double>(j) / static_cast<double>(n), &root.y, &root.x);
    return root;
}

/// exp(i pi k^2 / n)
__device__ inline double2 chirp(std::int64_t k, std::int64_t n) {
    double2 value;
    sincospi(static_cast<double>(k * k % (2 * n)) / static_cast<double>(n), &value.y, &value.x);
    return value;
}

}  // namespace zonal::fft::cuda
