#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sht/legendre_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "sht/ishioka-inl.hpp"
#include "sht/jacobi_kernels-inl.hpp"
#include "sht/legendre.hpp"
#include "sht/scalar_kernels-inl.hpp"
#include "sht/spin_to_scalar-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// Vectors of a group, by the fields at once: as many as the registers hold beside the sums (synthesis) or
/// beside the products (adjoint, where the rings' F_m may come from the first-level cache).
#if HWY_MAX_BYTES >= 64
constexpr int synthesis_vectors(int n_fields) {
    return n_fields == 1 ? 4 : 2;
}
constexpr int adjoint_vectors(int) {
    return 8;
}
#else
constexpr int synthesis_vectors(int n_fields) {
    return n_fields == 1 ? 2 : 1;
}
constexpr int adjoint_vectors(int n_fields) {
    return n_fields <= 2 ? 2 : 1;
}
#endif

/// First block of [from, end) that order m reaches; blocks are sorted, so all later ones are reached too.
std::int64_t first_active_block(const RingPairs& rings, std::int64_t m, std::int64_t from, std::int64_t end) {
    const auto begin = rings.last_m.begin();
    return std::lower_bound(begin + from, begin + end, m) - begin;
}

/// Blocks [first, end) of a band that order m reaches.
struct BlockRange {
    std::int64_t first, end;
};

/// The part of [first, end) that lies in the band and that order m reaches.
BlockRange reached(const RingPairs& rings, std::int64_t m, const FourierBand& band, std::int64_t first,
                   std::int64_t end) {
    first = std::clamp(first, band.first, band.end);
    end = std::clamp(end, first, band.end);
    return {first_active_block(rings, m, first, end), end};
}

/// Which blocks the two-degree recurrence serves: none for spin > 2, which it cannot.
BlockRange scalar_blocks(const LegendreTable& table, const RingPairs& rings) {
    return {rings.end_polar, table.spin > 2 ? rings.end_polar : rings.first_equatorial};
}

/// Where the F_m of a vector of rings and a field lie: north re there, north im block_size further, and so
/// on.
double* fourier_lanes(const FourierBand& band, std::int64_t m, std::int64_t ring, std::int64_t field) {
    return band.at(ring / block_size, m) + field * fourier_block + ring % block_size;
}

/// 1 / sin^s theta, the factor that spin_to_scalar leaves out.
V inverse_sine_power(const RingPairs& rings, int spin, std::int64_t ring) {
    const D d;
    V factor = hn::Set(d, 1.0);
    for (int k = 0; k < spin; ++k) factor = hn::Div(factor, hn::LoadU(d, rings.sin_theta.data() + ring));
    return factor;
}

template <int NV, int NF>
void synthesize_scalar_group(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                             std::int64_t ring, const Ishioka& ishioka, const double* steps,
                             const FourierBand& band, std::int64_t field) {
    const D d;
    RecurrenceState<NV> state(table, rings, m, ring);
    V sums[4 * NF][NV];
    synthesis_group<NV, NF>(state, steps, ishioka.n_steps, sums);
    for (int v = 0; v < NV; ++v) {
        const std::int64_t first = ring + v * lanes();
        const V factor = inverse_sine_power(rings, table.spin, first);
        const V odd_factor = hn::Mul(factor, hn::LoadU(d, rings.cos_theta.data() + first));
        for (int f = 0; f < NF; ++f) {
            double* out = fourier_lanes(band, m, first, field + f);
            for (int part = 0; part < 2; ++part) {
                const V even = hn::Mul(sums[4 * f + part][v], factor);
                const V odd = hn::Mul(sums[4 * f + 2 + part][v], odd_factor);
                hn::StoreU(hn::Add(even, odd), d, out + part * block_size);
                hn::StoreU(hn::Sub(even, odd), d, out + (2 + part) * block_size);
            }
        }
    }
}

