// The rings that the Jacobi recurrences serve: near the poles, near the equator, and all of a spin above 2.
// Included once per SIMD target.

#if defined(ZONAL_SHT_JACOBI_RINGS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_JACOBI_RINGS_INL_HPP
#undef ZONAL_SHT_JACOBI_RINGS_INL_HPP
#else
#define ZONAL_SHT_JACOBI_RINGS_INL_HPP
#endif

#include <hwy/highway.h>

#include <hwy/cache_control.h>
#include "sht/legendre/legendre.hpp"
#include "sht/legendre/scaled-inl.hpp"

#include <algorithm>

#include "sht/legendre/jacobi-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

// The rings that an order reaches, in groups of vectors, and where their F_m lie.

/// First block of [from, end) that order m reaches; blocks are sorted, so all later ones are reached too.
inline std::int64_t first_active_block(const RingPairs& rings, std::int64_t m, std::int64_t from,
                                       std::int64_t end) {
    const auto begin = rings.last_m.begin();
    return std::lower_bound(begin + from, begin + end, m) - begin;
}

/// Blocks [first, end) of a band that order m reaches.
struct BlockRange {
    std::int64_t first, end;

    bool empty() const { return first == end; }
};

/// The part of [first, end) that lies in the band and that order m reaches.
inline BlockRange reached(const LegendreOrder& order, std::int64_t first, std::int64_t end) {
    first = std::clamp(first, order.band.first, order.band.end);
    end = std::clamp(end, first, order.band.end);
    return {first_active_block(order.rings, order.m, first, end), end};
}

/// Where the F_m of a vector of rings and a field lie: north re there, north im block_size further, and so
/// on.
inline double* fourier_lanes(const LegendreOrder& order, std::int64_t ring, std::int64_t field) {
    return order.band.at(ring / block_size, order.m) + field * fourier_block + ring % block_size;
}

/// Asks for the F_m of an order a part at a time, while another one is computed: its blocks lie too far apart
/// for the hardware to foresee.
class OrderPrefetch {
  public:
    /// m: -1 for none. n_parts: calls of next_part() that ask for all of it; 0 where there are none.
    OrderPrefetch(const RingPairs& rings, std::int64_t m, const FourierBand& band, std::int64_t n_parts)
        : band_(band), m_(m), block_(m < 0 ? band.end : first_active_block(rings, m, band.first, band.end)) {
        if (n_parts > 0) per_part_ = (band.end - block_ + n_parts - 1) / n_parts;
    }

    void next_part() {
        const std::int64_t end = std::min(block_ + per_part_, band_.end);
        for (; block_ < end; ++block_) {
            const double* const lines = band_.at(block_, m_);
            for (std::int64_t k = 0; k < band_.n_fields * fourier_block; k += 8) hwy::Prefetch(lines + k);
        }
    }

  private:
    const FourierBand& band_;
    std::int64_t m_, block_, per_part_ = 0;
};

/// Calls group.operator()<NV>(ring) for groups of at most NV vectors that cover the rings [ring, end).
template <int NV, class Group>
void for_each_group(std::int64_t ring, std::int64_t end, const Group& group) {
    for (; ring + NV * lanes() <= end; ring += NV * lanes()) group.template operator()<NV>(ring);
    if constexpr (NV > 1) {
        if (ring < end) for_each_group<(NV + 1) / 2>(ring, end, group);
    }
}

/// Vectors of a group of the Jacobi recurrences, by the components at once: what hides their latency.
template <int Components>
constexpr int jacobi_vectors = HWY_MAX_BYTES >= 64 || Components == 1 ? 4 : 2;

/// Calls part.operator()<Components>(field) for runs of two components, of a spin field or of two scalar
/// ones, and for one that is left over.
template <bool Spin, class Part>
void for_each_jacobi_run(std::int64_t n_fields, const Part& part) {
    std::int64_t field = 0;
    for (; field + 2 <= n_fields; field += 2) part.template operator()<2>(field);
    if constexpr (!Spin)
        if (field < n_fields) part.template operator()<1>(field);
}

/// F_m of a vector of ring pairs from its even and odd parts [re, im]; swapped: the names are the other way
/// round. negated: times -1.
inline void store_mirrored(const V (&even)[2], const V (&odd)[2], bool swapped, bool negated, double* out) {
    const D d;
    for (int r = 0; r < 2; ++r) {
        V north = hn::Add(even[r], odd[r]);
        V south = swapped ? hn::Sub(odd[r], even[r]) : hn::Sub(even[r], odd[r]);
        if (negated) north = hn::Neg(north), south = hn::Neg(south);
        hn::StoreU(north, d, out + r * block_size);
        hn::StoreU(south, d, out + (2 + r) * block_size);
    }
}

/// The transpose, not negated.
inline void load_mirrored(const double* in, bool swapped, V (&even)[2], V (&odd)[2]) {
    const D d;
    for (int r = 0; r < 2; ++r) {
        const V north = hn::LoadU(d, in + r * block_size);
        const V south = hn::LoadU(d, in + (2 + r) * block_size);
        even[r] = swapped ? hn::Sub(north, south) : hn::Add(north, south);
        odd[r] = swapped ? hn::Add(north, south) : hn::Sub(north, south);
    }
}

