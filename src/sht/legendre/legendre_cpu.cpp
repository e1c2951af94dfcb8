#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sht/legendre/legendre_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "sht/legendre/ishioka-inl.hpp"
#include "sht/legendre/jacobi_rings-inl.hpp"
#include "sht/legendre/legendre.hpp"
#include "sht/legendre/scalar_kernels-inl.hpp"
#include "sht/legendre/shared_lam-inl.hpp"
#include "sht/legendre/spin_to_scalar-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// Vectors of a group of the synthesis, by the fields at once: as many as the registers hold beside the sums.
constexpr int synthesis_vectors(int n_fields) {
    return HWY_MAX_BYTES >= 64 ? (n_fields == 1 ? 3 : 2) : (n_fields == 1 ? 2 : 1);
}

/// Whether the registers hold the sums of two fields for two vectors, so that each coefficient is read once
/// for two.
inline constexpr bool two_fit = HWY_MAX_BYTES >= 64;

/// Fields whose adjoints share a recurrence, and rings that go through its tiles together: what the
/// second-level cache holds of their F_m.
constexpr std::int64_t most_shared_fields = 8, chunk_rings = 1024;

/// Writes F_m of a vector of ring pairs and a field from its parts: even re, im, odd re, im.
void store_parts(const LegendreOrder& order, std::int64_t ring, std::int64_t field, const V (&parts)[4]) {
    const D d;
    const V cosine = hn::LoadU(d, order.rings.cos_theta.data() + ring);
    const V factor = order.table.spin > 0 ? inverse_sine_power(order, ring) : hn::Set(d, 1.0);
    double* out = fourier_lanes(order, ring, field);
    for (int r = 0; r < 2; ++r) {
        const V even = hn::Mul(parts[r], factor), odd = hn::Mul(parts[2 + r], hn::Mul(factor, cosine));
        hn::StoreU(hn::Add(even, odd), d, out + r * block_size);
        hn::StoreU(hn::Sub(even, odd), d, out + (2 + r) * block_size);
    }
}

/// The transpose of store_parts.
void load_parts(const LegendreOrder& order, std::int64_t ring, std::int64_t field, V (&parts)[4]) {
    const D d;
    const V cosine = hn::LoadU(d, order.rings.cos_theta.data() + ring);
    const V factor = order.table.spin > 0 ? inverse_sine_power(order, ring) : hn::Set(d, 1.0);
    const double* in = fourier_lanes(order, ring, field);
    for (int r = 0; r < 2; ++r) {
        const V north = hn::LoadU(d, in + r * block_size);
        const V south = hn::LoadU(d, in + (2 + r) * block_size);
        parts[r] = hn::Mul(hn::Add(north, south), factor);
        parts[2 + r] = hn::Mul(hn::Sub(north, south), hn::Mul(factor, cosine));
    }
}

/// F_m of one field or two, whose sums stay in registers.
template <int NF>
void synthesize_few(const LegendreOrder& order, std::int64_t first, std::int64_t end, const Ishioka& ishioka,
                    const AlmRow& alm, std::int64_t field) {
    constexpr std::int64_t stride = 2 + 4 * NF;
    double* const steps = room_for(order.scratch.steps, ishioka.n_steps * stride);
    ishioka.write_recurrence(steps, stride);
    for (int f = 0; f < NF; ++f)
        ishioka.write_coefficients(alm.field(field + f), 0, ishioka.n_steps, steps + 2 + 4 * f, stride);
    constexpr int vectors = synthesis_vectors(NF);
    OrderPrefetch prefetch(order, field == 0, (end - first) / (vectors * lanes()));
    const auto sum = [&]<int NV>(RecurrenceState<NV> state, std::int64_t reached, std::int64_t ring)
                         HWY_ATTR {
                             V sums[4 * NF][NV];
                             synthesis_group<NV, NF>(state, steps, reached, ishioka.n_steps, sums);
                             for (int v = 0; v < NV; ++v)
                                 for (int f = 0; f < NF; ++f) {
                                     const V parts[4] = {sums[4 * f][v], sums[4 * f + 1][v],
                                                         sums[4 * f + 2][v], sums[4 * f + 3][v]};
                                     store_parts(order, ring + v * lanes(), field + f, parts);
                                 }
                             prefetch.next_part();
                         };
    if constexpr (vectors > 2) {
        for_each_group<vectors>(
            first, end, [&]<int NV>(std::int64_t ring) { sum(RecurrenceState<NV>(order, ring), 0, ring); });
        return;
    }
    // A step of the recurrence alone takes so few vectors less time than its result takes to arrive: two
    // groups wait for their first ring to become visible together.
    HWY_ALIGN double stored[4 * block_size * 2 * vectors];
    for_each_group<2 * vectors>(first, end, [&]<int NW>(std::int64_t begin) {
        RecurrenceState<NW> both(order, begin);
        const std::int64_t reached = both.skip_invisible(steps, 0, ishioka.n_steps, stride);
        both.store(stored);
        for_each_group<vectors>(begin, begin + NW * lanes(), [&]<int NV>(std::int64_t ring) {
            sum(RecurrenceState<NV>(stored + 4 * (ring - begin)), reached, ring);
        });
    });
}

