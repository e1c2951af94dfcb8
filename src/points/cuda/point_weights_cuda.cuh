#pragma once

#include <type_traits>

#include "core/cuda.cuh"
#include "points/window.hpp"
#include "zonal/error.hpp"

/// The weights of a window, for kernels of a fixed width. Widths on GPUs are even (sample_choice.cpp), so
/// that all samples come in pairs.
namespace zonal::points::cuda {

/// WindowPolynomials, one after the other: even and odd parts, and those of the slopes.
struct WeightTables {
    const double* data;
    int n_pairs, n_terms;
    /// How many doubles each of the parts has, and all that a kernel loads have together.
    __host__ __device__ int size() const { return n_pairs * n_terms; }
    __host__ __device__ int doubles(bool slopes) const { return (slopes ? 4 : 2) * size(); }
};

/// Bytes of shared memory for the weights, with their slopes if asked for.
inline std::int64_t shared_bytes(const WeightTables& tables, bool slopes) {
    return tables.doubles(slopes) * static_cast<std::int64_t>(sizeof(double));
}

/// All threads of a block call it, and synchronise before they use what is there.
__device__ inline void load_weights(const WeightTables& tables, bool slopes, double* shared) {
    for (int i = threadIdx.x; i < tables.doubles(slopes); i += blockDim.x) shared[i] = tables.data[i];
}

/// Weights of a sample and of its mirror image in the window, or their slopes.
struct PairOfWeights {
    double first, mirror;
};

template <bool Slopes>
__device__ __forceinline__ PairOfWeights weights_of(const double* tables, const WeightTables& shape, int pair,
                                                    double y, double square) {
    const int size = shape.size();
    const double* const even = tables + (Slopes ? 2 : 0) * size + pair * shape.n_terms;
    const double* const odd = even + size;
    double e = even[shape.n_terms - 1], o = odd[shape.n_terms - 1];
    for (int term = shape.n_terms - 2; term >= 0; --term) {
        e = fma(e, square, even[term]);
        o = fma(o, square, odd[term]);
    }
    const double y_odd = y * o;
    return {e + y_odd, Slopes ? y_odd - e : e - y_odd};
}

/// Calls work(std::integral_constant<int, width>()).
template <int N = 2, class Work>
void with_width(std::int64_t width, const Work& work) {
    if (width == N) return work(std::integral_constant<int, N>());
    if constexpr (N < max_width)
        with_width<N + 2>(width, work);
    else
        throw Error("points: no kernel has this width");
}

}  // namespace zonal::points::cuda
