#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "chebyshev/transform/cosine_kernels_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "chebyshev/transform/cosine_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::chebyshev::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

// Sums in registers: 8 x 3 vectors of AVX-512's 32 registers, 4 x 3 of 16. Each waits for itself 4 cycles on
// two units, so 8 are needed.
constexpr int n_rows = HWY_MAX_BYTES >= 64 ? 8 : 4;
constexpr int n_vectors = 3;
/// Columns are copied to lie together where at least so many rows use them.
constexpr std::int64_t rows_worth_copying = 3 * n_rows;

template <int Rows, int Vectors, class T>
HWY_INLINE void multiply_block(const MatrixProduct<T>& m, const T* HWY_RESTRICT left,
                               const T* HWY_RESTRICT right, std::int64_t right_row, T* HWY_RESTRICT out) {
    const Tag<T> d;
    using Vec = hn::Vec<decltype(d)>;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    Vec sum[Rows][Vectors];
    for (int i = 0; i < Rows; ++i)
        for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::Zero(d);
    for (std::int64_t q = 0; q < m.inner; ++q, right += right_row, left += m.left_column) {
        Vec b[Vectors];
        for (int v = 0; v < Vectors; ++v) b[v] = hn::LoadU(d, right + v * lanes);
        for (int i = 0; i < Rows; ++i) {
            const Vec a = hn::Set(d, left[i * m.left_row]);
            for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::MulAdd(a, b[v], sum[i][v]);
        }
    }
    for (int i = 0; i < Rows; ++i)
        for (int v = 0; v < Vectors; ++v) hn::StoreU(sum[i][v], d, out + i * m.out_row + v * lanes);
}

template <int Vectors, class T>
HWY_INLINE void multiply_columns(const MatrixProduct<T>& m, const T* HWY_RESTRICT right,
                                 std::int64_t right_row, T* HWY_RESTRICT out) {
    std::int64_t i = 0;
    for (; i + n_rows <= m.rows; i += n_rows)
        multiply_block<n_rows, Vectors>(m, m.left + i * m.left_row, right, right_row, out + i * m.out_row);
    for (; i + n_rows / 2 <= m.rows; i += n_rows / 2)
        multiply_block<n_rows / 2, Vectors>(m, m.left + i * m.left_row, right, right_row,
                                            out + i * m.out_row);
    for (; i < m.rows; ++i)
        multiply_block<1, Vectors>(m, m.left + i * m.left_row, right, right_row, out + i * m.out_row);
}

/// Columns [0, Vectors * lanes) of `right`, through the copy where there is one.
template <int Vectors, class T>
HWY_INLINE void multiply_copied(const MatrixProduct<T>& m, const T* HWY_RESTRICT right, T* HWY_RESTRICT out,
                                bool copy) {
    const Tag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    if (!copy) {
        multiply_columns<Vectors>(m, right, m.right_row, out);
        return;
    }
    for (std::int64_t q = 0; q < m.inner; ++q)
        for (int v = 0; v < Vectors; ++v)
            hn::StoreU(hn::LoadU(d, right + q * m.right_row + v * lanes), d,
                       m.scratch + (q * Vectors + v) * lanes);
    multiply_columns<Vectors>(m, m.scratch, Vectors * lanes, out);
}

template <class T>
void multiply_matrices_of(const MatrixProduct<T>& m) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
    const bool copy = m.rows >= rows_worth_copying && m.right_row != n_vectors * lanes;
    std::int64_t p = 0;
    for (; p + n_vectors * lanes <= m.columns; p += n_vectors * lanes)
        multiply_copied<n_vectors>(m, m.right + p, m.out + p, copy);
    const std::int64_t rest = (m.columns - p) / lanes;
    if (rest == 2) multiply_copied<2>(m, m.right + p, m.out + p, copy);
    if (rest == 1) multiply_copied<1>(m, m.right + p, m.out + p, copy);
}

/// Calls body(offset) for whole vectors, n a multiple of column_unit.
template <class T, class Body>
HWY_INLINE void for_vectors(std::int64_t n, const Body& body) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
    for (std::int64_t i = 0; i < n; i += lanes) body(i);
}

template <class T>
void add_and_subtract_of(T* HWY_RESTRICT a, T* HWY_RESTRICT b, std::int64_t n) {
    const Tag<T> d;
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        const auto x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i);
        hn::StoreU(hn::Add(x, y), d, a + i);
        hn::StoreU(hn::Sub(x, y), d, b + i);
    });
}

