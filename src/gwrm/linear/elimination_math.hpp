#pragma once

#include <cstdint>

#include "core/complex_math.hpp"

/// Inverses in place by Gauss-Jordan elimination with partial pivoting (Higham 2002, section 14.4), element
/// by element, for CUDA and for the tests on the CPU.
namespace zonal::gwrm {

using core::Complex;
using core::magnitude;
using core::reciprocal;

/// One matrix A. In the end it is the inverse of P A, whose row i is row order[i] of A. A step k is: find the
/// pivot; exchange() for all j; take_column() for all i; eliminate() for all i, j.
template <class T>
struct Elimination {
    std::int64_t n = 0;
    T* matrix = nullptr;  ///< [n, n], row-major
    /// [n]: the pivot's row, divided by the pivot, with 1 / pivot in column k; and column k.
    T *row = nullptr, *column = nullptr;
    std::int64_t* order = nullptr;  ///< [n], 0 .. n - 1 at the beginning
    double* pivots = nullptr;       ///< [n], magnitudes

    ZONAL_HOST_DEVICE double size(std::int64_t k, std::int64_t i) const {
        return magnitude(matrix[i * n + k]);
    }
    ZONAL_HOST_DEVICE T inverse_pivot(std::int64_t k, std::int64_t pivot) const {
        return reciprocal(matrix[pivot * n + k]);
    }
    ZONAL_HOST_DEVICE void exchange(std::int64_t k, std::int64_t pivot, T inverse, std::int64_t j) const {
        const T above = matrix[k * n + j], below = matrix[pivot * n + j];
        matrix[pivot * n + j] = above;
        row[j] = j == k ? inverse : below * inverse;
    }
    ZONAL_HOST_DEVICE void record(std::int64_t k, std::int64_t pivot, double pivot_size) const {
        const std::int64_t taken = order[pivot];
        order[pivot] = order[k];
        order[k] = taken;
        pivots[k] = pivot_size;
    }
    ZONAL_HOST_DEVICE void take_column(std::int64_t k, std::int64_t i) const {
        column[i] = matrix[i * n + k];
    }
    ZONAL_HOST_DEVICE void eliminate(std::int64_t k, std::int64_t i, std::int64_t j) const {
        T& element = matrix[i * n + j];
        element = i == k ? row[j] : (j == k ? T{} : element) - column[i] * row[j];
    }
};

/// Several matrices of one size, with what their elimination needs.
template <class T>
struct EliminationSet {
    std::int64_t n = 0;
    T *matrices = nullptr, *rows = nullptr, *columns = nullptr;
    std::int64_t* orders = nullptr;
    double* pivots = nullptr;

    ZONAL_HOST_DEVICE Elimination<T> operator[](std::int64_t s) const {
        return {n, matrices + s * n * n, rows + s * n, columns + s * n, orders + s * n, pivots + s * n};
    }
};

}  // namespace zonal::gwrm