template <int NV, int NF>
void adjoint_scalar_group(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                          std::int64_t ring, const Ishioka& ishioka, const double* steps,
                          const FourierBand& band, std::int64_t field, double* sums) {
    const D d;
    RecurrenceState<NV> state(table, rings, m, ring);
    V f_m[4 * NF][NV];
    for (int v = 0; v < NV; ++v) {
        const std::int64_t first = ring + v * lanes();
        const V factor = inverse_sine_power(rings, table.spin, first);
        const V odd_factor = hn::Mul(factor, hn::LoadU(d, rings.cos_theta.data() + first));
        for (int f = 0; f < NF; ++f) {
            const double* in = fourier_lanes(band, m, first, field + f);
            for (int part = 0; part < 2; ++part) {
                const V north = hn::LoadU(d, in + part * block_size);
                const V south = hn::LoadU(d, in + (2 + part) * block_size);
                f_m[4 * f + part][v] = hn::Mul(hn::Add(north, south), factor);
                f_m[4 * f + 2 + part][v] = hn::Mul(hn::Sub(north, south), odd_factor);
            }
        }
    }
    adjoint_group<NV, NF>(state, steps, ishioka.n_steps, f_m, sums);
}

/// Calls group.operator()<NV>(ring) for groups of at most NV vectors that cover the rings [ring, end).
template <int NV, class Group>
void for_each_group(std::int64_t ring, std::int64_t end, const Group& group) {
    for (; ring + NV * lanes() <= end; ring += NV * lanes()) group.template operator()<NV>(ring);
    if constexpr (NV > 1) {
        if (ring < end) for_each_group<(NV + 1) / 2>(ring, end, group);
    }
}

template <int NF>
void synthesize_scalar_fields(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                              BlockRange blocks, const Ishioka& ishioka, const Complex* const* rows,
                              const FourierBand& band, std::int64_t field, LegendreScratch& scratch) {
    constexpr std::int64_t stride = 2 + 4 * NF;
    scratch.steps.resize(ishioka.n_steps * stride);
    double* steps = scratch.steps.data();
    ishioka.write_recurrence(steps, stride);
    for (int f = 0; f < NF; ++f) ishioka.write_coefficients(rows[f], steps + 2 + 4 * f, stride);
    for_each_group<synthesis_vectors(NF)>(
        blocks.first * block_size, blocks.end * block_size, [&]<int NV>(std::int64_t ring) {
            synthesize_scalar_group<NV, NF>(table, rings, m, ring, ishioka, steps, band, field);
        });
}

template <int NF>
void adjoint_scalar_fields(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                           BlockRange blocks, const Ishioka& ishioka, Complex* const* rows,
                           const FourierBand& band, std::int64_t field, LegendreScratch& scratch) {
    scratch.steps.resize(ishioka.n_steps * 2);
    scratch.sums.assign(ishioka.n_steps * 4 * NF, 0.0);
    double* steps = scratch.steps.data();
    ishioka.write_recurrence(steps, 2);
    for_each_group<adjoint_vectors(NF)>(
        blocks.first * block_size, blocks.end * block_size, [&]<int NV>(std::int64_t ring) {
            adjoint_scalar_group<NV, NF>(table, rings, m, ring, ishioka, steps, band, field,
                                         scratch.sums.data());
        });
    for (int f = 0; f < NF; ++f) ishioka.read_sums(scratch.sums.data() + 4 * f, 4 * NF, rows[f]);
}

/// Calls part.operator()<NF>(field) for runs of 3, 2 or 1 fields: the more, the less the recurrence costs
/// each; three are what the registers hold.
template <class Part>
void for_each_field_run(std::int64_t n_fields, const Part& part) {
    std::int64_t field = 0;
    while (n_fields - field > 4 || n_fields - field == 3) {
        part.template operator()<3>(field);
        field += 3;
    }
    for (; field + 2 <= n_fields; field += 2) part.template operator()<2>(field);
    if (field < n_fields) part.template operator()<1>(field);
}

/// Room for the rows of the scalar fields that stand for a spin field: degrees up to lmax + s.
AlmRow scalar_row_of(const AlmRow& alm, int spin, LegendreScratch& scratch) {
    AlmRow row{nullptr, alm.length + spin, alm.n_fields};
    scratch.scalar_row.resize(row.length * row.n_fields);
    row.data = scratch.scalar_row.data();
    return row;
}