template <class T>
void multiply_of(T weight, const T* a, const T* b, std::int64_t n, T* product) {
    const Tag<T> d;
    const auto w = hn::Set(d, weight);
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::Mul(w, hn::LoadU(d, a + i)), hn::LoadU(d, b + i)), d, product + i);
    });
}

template <class T>
void multiply_add_of(T weight, const T* a, const T* b, std::int64_t n, T* sum) {
    const Tag<T> d;
    const auto w = hn::Set(d, weight);
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        const auto factor = hn::Mul(w, hn::LoadU(d, a + i));
        hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, b + i), hn::LoadU(d, sum + i)), d, sum + i);
    });
}

template <class T>
void add_of(T weight, const T* a, std::int64_t n, T* sum) {
    const Tag<T> d;
    const auto w = hn::Set(d, weight);
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        hn::StoreU(hn::MulAdd(w, hn::LoadU(d, a + i), hn::LoadU(d, sum + i)), d, sum + i);
    });
}

void multiply_matrices_float(const MatrixProduct<float>& m) {
    multiply_matrices_of(m);
}
void multiply_matrices_double(const MatrixProduct<double>& m) {
    multiply_matrices_of(m);
}
void add_and_subtract_float(float* a, float* b, std::int64_t n) {
    add_and_subtract_of(a, b, n);
}
void add_and_subtract_double(double* a, double* b, std::int64_t n) {
    add_and_subtract_of(a, b, n);
}
void multiply_float(float weight, const float* a, const float* b, std::int64_t n, float* product) {
    multiply_of(weight, a, b, n, product);
}
void multiply_double(double weight, const double* a, const double* b, std::int64_t n, double* product) {
    multiply_of(weight, a, b, n, product);
}
void multiply_add_float(float weight, const float* a, const float* b, std::int64_t n, float* sum) {
    multiply_add_of(weight, a, b, n, sum);
}
void multiply_add_double(double weight, const double* a, const double* b, std::int64_t n, double* sum) {
    multiply_add_of(weight, a, b, n, sum);
}
void add_float(float weight, const float* a, std::int64_t n, float* sum) {
    add_of(weight, a, n, sum);
}
void add_double(double weight, const double* a, std::int64_t n, double* sum) {
    add_of(weight, a, n, sum);
}

}  // namespace zonal::chebyshev::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::chebyshev {

HWY_EXPORT(multiply_matrices_float);
HWY_EXPORT(multiply_matrices_double);
HWY_EXPORT(add_and_subtract_float);
HWY_EXPORT(add_and_subtract_double);
HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(multiply_add_float);
HWY_EXPORT(multiply_add_double);
HWY_EXPORT(add_float);
HWY_EXPORT(add_double);

template <>
void multiply_matrices(const MatrixProduct<float>& product) {
    HWY_DYNAMIC_DISPATCH(multiply_matrices_float)(product);
}
template <>
void multiply_matrices(const MatrixProduct<double>& product) {
    HWY_DYNAMIC_DISPATCH(multiply_matrices_double)(product);
}
template <>
void add_and_subtract(float* a, float* b, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(add_and_subtract_float)(a, b, n);
}
template <>
void add_and_subtract(double* a, double* b, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(add_and_subtract_double)(a, b, n);
}
template <>
void multiply(float weight, const float* a, const float* b, std::int64_t n, float* product) {
    HWY_DYNAMIC_DISPATCH(multiply_float)(weight, a, b, n, product);
}
template <>
void multiply(double weight, const double* a, const double* b, std::int64_t n, double* product) {
    HWY_DYNAMIC_DISPATCH(multiply_double)(weight, a, b, n, product);
}
template <>
void multiply_add(float weight, const float* a, const float* b, std::int64_t n, float* sum) {
    HWY_DYNAMIC_DISPATCH(multiply_add_float)(weight, a, b, n, sum);
}
template <>
void multiply_add(double weight, const double* a, const double* b, std::int64_t n, double* sum) {
    HWY_DYNAMIC_DISPATCH(multiply_add_double)(weight, a, b, n, sum);
}
template <>
void add(float weight, const float* a, std::int64_t n, float* sum) {
    HWY_DYNAMIC_DISPATCH(add_float)(weight, a, n, sum);
}
template <>
void add(double weight, const double* a, std::int64_t n, double* sum) {
    HWY_DYNAMIC_DISPATCH(add_double)(weight, a, n, sum);
}

}  // namespace zonal::chebyshev
#endif
