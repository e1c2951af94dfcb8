#pragma once

#include <cstdint>

namespace zonal::chebyshev {

/// Rows of coefficients mirrored at k = 0, with zeros on both sides: what vector loads reach beyond the last
/// coefficient, at most 8 vectors of outputs and 6 of factors of 64 bytes each.
template <class T>
inline constexpr std::int64_t row_padding = 14 * 64 / static_cast<std::int64_t>(sizeof(T));

/// Where a mirrored row has its element of index 0: at a multiple of a vector, with the padding before.
template <class T>
constexpr std::int64_t row_centre(std::int64_t degree) {
    constexpr std::int64_t lanes = 64 / static_cast<std::int64_t>(sizeof(T));
    return (degree + lanes - 1) / lanes * lanes + row_padding<T>;
}

/// Elements of a mirrored row with its padding, a multiple of a vector.
template <class T>
constexpr std::int64_t row_length(std::int64_t degree) {
    return 2 * row_centre<T>(degree) + 64 / static_cast<std::int64_t>(sizeof(T));
}

/// Elements that an output row needs, as whole groups of vectors are written.
template <class T>
constexpr std::int64_t output_row_length(std::int64_t n) {
    return n + row_padding<T>;
}

/// Two mirrored rows, at their element of index 0.
template <class T>
struct RowPair {
    const T* a;
    const T* b;
};

/// out[k] += sum over the pairs of sum_i a[i] b[k - i], k < n, |i| <= a_degree, |k - i| <= b_degree; each
/// pair's sum is done before it is added, so that rounding grows as the longer of the two sums.
/// out: [output_row_length(n)]
template <class T>
void add_row_products(const RowPair<T>* pairs, std::int64_t n_pairs, std::int64_t a_degree,
                      std::int64_t b_degree, T* out, std::int64_t n);

}  // namespace zonal::chebyshev
