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
void multiply_matrices(const MatrixProduct<T>& m) {
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
void add_and_subtract(T* HWY_RESTRICT a, T* HWY_RESTRICT b, std::int64_t n) {
    const Tag<T> d;
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        const auto x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i);
        hn::StoreU(hn::Add(x, y), d, a + i);
        hn::StoreU(hn::Sub(x, y), d, b + i);
    });
}

template <class T>
void multiply(T weight, const T* a, const T* b, std::int64_t n, T* product) {
    const Tag<T> d;
    const auto w = hn::Set(d, weight);
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::Mul(w, hn::LoadU(d, a + i)), hn::LoadU(d, b + i)), d, product + i);
    });
}

template <class T>
void multiply_add(T weight, const T* a, const T* b, std::int64_t n, T* sum) {
    const Tag<T> d;
    const auto w = hn::Set(d, weight);
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        const auto factor = hn::Mul(w, hn::LoadU(d, a + i));
        hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, b + i), hn::LoadU(d, sum + i)), d, sum + i);
    });
}

template <class T>
void add(T weight, const T* a, std::int64_t n, T* sum) {
    const Tag<T> d;
    const auto w = hn::Set(d, weight);
    for_vectors<T>(n, [&](std::int64_t i) HWY_ATTR {
        hn::StoreU(hn::MulAdd(w, hn::LoadU(d, a + i), hn::LoadU(d, sum + i)), d, sum + i);
    });
}

template <class T>
constexpr CosineLoops<T> cosine_table{multiply_matrices<T>, add_and_subtract<T>, multiply<T>, multiply_add<T>,
                                      add<T>};

// The dispatch takes functions, not templates.
const CosineLoops<float>* float_cosine_loops() {
    return &cosine_table<float>;
}
const CosineLoops<double>* double_cosine_loops() {
    return &cosine_table<double>;
}

}  // namespace zonal::chebyshev::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::chebyshev {

HWY_EXPORT(float_cosine_loops);
HWY_EXPORT(double_cosine_loops);

template <>
const CosineLoops<float>& cosine_loops() {
    return *HWY_DYNAMIC_DISPATCH(float_cosine_loops)();
}
template <>
const CosineLoops<double>& cosine_loops() {
    return *HWY_DYNAMIC_DISPATCH(double_cosine_loops)();
}

}  // namespace zonal::chebyshev
#endif
