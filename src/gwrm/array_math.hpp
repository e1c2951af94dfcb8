#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

/// What is done to the elements of arrays and what is made of all of them, for the CPU and CUDA.
///
/// Tasks have operator()(outer, inner) for n_outer x n_inner elements, each of which changes memory of its
/// own.
namespace zonal::gwrm {

struct Fill {
    std::int64_t n_outer = 1, n_inner = 0;
    double value = 0;
    double* to = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t, std::int64_t i) const { to[i] = value; }
};

struct Copy {
    std::int64_t n_outer = 1, n_inner = 0;
    const double* from = nullptr;
    double* to = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t, std::int64_t i) const { to[i] = from[i]; }
};

struct Divide {
    std::int64_t n_outer = 1, n_inner = 0;
    double divisor = 1;
    double* x = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t, std::int64_t i) const { x[i] /= divisor; }
};

/// to += weight from
struct WeightedArray {
    const double* from = nullptr;
    double weight = 1;
    double* to = nullptr;
    ZONAL_HOST_DEVICE void add(std::int64_t i) const { to[i] += weight * from[i]; }
};

/// Several of them, one after the other.
struct AddArrays {
    static constexpr int most = 16;
    std::int64_t n_outer = 1, n_inner = 0;
    int n_arrays = 0;
    WeightedArray arrays[most];
    ZONAL_HOST_DEVICE void operator()(std::int64_t, std::int64_t i) const {
        for (int k = 0; k < n_arrays; ++k) arrays[k].add(i);
    }
};

/// x = a - x
struct SubtractFrom {
    std::int64_t n_outer = 1, n_inner = 0;
    const double* a = nullptr;
    double* x = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t, std::int64_t i) const { x[i] = a[i] - x[i]; }
};

/// Mode 0 in time of every block of x loses what u0 has. x: [n_outer, block], u0: [n_outer, n_inner]
struct SubtractFromFirstMode {
    std::int64_t n_outer = 0, n_inner = 0, block = 0;
    const double* u0 = nullptr;
    double* x = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t b, std::int64_t i) const {
        x[b * block + i] -= u0[b * n_inner + i];
    }
};

/// A number for each series in time: its value at the upper end, or its mean. a: [n_outer, n_modes, n_inner],
/// to: [n_outer, n_inner]
struct TimeSum {
    enum class Kind { end, mean };
    std::int64_t n_outer = 0, n_inner = 0, n_modes = 0;
    Kind kind = Kind::end;
    const double* a = nullptr;
    double* to = nullptr;
    /// T_k(1) = 1; int T_k / 2 = 1 / (1 - k^2) for even k.
    ZONAL_HOST_DEVICE double weight(std::int64_t k) const {
        if (kind == Kind::end) return 1;
        return k % 2 == 0 ? 1 / static_cast<double>(1 - k * k) : 0;
    }
    ZONAL_HOST_DEVICE void operator()(std::int64_t b, std::int64_t i) const {
        double sum = 0;
        for (std::int64_t k = n_modes - 1; k >= 0; --k) sum += weight(k) * a[(b * n_modes + k) * n_inner + i];
        to[b * n_inner + i] = sum;
    }
};

/// Blocks of modes in another shape: cut off, or with zeros. n_outer: blocks times extents of axis 0 of the
/// target, n_inner: its other modes.
struct Resize {
    std::int64_t n_outer = 0, n_inner = 0;
    std::int64_t source[3] = {1, 1, 1}, target[3] = {1, 1, 1};
    const double* from = nullptr;
    double* to = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t outer, std::int64_t inner) const {
        const std::int64_t b = outer / target[0], k = outer % target[0];
        const std::int64_t l = target[2] == 1 ? inner : inner / target[2], m = inner - l * target[2];
        const bool is_there = k < source[0] && l < source[1] && m < source[2];
        to[outer * n_inner + inner] =
            is_there ? from[((b * source[0] + k) * source[1] + l) * source[2] + m] : 0;
    }
};

