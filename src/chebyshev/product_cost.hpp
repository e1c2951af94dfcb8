#pragma once

#include <cstdint>

/// Which method is the faster one: pure functions of shapes, with constants measured on a Xeon with AVX-512
/// (docs/decisions/chebyshev.md).
namespace zonal::chebyshev {

/// In one dimension the direct sum beats transforms up to so many coefficients, in more never. In batches
/// dense transforms are products of matrices with matrices, from so many series on as go through together.
inline constexpr std::int64_t largest_direct = 400;
inline constexpr std::int64_t largest_direct_in_batches = 50;
inline constexpr std::int64_t fewest_in_batches = 32;

/// Dense cosine matrices beat FFTs, which are in double in any case, up to so many points per axis.
template <class R>
inline constexpr std::int64_t largest_dense = sizeof(R) == sizeof(double) ? 416 : 832;

/// The same on CUDA, where the direct sum is one launch instead of two: for single products up to thousands,
/// for batches up to where the tensor cores make good that transforms need 1.5 times the arithmetic.
inline constexpr std::int64_t largest_direct_on_cuda = 600;

/// Dense cosine matrices beat FFTs on CUDA up to so many points per axis: until their 2 x 8 bytes for each
/// point and coefficient no longer fit into the second-level cache. An estimate, not a measurement.
inline constexpr std::int64_t largest_dense_on_cuda = 2048;

/// What the choice of a method depends on.
struct ProductWork {
    int dimensions;
    std::int64_t extent;  ///< of the first axis
    std::int64_t n_terms, n_batch;
    bool on_cuda;
};

/// Transforms are shared by terms and pairs of coefficients are not.
inline bool direct_is_faster(const ProductWork& work) {
    const bool in_batches = work.n_batch >= fewest_in_batches;
    const auto largest = work.on_cuda ? largest_direct_on_cuda
                         : in_batches ? largest_direct_in_batches
                                      : largest_direct;
    return work.dimensions == 1 && work.extent * work.n_terms <= largest;
}

/// Points that make products of degree `degree` exact in modes up to `kept`: T_j looks like T_{2m-j} at m
/// Gauss points, so 2m > degree + kept.
inline std::int64_t fewest_points(std::int64_t degree, std::int64_t kept) {
    return (degree + kept) / 2 + 1;
}

}  // namespace zonal::chebyshev