/// F_m of n_fields fields, in groups of rings whose lam of a tile of steps serve all fields.
void synthesize_many(const LegendreOrder& order, std::int64_t first, std::int64_t end, const Ishioka& ishioka,
                     const AlmRow& alm, std::int64_t field, std::int64_t n_fields) {
    const D d;
    const std::int64_t n_steps = ishioka.n_steps;
    double* const steps = room_for(order.scratch.steps, 2 * n_steps);
    ishioka.write_recurrence(steps, 2);
    // In each tile of steps, the fields' coefficients lie one after the other.
    room_for(order.scratch.weights, 4 * n_fields * ((n_steps + shared_row - 1) / shared_row * shared_row));
    auto coefficients = [&](std::int64_t begin, std::int64_t f) {
        return order.scratch.weights.data() + 4 * (n_fields * begin + f * shared_row);
    };
    for (std::int64_t begin = 0; begin < n_steps; begin += shared_row)
        for (std::int64_t f = 0; f < n_fields; ++f)
            ishioka.write_coefficients(alm.field(field + f), begin, std::min(begin + shared_row, n_steps),
                                       coefficients(begin, f), 4);
    room_for(order.scratch.groups, 4 * shared_row);
    double* const lam = room_for(order.scratch.tile, shared_row * shared_row);
    double* const sums = room_for(order.scratch.sums, 4 * n_fields * shared_row);
    for (std::int64_t ring = first; ring < end; ring += shared_row) {
        const std::int64_t last = std::min(ring + shared_row, end);
        auto stored = [&](std::int64_t r) { return order.scratch.groups.data() + 4 * (r - ring); };
        for_each_group<row_vectors>(
            ring, last, [&]<int NV>(std::int64_t r) { RecurrenceState<NV>(order, r).store(stored(r)); });
        std::fill_n(sums, 4 * n_fields * shared_row, 0.0);
        for (std::int64_t begin = 0; begin < n_steps; begin += shared_row) {
            const std::int64_t tile_end = std::min(begin + shared_row, n_steps);
            std::int64_t visible = tile_end;
            for_each_group<row_vectors>(ring, last, [&]<int NV>(std::int64_t r) {
                visible =
                    std::min(visible, write_lam_rows<NV>(stored(r), steps, begin, tile_end, lam + r - ring));
            });
            for (std::int64_t f = 0; f < n_fields; ++f)
                add_products(coefficients(begin, f) + 4 * (visible - begin),
                             lam + (visible - begin) * shared_row, tile_end - visible, last - ring,
                             sums + 4 * f * shared_row, shared_row);
        }
        for (std::int64_t r = ring; r < last; r += lanes())
            for (std::int64_t f = 0; f < n_fields; ++f) {
                V parts[4];
                for (int k = 0; k < 4; ++k)
                    parts[k] = hn::Load(d, sums + (4 * f + k) * shared_row + r - ring);
                store_parts(order, r, field + f, parts);
            }
    }
}

/// Sums over some rings' F_m times lam: sums[field][k][i], k = even re, im, odd re, im, rows `row` long, to
/// which they are added or written.
struct LamSums {
    double* data;
    std::int64_t row;
    bool add;
};