/// Where several vectors of n unknowns lie, [field, vector, unknown of the field].
struct VectorPlaces {
    std::int64_t n = 0, per_field = 1;
    ZONAL_HOST_DEVICE std::int64_t operator()(std::int64_t vector, std::int64_t i) const {
        return (i / per_field * n + vector) * per_field + i % per_field;
    }
};

/// Where mode k in time of a spatial unknown lies, [field and subdomain, k, l, m].
struct TimeSeries {
    std::int64_t spatial_block = 1, block = 1;
    ZONAL_HOST_DEVICE std::int64_t operator()(std::int64_t s, std::int64_t k) const {
        return s / spatial_block * block + k * spatial_block + s % spatial_block;
    }
};

/// Ones of n unit vectors, whose zeros are there.
struct SetOnes {
    std::int64_t n_outer = 1, n_inner = 0;
    VectorPlaces place;
    double* to = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t, std::int64_t i) const { to[place(i, i)] = 1; }
};

/// w += weight sum_j c_j v_j. vectors: [n_vectors, n_inner]
struct Combine {
    std::int64_t n_outer = 1, n_inner = 0, n_vectors = 0;
    double weight = 1;
    const double *vectors = nullptr, *coefficients = nullptr;
    double* w = nullptr;
    ZONAL_HOST_DEVICE void operator()(std::int64_t, std::int64_t i) const {
        double sum = 0;
        for (std::int64_t j = 0; j < n_vectors; ++j) sum += coefficients[j] * vectors[j * n_inner + i];
        w[i] += weight * sum;
    }
};

/// Reductions make one number of each of n_segments segments: segment(s) has a length and value(i), of which
/// Operation::combine makes the one that store() keeps.
struct Sum {
    ZONAL_HOST_DEVICE static double combine(double x, double y) { return x + y; }
};
/// NaN, where there is one.
struct Maximum {
    ZONAL_HOST_DEVICE static double combine(double x, double y) { return x >= y || x != x ? x : y; }
};

/// results[j] = v_j . w. vectors: [n_segments, n]
struct Dot {
    using Operation = Sum;
    std::int64_t n_segments = 0, n = 0;
    const double *vectors = nullptr, *w = nullptr;
    double* results = nullptr;
    struct Segment {
        std::int64_t length;
        const double *v, *w;
        ZONAL_HOST_DEVICE double value(std::int64_t i) const { return v[i] * w[i]; }
    };
    ZONAL_HOST_DEVICE Segment segment(std::int64_t j) const { return {n, vectors + j * n, w}; }
    ZONAL_HOST_DEVICE void store(std::int64_t j, double value) const { results[j] = value; }
};

/// results[s] = sum of the magnitudes in a segment. a: [n_segments, n]
struct Magnitudes {
    using Operation = Sum;
    std::int64_t n_segments = 0, n = 0;
    const double* a = nullptr;
    double* results = nullptr;
    struct Segment {
        std::int64_t length;
        const double* a;
        ZONAL_HOST_DEVICE double value(std::int64_t i) const { return std::abs(a[i]); }
    };
    ZONAL_HOST_DEVICE Segment segment(std::int64_t s) const { return {n, a + s * n}; }
    ZONAL_HOST_DEVICE void store(std::int64_t s, double value) const { results[s] = value; }
};

/// results[s] = the largest magnitude in a segment, among modes from `first_mode` on of an axis of n_modes
/// modes that lie a stride apart. a: [n_segments, n]
struct Largest {
    using Operation = Maximum;
    std::int64_t n_segments = 0, n = 0;
    const double* a = nullptr;
    double* results = nullptr;
    std::int64_t stride = 1, n_modes = 1, first_mode = 0;
    struct Segment {
        std::int64_t length, stride, n_modes, first_mode;
        const double* a;
        ZONAL_HOST_DEVICE double value(std::int64_t i) const {
            return first_mode <= 0 || i / stride % n_modes >= first_mode ? std::abs(a[i]) : 0;
        }
    };
    ZONAL_HOST_DEVICE Segment segment(std::int64_t s) const {
        return {n, stride, n_modes, first_mode, a + s * n};
    }
    ZONAL_HOST_DEVICE void store(std::int64_t s, double value) const { results[s] = value; }
};

}  // namespace zonal::gwrm
