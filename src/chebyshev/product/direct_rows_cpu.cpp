#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "chebyshev/product/direct_rows_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "chebyshev/product/direct_math.hpp"
#include "chebyshev/product/direct_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::chebyshev::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of outputs and of factors in registers: one load of b serves both up to their number, and outputs
// wait for themselves 4 cycles on two units. AVX-512 has 32 registers, the others 16. Measured: 8 x 6 is a
// tenth faster than 8 x 4 and 8 x 8.
constexpr int n_outputs = HWY_MAX_BYTES >= 64 ? 8 : 4;
constexpr int n_factors = HWY_MAX_BYTES >= 64 ? 6 : 2;

/// Adds to V vectors of outputs from k on.
template <int V, class T>
HWY_INLINE void add_block(const RowPair<T>* pairs, std::int64_t n_pairs, std::int64_t a_degree,
                          std::int64_t b_degree, std::int64_t k, T* HWY_RESTRICT out) {
    const hn::CappedTag<T, 64 / sizeof(T)> d;
    using Vec = hn::Vec<decltype(d)>;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t first = pair_range(k, a_degree, b_degree).first;
    const std::int64_t last = pair_range(k + V * lanes - 1, a_degree, b_degree).last;
    Vec total[V];
    for (int v = 0; v < V; ++v) total[v] = hn::LoadU(d, out + k + v * lanes);
    for (std::int64_t pair = 0; pair < n_pairs; ++pair) {
        Vec sum[V];
        for (int v = 0; v < V; ++v) sum[v] = hn::Zero(d);
        for (std::int64_t base = first; base <= last; base += n_factors * lanes) {
            for (std::int64_t r = base; r < base + lanes; ++r) {
                const T* HWY_RESTRICT a = pairs[pair].a + r;
                const T* HWY_RESTRICT b = pairs[pair].b + k - r;
                Vec shifted[V + n_factors - 1];
                for (int s = 0; s < V + n_factors - 1; ++s)
                    shifted[s] = hn::LoadU(d, b + (s - n_factors + 1) * lanes);
                for (int s = 0; s < n_factors; ++s) {
                    const Vec factor = hn::Set(d, a[s * lanes]);
                    for (int v = 0; v < V; ++v)
                        sum[v] = hn::MulAdd(factor, shifted[v - s + n_factors - 1], sum[v]);
                }
            }
        }
        for (int v = 0; v < V; ++v) total[v] = hn::Add(total[v], sum[v]);
    }
    for (int v = 0; v < V; ++v) hn::StoreU(total[v], d, out + k + v * lanes);
}

template <class T>
void add_rows(const RowPair<T>* pairs, std::int64_t n_pairs, std::int64_t a_degree, std::int64_t b_degree,
              T* out, std::int64_t n) {
    const hn::CappedTag<T, 64 / sizeof(T)> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t end = std::min(n, a_degree + b_degree + 1);
    std::int64_t k = 0;
    for (; k + n_outputs / 2 * lanes < end; k += n_outputs * lanes)
        add_block<n_outputs>(pairs, n_pairs, a_degree, b_degree, k, out);
    for (; k < end; k += n_outputs / 2 * lanes)
        add_block<n_outputs / 2>(pairs, n_pairs, a_degree, b_degree, k, out);
}

void add_rows_float(const RowPair<float>* pairs, std::int64_t n_pairs, std::int64_t a_degree,
                    std::int64_t b_degree, float* out, std::int64_t n) {
    add_rows(pairs, n_pairs, a_degree, b_degree, out, n);
}
void add_rows_double(const RowPair<double>* pairs, std::int64_t n_pairs, std::int64_t a_degree,
                     std::int64_t b_degree, double* out, std::int64_t n) {
    add_rows(pairs, n_pairs, a_degree, b_degree, out, n);
}

}  // namespace zonal::chebyshev::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::chebyshev {

HWY_EXPORT(add_rows_float);
HWY_EXPORT(add_rows_double);

template <>
void add_row_products(const RowPair<float>* pairs, std::int64_t n_pairs, std::int64_t a_degree,
                      std::int64_t b_degree, float* out, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(add_rows_float)(pairs, n_pairs, a_degree, b_degree, out, n);
}
template <>
void add_row_products(const RowPair<double>* pairs, std::int64_t n_pairs, std::int64_t a_degree,
                      std::int64_t b_degree, double* out, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(add_rows_double)(pairs, n_pairs, a_degree, b_degree, out, n);
}

}  // namespace zonal::chebyshev
#endif