/// Sums over the rings [first, end) of NF fields.
template <int NF>
void adjoint_of_few(const LegendreOrder& order, std::int64_t first, std::int64_t end, std::int64_t n_steps,
                    std::int64_t field, OrderPrefetch& prefetch, const LamSums& sums) {
    const D d;
    constexpr int n_sums = 4 * NF, vectors = own_vectors(NF);
    room_for(order.scratch.groups, 4 * (end - first));
    room_for(order.scratch.weights, n_sums * (end - first));
    double* const tile = room_for(order.scratch.tile, own_tile * n_sums * lanes());
    const double* const steps = order.scratch.steps.data();
    auto stored = [&](std::int64_t ring) { return order.scratch.groups.data() + 4 * (ring - first); };
    auto f_m = [&](std::int64_t ring) { return order.scratch.weights.data() + n_sums * (ring - first); };
    for_each_group<row_vectors>(
        first, end, [&]<int NV>(std::int64_t ring) { RecurrenceState<NV>(order, ring).store(stored(ring)); });
    for (std::int64_t ring = first; ring < end; ring += lanes())
        for (int f = 0; f < NF; ++f) {
            V parts[4];
            load_parts(order, ring, field + f, parts);
            for (int k = 0; k < 4; ++k) hn::Store(parts[k], d, f_m(ring) + (4 * f + k) * lanes());
        }
    // The rings from this one on are visible: those nearer to the equator are first.
    std::int64_t visible = end;
    for (std::int64_t begin = 0; begin < n_steps; begin += own_tile) {
        const std::int64_t tile_end = std::min(begin + own_tile, n_steps);
        if constexpr (NF == 2)
            while (visible > first && RecurrenceState<1>::all_visible_in(stored(visible - lanes())))
                visible -= lanes();
        for (std::int64_t ring = visible; ring < end; ring += own_rings * lanes()) {
            add_visible_tile(stored(ring), std::min(own_rings, (end - ring) / lanes()), steps, begin,
                             tile_end, f_m(ring), tile, ring > visible);
            prefetch.next_part();
        }
        for_each_group<vectors>(first, visible, [&]<int NV>(std::int64_t ring) {
            if (ring == first && visible == end)
                add_own_tile<NF, NV, false>(stored(ring), steps, begin, tile_end, f_m(ring), tile);
            else
                add_own_tile<NF, NV, true>(stored(ring), steps, begin, tile_end, f_m(ring), tile);
            prefetch.next_part();
        });
        // What it finds behind the tile's last step goes to the rows' padding.
        fold_tile(tile, tile_end - begin, n_sums, sums.add, sums.data + begin, sums.row);
    }
}

/// The same for n_fields fields.
void adjoint_of_many(const LegendreOrder& order, std::int64_t first, std::int64_t end, std::int64_t n_steps,
                     std::int64_t field, std::int64_t n_fields, OrderPrefetch& prefetch,
                     const LamSums& sums) {
    const D d;
    room_for(order.scratch.groups, 4 * (end - first));
    auto stored = [&](std::int64_t ring) { return order.scratch.groups.data() + 4 * (ring - first); };
    for_each_group<transposed_vectors>(
        first, end, [&]<int NV>(std::int64_t ring) { RecurrenceState<NV>(order, ring).store(stored(ring)); });
    // In each tile of rings, the fields' F_m lie one after the other.
    room_for(order.scratch.weights,
             4 * n_fields * ((end - first + shared_row - 1) / shared_row * shared_row));
    auto f_m = [&](std::int64_t f, std::int64_t ring) {
        const std::int64_t in_tile = (ring - first) % shared_row;
        return order.scratch.weights.data() +
               4 * (n_fields * (ring - first - in_tile) + f * shared_row + in_tile);
    };
    for (std::int64_t ring = first; ring < end; ring += lanes())
        for (std::int64_t f = 0; f < n_fields; ++f) {
            V parts[4];
            load_parts(order, ring, field + f, parts);
            hn::StoreInterleaved4(parts[0], parts[1], parts[2], parts[3], d, f_m(f, ring));
        }
    constexpr std::int64_t n_rows = transposed_vectors * lanes() * shared_row,
                           n_lam = shared_row * shared_row;
    double *const rows = room_for(order.scratch.tile, n_rows + n_lam + 4 * n_fields * shared_row),
                  *const lam = rows + n_rows, *const tile_sums = lam + n_lam;
    for (std::int64_t begin = 0; begin < n_steps; begin += shared_row) {
        const std::int64_t tile_end = std::min(begin + shared_row, n_steps);
        std::fill(tile_sums, tile_sums + 4 * n_fields * shared_row, 0.0);
        for (std::int64_t ring = first; ring < end; ring += shared_row) {
            const std::int64_t last = std::min(ring + shared_row, end);
            bool visible = false;
            for_each_group<transposed_vectors>(ring, last, [&]<int NV>(std::int64_t r) {
                visible |= write_lam_tile<NV>(stored(r), order.scratch.steps.data(), begin, tile_end, rows,
                                              lam + (r - ring) * shared_row);
            });
            for (std::int64_t f = 0; visible && f < n_fields; ++f)
                add_products(f_m(f, ring), lam, last - ring, round_up_steps(tile_end - begin),
                             tile_sums + 4 * f * shared_row, shared_row);
        }
        for (std::int64_t k = 0; k < 4 * n_fields; ++k) {
            double* const out = sums.data + k * sums.row;
            for (std::int64_t i = begin; i < tile_end; ++i)
                out[i] = (sums.add ? out[i] : 0) + tile_sums[k * shared_row + i - begin];
        }
        prefetch.next_part();
    }
}

