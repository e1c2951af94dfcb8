// The transpose of scalar_kernels-inl.hpp for one field. Each group of ring vectors runs through a tile of
// steps and is put aside, so that the tile's sums stay in the first-level cache and nothing is summed over
// lanes before all groups have added to them. Included once per SIMD target.

#if defined(ZONAL_SHT_SCALAR_ADJOINT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SCALAR_ADJOINT_INL_HPP
#undef ZONAL_SHT_SCALAR_ADJOINT_INL_HPP
#else
#define ZONAL_SHT_SCALAR_ADJOINT_INL_HPP
#endif

#include <hwy/highway.h>

#include "sht/legendre/lane_sums-inl.hpp"
#include "sht/legendre/recurrence_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// Vectors of a group, whose F_m stay in registers beside its recurrence.
inline constexpr int own_vectors = HWY_MAX_BYTES >= 64 ? 4 : 2;

/// Steps of a tile: a multiple of the lanes and of two.
inline constexpr std::int64_t own_tile = 64;

/// Adds f_k lam_i of one field to the lanes of sums[i - begin][k], k = even re, even im, odd re, odd im, for
/// the steps i from `begin` to `end`. sums: those of step `begin`; stored: a RecurrenceState that was put
/// aside; f: [4][NV] vectors.
template <int NV>
HWY_NOINLINE void add_own_tile(double* HWY_RESTRICT stored, const double* HWY_RESTRICT steps,
                               std::int64_t begin, std::int64_t end, const double* HWY_RESTRICT f,
                               double* HWY_RESTRICT sums) {
    const D d;
    const std::int64_t origin = begin;
    V f_m[4][NV];
    for (int k = 0; k < 4; ++k)
        for (int v = 0; v < NV; ++v) f_m[k][v] = hn::Load(d, f + (k * NV + v) * lanes());
    auto add = [&](const V(&lam)[NV], std::int64_t i) HWY_ATTR {
        double* HWY_RESTRICT out = sums + (i - origin) * 4 * lanes();
        V sum[4];
        for (int k = 0; k < 4; ++k) sum[k] = hn::Load(d, out + k * lanes());
        for (int v = 0; v < NV; ++v)
            for (int k = 0; k < 4; ++k) sum[k] = hn::MulAdd(f_m[k][v], lam[v], sum[k]);
        for (int k = 0; k < 4; ++k) hn::Store(sum[k], d, out + k * lanes());
    };
    if (HWY_UNLIKELY(!RecurrenceState<NV>::all_visible_in(stored))) {
        begin = enter_tile<NV>(stored, steps, begin, end, add).next;
        if (begin == end) return;
    }
    VisibleState<NV> state(stored);
    state.run(steps, begin, end, add);
    state.store(stored);
}

/// Adds the lanes of a tile's sums to out[k][i], rows `stride` apart.
inline void fold_own_tile(const double* HWY_RESTRICT sums, std::int64_t n_steps, double* HWY_RESTRICT out,
                          std::int64_t stride) {
    const D d;
    for (int k = 0; k < 4; ++k)
        for (std::int64_t i = 0; i < n_steps; i += lanes()) {
            V x[HWY_MAX_BYTES / sizeof(double)];
            for (std::int64_t j = 0; j < lanes(); ++j) x[j] = hn::Load(d, sums + ((i + j) * 4 + k) * lanes());
            add_horizontal_sums(x, out + k * stride + i);
        }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