void synthesize_scalar(const LegendreTable& table, const RingPairs& rings, std::int64_t m, BlockRange blocks,
                       const AlmRow& alm, const FourierBand& band, LegendreScratch& scratch) {
    if (blocks.first == blocks.end) return;
    const std::int64_t lmax = table.layout.lmax();
    const Ishioka ishioka(m, lmax + table.spin, scratch);
    AlmRow row = alm;
    if (table.spin > 0) {
        row = scalar_row_of(alm, table.spin, scratch);
        const SpinWeights weights(table.spin, m, lmax, ishioka.epsilon, scratch);
        for (std::int64_t f = 0; f < alm.n_fields; f += 2)
            weights.to_scalar(alm.field(f), alm.field(f + 1), row.field(f), row.field(f + 1), table.spin);
    }
    for_each_field_run(alm.n_fields, [&]<int NF>(std::int64_t field) {
        const Complex* rows[NF];
        for (int f = 0; f < NF; ++f) rows[f] = row.field(field + f);
        synthesize_scalar_fields<NF>(table, rings, m, blocks, ishioka, rows, band, field, scratch);
    });
}

/// Adds to alm.
void adjoint_scalar(const LegendreTable& table, const RingPairs& rings, std::int64_t m, BlockRange blocks,
                    const FourierBand& band, const AlmRow& alm, LegendreScratch& scratch) {
    if (blocks.first == blocks.end) return;
    const std::int64_t lmax = table.layout.lmax();
    const Ishioka ishioka(m, lmax + table.spin, scratch);
    const AlmRow row = scalar_row_of(alm, table.spin, scratch);
    for_each_field_run(alm.n_fields, [&]<int NF>(std::int64_t field) {
        Complex* rows[NF];
        for (int f = 0; f < NF; ++f) rows[f] = row.field(field + f);
        adjoint_scalar_fields<NF>(table, rings, m, blocks, ishioka, rows, band, field, scratch);
    });
    if (table.spin == 0) {
        for (std::int64_t f = 0; f < alm.n_fields; ++f)
            for (std::int64_t k = 0; k < alm.length; ++k) alm.field(f)[k] += row.field(f)[k];
        return;
    }
    const SpinWeights weights(table.spin, m, lmax, ishioka.epsilon, scratch);
    for (std::int64_t f = 0; f < alm.n_fields; f += 2)
        weights.add_from_scalar(row.field(f), row.field(f + 1), alm.field(f), alm.field(f + 1));
}