/// The components' rows from the first degree on, filled up with zeros to whole degree groups.
template <int Components>
void load_rows(const AlmRow& alm, std::int64_t field, std::int64_t skipped, std::int64_t n_degrees,
               LegendreScratch& scratch, const Complex* (&rows)[2]) {
    scratch.row.assign(Components * n_degrees, 0.0);
    for (int c = 0; c < Components; ++c) {
        Complex* const row = scratch.row.data() + c * n_degrees;
        if (skipped < alm.length)
            std::copy(alm.field(field + c) + skipped, alm.field(field + c) + alm.length, row);
        rows[c] = row;
    }
}

/// 1 / sin^s theta: scalar fields that stand for a field of spin s are sin^s theta times what they stand for.
inline V inverse_sine_power(const LegendreOrder& order, std::int64_t ring) {
    const D d;
    V factor = hn::Set(d, 1.0);
    for (int k = 0; k < order.table.spin; ++k)
        factor = hn::Div(factor, hn::LoadU(d, order.rings.sin_theta.data() + ring));
    return factor;
}

/// Spin: of alm and of F_m; else scalar fields, maybe in place of a spin field.
template <bool Spin, JacobiForm Form>
void synthesize_jacobi(const LegendreOrder& order, BlockRange blocks, const JacobiRecurrence& jacobi,
                       const AlmRow& alm) {
    const bool swap = starts_odd(jacobi.first_degree, order.m, Spin ? order.table.spin : 0);
    for_each_jacobi_run<Spin>(alm.n_fields, [&]<int Components>(std::int64_t field) {
        const Complex* a[2] = {};
        load_rows<Components>(alm, field, jacobi.first_degree - order.m, jacobi.n_degrees, order.scratch, a);
        for_each_group<jacobi_vectors<Components>>(
            blocks.first * block_size, blocks.end * block_size, [&]<int NV>(std::int64_t ring) {
                const JacobiGroup<Spin, Form, NV> group(order, ring);
                MirrorParts parts[NV];
                jacobi_synthesis<Components>(group, jacobi, a, parts);
                for (int v = 0; v < NV; ++v) {
                    const std::int64_t at = ring + v * lanes();
                    if constexpr (!Spin) parts[v].scale(inverse_sine_power(order, at));
                    for (int c = 0; c < Components; ++c)
                        store_mirrored(parts[v].even[c], parts[v].odd[c], swap, Spin,
                                       fourier_lanes(order, at, field + c));
                }
            });
    });
}

/// Adds to alm.
template <bool Spin, JacobiForm Form>
void adjoint_jacobi(const LegendreOrder& order, BlockRange blocks, const JacobiRecurrence& jacobi,
                    const AlmRow& alm) {
    const std::int64_t skipped = jacobi.first_degree - order.m;
    const bool swap = starts_odd(jacobi.first_degree, order.m, Spin ? order.table.spin : 0);
    for_each_jacobi_run<Spin>(alm.n_fields, [&]<int Components>(std::int64_t field) {
        order.scratch.sums.assign(jacobi.n_degrees * 2 * Components, 0.0);
        for_each_group<jacobi_vectors<Components>>(
            blocks.first * block_size, blocks.end * block_size, [&]<int NV>(std::int64_t ring) {
                const JacobiGroup<Spin, Form, NV> group(order, ring);
                MirrorParts parts[NV];
                for (int v = 0; v < NV; ++v) {
                    const std::int64_t at = ring + v * lanes();
                    for (int c = 0; c < Components; ++c)
                        load_mirrored(fourier_lanes(order, at, field + c), swap, parts[v].even[c],
                                      parts[v].odd[c]);
                    if constexpr (!Spin) parts[v].scale(inverse_sine_power(order, at));
                }
                jacobi_adjoint<Components>(group, jacobi, parts, order.scratch.sums.data());
            });
        const double sign = Spin ? -1 : 1;
        for (std::int64_t k = skipped; k < alm.length; ++k)
            for (int c = 0; c < Components; ++c) {
                const double* sum = order.scratch.sums.data() + ((k - skipped) * Components + c) * 2;
                alm.field(field + c)[k] += sign * Complex(sum[0], sum[1]);
            }
    });
}

/// The same with the recurrence of alm's own functions.
template <bool Spin, JacobiForm Form>
void synthesize_jacobi(const LegendreOrder& order, BlockRange blocks, const AlmRow& alm) {
    if (!blocks.empty()) synthesize_jacobi<Spin, Form>(order, blocks, JacobiRecurrence(order, Form), alm);
}

template <bool Spin, JacobiForm Form>
void adjoint_jacobi(const LegendreOrder& order, BlockRange blocks, const AlmRow& alm) {
    if (!blocks.empty()) adjoint_jacobi<Spin, Form>(order, blocks, JacobiRecurrence(order, Form), alm);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
