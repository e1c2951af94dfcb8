#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

/// Which method is the faster one: pure functions of shapes, with constants measured on a Xeon with AVX-512
/// (docs/decisions/chebyshev.md).
namespace zonal::chebyshev {

/// The direct sum beats transforms up to so many coefficients per axis, in 1, 2 and 3 dimensions.
inline constexpr std::array<std::int64_t, 3> largest_direct{700, 6, 3};

/// Dense cosine matrices beat FFTs up to so many points per axis.
inline constexpr std::int64_t largest_dense = 640;

inline bool direct_is_faster(int dimensions, const std::array<std::int64_t, 3>& extents,
                             std::size_t n_terms) {
    // Transforms are shared by the terms, pairs of coefficients are not.
    const auto share = static_cast<std::int64_t>(std::clamp<std::size_t>(n_terms, 1, 4));
    const auto largest = *std::max_element(extents.begin(), extents.begin() + dimensions);
    return largest * share <= largest_direct[static_cast<std::size_t>(dimensions - 1)];
}

/// Points that make products of degree `degree` exact in modes up to `kept`: T_j looks like T_{2m-j} at m
/// Gauss points, so 2m > degree + kept.
inline std::int64_t fewest_points(std::int64_t degree, std::int64_t kept) {
    return (degree + kept) / 2 + 1;
}

}  // namespace zonal::chebyshev