void adjoint_scalar_fields(const LegendreOrder& order, BlockRange blocks, const Ishioka& ishioka,
                           const AlmRow& alm, std::int64_t field, std::int64_t n_fields) {
    if (blocks.empty()) return;
    const std::int64_t n_steps = ishioka.n_steps, row = (n_steps + block_size - 1) / block_size * block_size;
    double* const all = room_for(order.scratch.sums, row * 4 * n_fields);
    const std::int64_t begin = blocks.first * block_size, end = blocks.end * block_size;
    const std::int64_t n_chunks = (end - begin + chunk_rings - 1) / chunk_rings,
                       tile = n_fields <= 2 ? own_tile : shared_row, n_tiles = (n_steps + tile - 1) / tile;
    // About one for each call of a kernel that goes through a tile.
    const std::int64_t n_groups = n_fields == 1 ? (end - begin) / (own_vectors(1) * lanes()) : n_chunks;
    OrderPrefetch prefetch(order, field == 0, n_tiles * std::max<std::int64_t>(n_groups, 1));
    for (std::int64_t first = begin; first < end; first += chunk_rings) {
        const std::int64_t last = std::min(first + chunk_rings, end);
        const LamSums sums{all, row, first > begin};
        if (n_fields == 1)
            adjoint_of_few<1>(order, first, last, n_steps, field, prefetch, sums);
        else if (n_fields == 2)
            adjoint_of_few<2>(order, first, last, n_steps, field, prefetch, sums);
        else
            adjoint_of_many(order, first, last, n_steps, field, n_fields, prefetch, sums);
    }
    for (std::int64_t f = 0; f < n_fields; ++f)
        ishioka.read_sums(all + 4 * f * row, row, alm.field(field + f));
}

/// Room for the rows of the scalar fields that stand for a spin field: degrees up to lmax + s.
AlmRow scalar_row_of(const AlmRow& alm, int spin, LegendreScratch& scratch) {
    const std::int64_t length = alm.length + spin;
    return {room_for(scratch.scalar_row, length * alm.n_fields), length, alm.n_fields};
}

/// Scalar fields, or a spin field as scalar ones: Ishioka's recurrence away from the equator, the three-term
/// recurrence near it.
void synthesize_scalar(const LegendreOrder& order, BlockRange blocks, BlockRange equatorial,
                       const AlmRow& alm) {
    if (blocks.empty() && equatorial.empty()) return;
    const std::int64_t lmax = order.table.layout.lmax();
    const Ishioka ishioka(order.m, lmax + order.table.spin, order.scratch);
    AlmRow row = alm;
    if (order.table.spin > 0) {
        row = scalar_row_of(alm, order.table.spin, order.scratch);
        SpinSteps steps(order.table, order.m, ishioka.epsilon, order.scratch);
        for (std::int64_t f = 0; f < alm.n_fields; f += 2)
            steps.to_scalar(alm.field(f), alm.field(f + 1), row.field(f), row.field(f + 1));
    }
    const std::int64_t first = blocks.first * block_size, end = blocks.end * block_size;
    for (std::int64_t field = 0; field < alm.n_fields; field += most_shared_fields) {
        const std::int64_t n_fields = std::min(most_shared_fields, alm.n_fields - field);
        if (n_fields == 1)
            synthesize_few<1>(order, first, end, ishioka, row, field);
        else if (n_fields == 2 && two_fit)
            synthesize_few<2>(order, first, end, ishioka, row, field);
        else
            synthesize_many(order, first, end, ishioka, row, field, n_fields);
    }
    if (equatorial.empty()) return;
    const JacobiRecurrence steps(order.m, ishioka.lmax, ishioka.epsilon, order.scratch);
    synthesize_jacobi<false, JacobiForm::three_term>(order, equatorial, steps, row);
}

