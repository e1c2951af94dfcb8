#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sht/rings/ring_pixels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <type_traits>

#include "core/transpose-inl.hpp"
#include "sht/rings/ring_stage.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, block_size>;
using V = hn::Vec<D>;
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

HWY_INLINE V load(const double* from) {
    return hn::LoadU(D(), from);
}
HWY_INLINE V load(const float* from) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), from));
}
HWY_INLINE void store(V value, double* to) {
    hn::StoreU(value, D(), to);
}
HWY_INLINE void store(V value, float* to) {
    const hn::Rebind<float, D> d;
    hn::StoreU(hn::DemoteTo(d, value), d, to);
}

/// From one half of the rows to the pixels of the rings that there are.
template <class T>
void write_side(const double* HWY_RESTRICT rows, std::int64_t n, T* const (&rings)[block_size]) {
    const D d;
    std::int64_t k = 0;
    for (; k + lanes <= n; k += lanes)
        for (std::int64_t j = 0; j < block_size; j += lanes) {
            V x[lanes];
            for (std::int64_t i = 0; i < lanes; ++i) x[i] = load(rows + (k + i) * 2 * block_size + j);
            core::HWY_NAMESPACE::transpose(d, x);
            for (std::int64_t i = 0; i < lanes; ++i)
                if (rings[j + i] != nullptr) store(x[i], rings[j + i] + k);
        }
    for (; k < n; ++k)
        for (std::int64_t j = 0; j < block_size; ++j)
            if (rings[j] != nullptr) rings[j][k] = static_cast<T>(rows[k * 2 * block_size + j]);
}

/// The transpose, times the rings' weights. Residual: less what the rows were.
template <bool Residual, class T>
void read_side(const T* const (&rings)[block_size], const double (&weights)[block_size], std::int64_t n,
               double* HWY_RESTRICT rows) {
    const D d;
    std::int64_t k = 0;
    for (; k + lanes <= n; k += lanes)
        for (std::int64_t j = 0; j < block_size; j += lanes) {
            V x[lanes];
            for (std::int64_t i = 0; i < lanes; ++i)
                x[i] = rings[j + i] != nullptr ? load(rings[j + i] + k) : hn::Zero(d);
            core::HWY_NAMESPACE::transpose(d, x);
            for (std::int64_t i = 0; i < lanes; ++i) {
                double* const at = rows + (k + i) * 2 * block_size + j;
                if constexpr (Residual) x[i] = hn::Sub(x[i], load(at));
                store(hn::Mul(x[i], load(weights + j)), at);
            }
        }
    for (; k < n; ++k)
        for (std::int64_t j = 0; j < block_size; ++j) {
            double& at = rows[k * 2 * block_size + j];
            const double x = rings[j] != nullptr ? rings[j][k] : 0;
            at = weights[j] * (Residual ? x - at : x);
        }
}

void write_double(const double* rows, std::int64_t n, double* const (&rings)[block_size]) {
    write_side(rows, n, rings);
}
void write_float(const double* rows, std::int64_t n, float* const (&rings)[block_size]) {
    write_side(rows, n, rings);
}
template <class T>
void read(const T* const (&rings)[block_size], const double (&weights)[block_size], std::int64_t n,
          bool residual, double* rows) {
    if (residual)
        read_side<true>(rings, weights, n, rows);
    else
        read_side<false>(rings, weights, n, rows);
}
void read_double(const double* const (&rings)[block_size], const double (&weights)[block_size],
                 std::int64_t n, bool residual, double* rows) {
    read(rings, weights, n, residual, rows);
}
void read_float(const float* const (&rings)[block_size], const double (&weights)[block_size], std::int64_t n,
                bool residual, double* rows) {
    read(rings, weights, n, residual, rows);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::sht {

HWY_EXPORT(write_double);
HWY_EXPORT(write_float);
HWY_EXPORT(read_double);
HWY_EXPORT(read_float);

namespace {

/// Where the rings of one side lie in a map.
template <class T>
struct Pixels {
    T* rings[block_size];
    Pixels(const std::array<const Ring*, block_size>& side, View<T, 1> map) {
        for (std::int64_t j = 0; j < block_size; ++j)
            rings[j] = side[j] != nullptr ? map.data() + side[j]->first_pixel : nullptr;
    }
};

/// weighted: else weights are 1. Rings that are not there have 0.
template <class T>
void read(const RingBlock& block, View<const T, 1> map, bool weighted, bool residual) {
    for (int side = 0; side < 2; ++side) {
        const auto& rings = side == 0 ? block.north : block.south;
        const Pixels<const T> pixels(rings, map);
        double weights[block_size];
        for (std::int64_t j = 0; j < block_size; ++j)
            weights[j] = rings[j] == nullptr ? 0 : weighted ? rings[j]->weight : 1;
        if (block.rows != nullptr) {
            double* const rows = block.rows->data() + side * block_size;
            if constexpr (std::is_same_v<T, float>)
                HWY_DYNAMIC_DISPATCH(read_float)(pixels.rings, weights, block.rows->length(), residual, rows);
            else
                HWY_DYNAMIC_DISPATCH(read_double)
            (pixels.rings, weights, block.rows->length(), residual, rows);
            continue;
        }
        for (std::int64_t j = 0; j < block_size; ++j) {
            double* const z = reinterpret_cast<double*>(block.sequence[j]) + side;
            for (std::int64_t k = 0; k < block.n_pixels[j]; ++k) {
                const double x = rings[j] != nullptr ? pixels.rings[j][k] : 0;
                z[2 * k] = weights[j] * (residual ? x - z[2 * k] : x);
            }
        }
    }
}

}  // namespace

template <class T>
void write_rings(const RingBlock& block, View<T, 1> map) {
    for (int side = 0; side < 2; ++side) {
        const Pixels<T> pixels(side == 0 ? block.north : block.south, map);
        if (block.rows != nullptr) {
            const double* const rows = block.rows->data() + side * block_size;
            if constexpr (std::is_same_v<T, float>)
                HWY_DYNAMIC_DISPATCH(write_float)(rows, block.rows->length(), pixels.rings);
            else
                HWY_DYNAMIC_DISPATCH(write_double)(rows, block.rows->length(), pixels.rings);
            continue;
        }
        for (std::int64_t j = 0; j < block_size; ++j) {
            if (pixels.rings[j] == nullptr) continue;
            const double* const z = reinterpret_cast<const double*>(block.sequence[j]) + side;
            for (std::int64_t k = 0; k < block.n_pixels[j]; ++k)
                pixels.rings[j][k] = static_cast<T>(z[2 * k]);
        }
    }
}

template <class T>
void read_rings(const RingBlock& block, View<const T, 1> map, bool weighted) {
    read(block, map, weighted, false);
}

template <class T>
void subtract_from_rings(const RingBlock& block, View<const T, 1> map) {
    read(block, map, true, true);
}

template void write_rings(const RingBlock&, View<float, 1>);
template void write_rings(const RingBlock&, View<double, 1>);
template void read_rings(const RingBlock&, View<const float, 1>, bool);
template void read_rings(const RingBlock&, View<const double, 1>, bool);
template void subtract_from_rings(const RingBlock&, View<const float, 1>);
template void subtract_from_rings(const RingBlock&, View<const double, 1>);

}  // namespace zonal::sht
#endif
