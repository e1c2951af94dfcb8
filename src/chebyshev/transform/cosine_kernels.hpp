#pragma once

#include <cstdint>

/// The arithmetic of transforms with dense cosine matrices. T: float or double.
namespace zonal::chebyshev {

/// Columns of the right matrix are taken in multiples of this: one vector of 64 bytes.
template <class T>
inline constexpr std::int64_t column_unit = 64 / static_cast<std::int64_t>(sizeof(T));
/// Columns that one block of registers takes at once.
template <class T>
inline constexpr std::int64_t column_block = 3 * column_unit<T>;

/// out[i, p] = sum_q left[i, q] right[q, p], i < rows, q < inner, p < columns.
template <class T>
struct MatrixProduct {
    std::int64_t rows, inner, columns;  ///< columns: a multiple of column_unit
    const T* left;
    std::int64_t left_row, left_column;  ///< strides of left
    const T* right;
    std::int64_t right_row;  ///< stride of rows; columns are contiguous
    T* out;
    std::int64_t out_row;
    T* scratch;  ///< [inner * column_block]
};

template <class T>
struct CosineLoops {
    void (*multiply_matrices)(const MatrixProduct<T>& product);
    /// (a, b) <- (a + b, a - b)
    void (*add_and_subtract)(T* a, T* b, std::int64_t n);
    /// product = weight a b
    void (*multiply)(T weight, const T* a, const T* b, std::int64_t n, T* product);
    /// sum += weight a b
    void (*multiply_add)(T weight, const T* a, const T* b, std::int64_t n, T* sum);
    /// sum += weight a
    void (*add)(T weight, const T* a, std::int64_t n, T* sum);
};

/// Those for the machine's widest vectors.
template <class T>
const CosineLoops<T>& cosine_loops();

}  // namespace zonal::chebyshev