/// Adds to alm.
void adjoint_scalar(const LegendreOrder& order, BlockRange blocks, BlockRange equatorial, const AlmRow& alm) {
    if (blocks.empty() && equatorial.empty()) return;
    const std::int64_t lmax = order.table.layout.lmax();
    const Ishioka ishioka(order.m, lmax + order.table.spin, order.scratch);
    AlmRow row = alm;
    if (order.table.spin > 0) {
        row = scalar_row_of(alm, order.table.spin, order.scratch);
        std::fill_n(row.data, row.n_fields * row.length, 0.0);
    }
    ishioka.write_recurrence(room_for(order.scratch.steps, ishioka.n_steps * 2), 2);
    for (std::int64_t field = 0; field < alm.n_fields; field += most_shared_fields) {
        const std::int64_t n_fields = std::min(most_shared_fields, alm.n_fields - field);
        adjoint_scalar_fields(order, blocks, ishioka, row, field, n_fields);
    }
    if (!equatorial.empty()) {
        const JacobiRecurrence steps(order.m, ishioka.lmax, ishioka.epsilon, order.scratch);
        adjoint_jacobi<false, JacobiForm::three_term>(order, equatorial, steps, row);
    }
    if (order.table.spin == 0) return;
    SpinSteps steps(order.table, order.m, ishioka.epsilon, order.scratch);
    for (std::int64_t f = 0; f < alm.n_fields; f += 2)
        steps.add_from_scalar(row.field(f), row.field(f + 1), alm.field(f), alm.field(f + 1));
}

/// The blocks that the order reaches: near the poles, where a spin field is no scalar one yet, away from
/// both, and near the equator.
struct ReachedBlocks {
    BlockRange polar, between, middle, equatorial;

    explicit ReachedBlocks(const LegendreOrder& order) {
        const RingPairs& rings = order.rings;
        const std::int64_t equator = std::max(rings.first_scalar, rings.first_equatorial);
        polar = reached(order, 0, rings.end_polar);
        between = reached(order, rings.end_polar, rings.first_scalar);
        middle = reached(order, rings.first_scalar, equator);
        equatorial = reached(order, equator, rings.n_blocks());
    }
};

void legendre_synthesis(const LegendreOrder& order, const AlmRow& alm) {
    using enum JacobiForm;
    const ReachedBlocks blocks(order);
    if (order.table.spin == 0)
        synthesize_jacobi<false, difference>(order, blocks.polar, alm);
    else
        synthesize_jacobi<true, difference>(order, blocks.polar, alm);
    synthesize_jacobi<true, three_term>(order, blocks.between, alm);
    synthesize_scalar(order, blocks.middle, blocks.equatorial, alm);
}

void legendre_adjoint(const LegendreOrder& order, const AlmRow& alm) {
    using enum JacobiForm;
    const ReachedBlocks blocks(order);
    std::fill(alm.data, alm.data + alm.n_fields * alm.length, 0.0);
    if (order.table.spin == 0)
        adjoint_jacobi<false, difference>(order, blocks.polar, alm);
    else
        adjoint_jacobi<true, difference>(order, blocks.polar, alm);
    adjoint_jacobi<true, three_term>(order, blocks.between, alm);
    adjoint_scalar(order, blocks.middle, blocks.equatorial, alm);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::sht {

HWY_EXPORT(legendre_synthesis);
HWY_EXPORT(legendre_adjoint);

void legendre_synthesis(const LegendreOrder& order, const AlmRow& alm) {
    HWY_DYNAMIC_DISPATCH(legendre_synthesis)(order, alm);
}

void legendre_adjoint(const LegendreOrder& order, const AlmRow& alm) {
    HWY_DYNAMIC_DISPATCH(legendre_adjoint)(order, alm);
}

}  // namespace zonal::sht
#endif