/// Vectors of a group of the Jacobi recurrences, by the components at once: what hides their latency.
template <int Components>
constexpr int jacobi_vectors = Components == 2 ? 2 : 4;

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
void store_mirrored(const V (&even)[2], const V (&odd)[2], bool swapped, bool negated, double* out) {
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
void load_mirrored(const double* in, bool swapped, V (&even)[2], V (&odd)[2]) {
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

template <bool Spin, JacobiForm Form>
void synthesize_jacobi(const LegendreTable& table, const RingPairs& rings, std::int64_t m, BlockRange blocks,
                       const AlmRow& alm, const FourierBand& band, LegendreScratch& scratch) {
    if (blocks.first == blocks.end) return;
    const JacobiRecurrence jacobi(table, Form, m, scratch);
    const bool swap = starts_odd(jacobi.first_degree, m, table.spin);
    for_each_jacobi_run<Spin>(alm.n_fields, [&]<int Components>(std::int64_t field) {
        const Complex* a[2] = {};
        load_rows<Components>(alm, field, jacobi.first_degree - m, jacobi.n_degrees, scratch, a);
        for_each_group<jacobi_vectors<Components>>(
            blocks.first * block_size, blocks.end * block_size, [&]<int NV>(std::int64_t ring) {
                const JacobiGroup<Spin, Form, NV> group(table, rings, m, ring);
                MirrorParts parts[NV];
                jacobi_synthesis<Components>(group, jacobi, a, parts);
                for (int v = 0; v < NV; ++v)
                    for (int c = 0; c < Components; ++c)
                        store_mirrored(parts[v].even[c], parts[v].odd[c], swap, Spin,
                                       fourier_lanes(band, m, ring + v * lanes(), field + c));
            });
    });
}

/// Adds to alm.
template <bool Spin, JacobiForm Form>
void adjoint_jacobi(const LegendreTable& table, const RingPairs& rings, std::int64_t m, BlockRange blocks,
                    const FourierBand& band, const AlmRow& alm, LegendreScratch& scratch) {
    if (blocks.first == blocks.end) return;
    const JacobiRecurrence jacobi(table, Form, m, scratch);
    const std::int64_t skipped = jacobi.first_degree - m;
    const bool swap = starts_odd(jacobi.first_degree, m, table.spin);
    for_each_jacobi_run<Spin>(alm.n_fields, [&]<int Components>(std::int64_t field) {
        scratch.sums.assign(jacobi.n_degrees * 2 * Components, 0.0);
        for_each_group<jacobi_vectors<Components>>(
            blocks.first * block_size, blocks.end * block_size, [&]<int NV>(std::int64_t ring) {
                const JacobiGroup<Spin, Form, NV> group(table, rings, m, ring);
                MirrorParts parts[NV];
                for (int v = 0; v < NV; ++v)
                    for (int c = 0; c < Components; ++c)
                        load_mirrored(fourier_lanes(band, m, ring + v * lanes(), field + c), swap,
                                      parts[v].even[c], parts[v].odd[c]);
                jacobi_adjoint<Components>(group, jacobi, parts, scratch.sums.data());
            });
        const double sign = Spin ? -1 : 1;
        for (std::int64_t k = skipped; k < alm.length; ++k)
            for (int c = 0; c < Components; ++c) {
                const double* sum = scratch.sums.data() + ((k - skipped) * Components + c) * 2;
                alm.field(field + c)[k] += sign * Complex(sum[0], sum[1]);
            }
    });
}

void legendre_synthesis(const LegendreTable& table, const RingPairs& rings, std::int64_t m, const AlmRow& alm,
                        const FourierBand& band, LegendreScratch& scratch) {
    const BlockRange scalar = scalar_blocks(table, rings);
    const BlockRange polar = reached(rings, m, band, 0, scalar.first);
    const BlockRange middle = reached(rings, m, band, scalar.first, scalar.end);
    const BlockRange rest = reached(rings, m, band, scalar.end, rings.n_blocks());
    using enum JacobiForm;
    if (table.spin == 0) {
        synthesize_jacobi<false, difference>(table, rings, m, polar, alm, band, scratch);
        synthesize_jacobi<false, three_term>(table, rings, m, rest, alm, band, scratch);
    } else {
        synthesize_jacobi<true, difference>(table, rings, m, polar, alm, band, scratch);
        synthesize_jacobi<true, three_term>(table, rings, m, rest, alm, band, scratch);
    }
    synthesize_scalar(table, rings, m, middle, alm, band, scratch);
}

void legendre_adjoint(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                      const FourierBand& band, const AlmRow& alm, LegendreScratch& scratch) {
    std::fill(alm.data, alm.data + alm.n_fields * alm.length, 0.0);
    const BlockRange scalar = scalar_blocks(table, rings);
    const BlockRange polar = reached(rings, m, band, 0, scalar.first);
    const BlockRange middle = reached(rings, m, band, scalar.first, scalar.end);
    const BlockRange rest = reached(rings, m, band, scalar.end, rings.n_blocks());
    using enum JacobiForm;
    if (table.spin == 0) {
        adjoint_jacobi<false, difference>(table, rings, m, polar, band, alm, scratch);
        adjoint_jacobi<false, three_term>(table, rings, m, rest, band, alm, scratch);
    } else {
        adjoint_jacobi<true, difference>(table, rings, m, polar, band, alm, scratch);
        adjoint_jacobi<true, three_term>(table, rings, m, rest, band, alm, scratch);
    }
    adjoint_scalar(table, rings, m, middle, band, alm, scratch);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::sht {

HWY_EXPORT(legendre_synthesis);
HWY_EXPORT(legendre_adjoint);

void legendre_synthesis(const LegendreTable& table, const RingPairs& rings, std::int64_t m, const AlmRow& alm,
                        const FourierBand& band, LegendreScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(legendre_synthesis)(table, rings, m, alm, band, scratch);
}

void legendre_adjoint(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                      const FourierBand& band, const AlmRow& alm, LegendreScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(legendre_adjoint)(table, rings, m, band, alm, scratch);
}

}  // namespace zonal::sht
#endif
