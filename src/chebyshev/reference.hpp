#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

/// Products in their plainest form, T_i T_j = (T_{i+j} + T_{|i-j|}) / 2 term by term, in long double: what
/// the methods are compared with.
namespace zonal::chebyshev {

struct ReferenceSeries {
    using Value = std::complex<long double>;
    std::array<std::int64_t, 3> extents{1, 1, 1};  ///< those of absent axes are 1
    std::vector<Value> plain;                      ///< [k_0, k_1, k_2], row-major, plain in all axes

    explicit ReferenceSeries(const std::array<std::int64_t, 3>& n);
    Value& at(std::int64_t i, std::int64_t j, std::int64_t k) {
        return plain[static_cast<std::size_t>((i * extents[1] + j) * extents[2] + k)];
    }
    const Value& at(std::int64_t i, std::int64_t j, std::int64_t k) const {
        return plain[static_cast<std::size_t>((i * extents[1] + j) * extents[2] + k)];
    }
};

/// The whole product.
ReferenceSeries reference_product(const ReferenceSeries& a, const ReferenceSeries& b);
/// Coefficients replaced by their magnitudes.
ReferenceSeries magnitudes(const ReferenceSeries& a);

}  // namespace zonal::chebyshev
