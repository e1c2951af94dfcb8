#pragma once

#include <array>
#include <cstdint>

/// Which method is the faster one: pure functions of shapes, with constants measured on a Xeon with AVX-512
/// and on an H200 (docs/decisions/chebyshev.md).
namespace zonal::chebyshev {

/// In one dimension the direct sum beats transforms up to so many coefficients, in more never. In batches
/// dense transforms are products of matrices with matrices, from so many series on as go through together.
inline constexpr std::int64_t largest_direct = 400;
inline constexpr std::int64_t largest_direct_in_batches = 50;
inline constexpr std::int64_t fewest_in_batches = 32;

/// Dense cosine matrices beat FFTs, which are in double in any case, up to so many points per axis.
template <class R>
inline constexpr std::int64_t largest_dense = sizeof(R) == sizeof(double) ? 416 : 832;

/// The same on CUDA by all coefficients of a series, an H200's: direct is one launch, but its work grows with
/// the square; a batch fills the device with any method.
constexpr std::int64_t largest_direct_on_cuda(int dimensions, std::int64_t n_batch) {
    constexpr std::array<std::array<std::int64_t, 4>, 3> largest{
        {{3000, 900, 1200, 700}, {784, 400, 64, 0}, {216, 64, 27, 0}}};
    const std::size_t column = n_batch < 4 ? 0 : n_batch < 32 ? 1 : n_batch < 300 ? 2 : 3;
    return largest.at(static_cast<std::size_t>(dimensions - 1)).at(column);
}

/// Dense cosine matrices beat FFTs on CUDA up to so many points of an axis with so many lines.
constexpr std::int64_t largest_dense_on_cuda(double n_lines) {
    return n_lines < 100 ? 2560 : n_lines < 1000 ? 1024 : 512;
}

/// What the choice of a method depends on.
struct ProductWork {
    int dimensions;
    double size;  ///< coefficients of a series
    std::int64_t n_terms, n_batch;
    bool on_cuda;
};

/// Transforms are shared by terms and pairs of coefficients are not.
inline bool direct_is_faster(const ProductWork& work) {
    const double size = work.size * static_cast<double>(work.n_terms);
    if (work.on_cuda)
        return size <= static_cast<double>(largest_direct_on_cuda(work.dimensions, work.n_batch));
    const auto largest = work.n_batch >= fewest_in_batches ? largest_direct_in_batches : largest_direct;
    return work.dimensions == 1 && size <= static_cast<double>(largest);
}

/// Points that make products of degree `degree` exact in modes up to `kept`: T_j looks like T_{2m-j} at m
/// Gauss points, so 2m > degree + kept.
inline std::int64_t fewest_points(std::int64_t degree, std::int64_t kept) {
    return (degree + kept) / 2 + 1;
}

}  // namespace zonal::chebyshev
