// The rings that the Jacobi recurrences serve: near the poles, where a high spin cannot come from scalars,
// and near the equator. Included once per SIMD target.

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

/// Asks for what is needed next a part at a time, while something else is computed: an order's F_m, whose
/// blocks lie too far apart for the hardware to foresee, and rows of alm, as much at once as it does not
/// foresee.
class OrderPrefetch {
  public:
    /// wanted: unless other fields' turn has asked. n_parts: calls of next_part() that ask for all of it; 0
    /// where there are none.
    OrderPrefetch(const LegendreOrder& order, bool wanted, std::int64_t n_parts)
        : band_(order.band),
          scratch_(order.scratch),
          m_(wanted ? order.scratch.next_order : -1),
          block_(m_ < 0 ? band_.end : first_active_block(order.rings, m_, band_.first, band_.end)),
          row_end_(wanted ? scratch_.next_row_bytes : 0) {
        if (n_parts == 0) return;
        per_part_ = (band_.end - block_ + n_parts - 1) / n_parts;
        row_part_ = (row_end_ / line + n_parts) / n_parts * line;
    }

    void next_part() {
        const std::int64_t end = std::min(block_ + per_part_, band_.end);
        for (; block_ < end; ++block_) {
            const double* const lines = band_.at(block_, m_);
            for (std::int64_t k = 0; k < band_.n_fields * fourier_block; k += 8) hwy::Prefetch(lines + k);
        }
        const std::int64_t row_end = std::min(row_ + row_part_, row_end_);
        for (; row_ < row_end; row_ += line)
            for (const std::byte* row : scratch_.next_rows) hwy::Prefetch(row + row_);
    }

  private:
    static constexpr std::int64_t line = 64;
    const FourierBand& band_;
    const LegendreScratch& scratch_;
    std::int64_t m_, block_, per_part_ = 0, row_ = 0, row_end_, row_part_ = 0;
};

/// Calls group.operator()<NV>(ring) for groups of at most NV vectors that cover the rings [ring, end).
template <int NV, class Group>
void for_each_group(std::int64_t ring, std::int64_t end, const Group& group) {
    for (; ring + NV * lanes() <= end; ring += NV * lanes()) group.template operator()<NV>(ring);
    if constexpr (NV > 1) {
        if (ring < end) for_each_group<(NV + 1) / 2>(ring, end, group);
    }
}

/// Vectors of a group of the Jacobi recurrences: what hides their latency and leaves the sums in registers.
template <bool Spin, int Components>
constexpr int jacobi_vectors = (HWY_MAX_BYTES >= 64 ? 2 : 1) * (Spin              ? 1
                                                                : Components == 1 ? 4
                                                                                  : 2);

/// Degrees that the rings go through together in the adjoint, so that their sums stay in the first-level
/// cache.
inline constexpr std::int64_t jacobi_tile = 64;

/// Calls part.operator()<Components>(field) for runs of two components, of a spin field or of two scalar
/// ones, and for one that is left over.
template <bool Spin, class Part>
void for_each_jacobi_run(std::int64_t n_fields, const Part& part) {
    std::int64_t field = 0;
    for (; field + 2 <= n_fields; field += 2) part.template operator()<2>(field);
    if constexpr (!Spin)
        if (field < n_fields) part.template operator()<1>(field);
}

/// F_m of a vector of ring pairs from the sums over its degrees. swapped: the first degree's parity is odd.
template <bool Spin, int Components>
void store_sums(const LegendreOrder& order, std::int64_t ring, std::int64_t field, bool swapped,
                const V (&parts)[jacobi_parts<Spin, Components>]) {
    const D d;
    for (int side = 0; side < 2; ++side)
        if constexpr (Spin) {
            const V* const g = parts + 4 * side;
            const V* const h = g + 2;
            const bool negated = side == 0 || !swapped;
            const V values[2][2] = {{hn::Add(g[0], h[0]), hn::Add(g[1], h[1])},
                                    {hn::Sub(g[1], h[1]), hn::Sub(h[0], g[0])}};
            for (int c = 0; c < 2; ++c)
                for (int r = 0; r < 2; ++r)
                    hn::StoreU(negated ? hn::Neg(values[c][r]) : values[c][r], d,
                               fourier_lanes(order, ring, field + c) + (2 * side + r) * block_size);
        } else {
            for (int c = 0; c < Components; ++c)
                for (int r = 0; r < 2; ++r) {
                    const V even = parts[4 * c + r], odd = parts[4 * c + 2 + r];
                    const V value = side == 0 ? hn::Add(even, odd)
                                    : swapped ? hn::Sub(odd, even)
                                              : hn::Sub(even, odd);
                    hn::StoreU(value, d, fourier_lanes(order, ring, field + c) + (2 * side + r) * block_size);
                }
        }
}

/// The transpose.
template <bool Spin, int Components>
void load_sums(const LegendreOrder& order, std::int64_t ring, std::int64_t field, bool swapped,
               V (&parts)[jacobi_parts<Spin, Components>]) {
    const D d;
    auto load = [&](int c, int side, int r) HWY_ATTR {
        return hn::LoadU(d, fourier_lanes(order, ring, field + c) + (2 * side + r) * block_size);
    };
    if constexpr (Spin) {
        for (int side = 0; side < 2; ++side) {
            const V q_re = load(0, side, 0), q_im = load(0, side, 1), u_re = load(1, side, 0),
                    u_im = load(1, side, 1);
            const V values[4] = {hn::Sub(q_re, u_im), hn::Add(q_im, u_re), hn::Add(q_re, u_im),
                                 hn::Sub(q_im, u_re)};
            const bool negated = side == 0 || !swapped;
            for (int i = 0; i < 4; ++i) parts[4 * side + i] = negated ? hn::Neg(values[i]) : values[i];
        }
    } else {
        for (int c = 0; c < Components; ++c)
            for (int r = 0; r < 2; ++r) {
                const V north = load(c, 0, r), south = load(c, 1, r);
                const V sum = hn::Add(north, south), difference = hn::Sub(north, south);
                parts[4 * c + r] = swapped ? difference : sum;
                parts[4 * c + 2 + r] = swapped ? sum : difference;
            }
    }
}

template <int Parts>
HWY_INLINE void scale(V (&parts)[Parts], V factor) {
    for (V& part : parts) part = hn::Mul(part, factor);
}

/// The coefficients that the functions are multiplied by, [n_degrees][width]: those of each component from
/// the first degree on, or E + i B and E - i B, times the norm; filled up with zeros to whole degree groups.
template <bool Spin, int Components>
const double* load_rows(const AlmRow& alm, std::int64_t field, std::int64_t skipped,
                        const JacobiRecurrence& jacobi, LegendreScratch& scratch) {
    constexpr int width = jacobi_width<Components>;
    double* const rows = room_for(scratch.weights, width * jacobi.n_degrees);
    double* row = rows;
    for (std::int64_t k = skipped; k < alm.length; ++k, row += width) {
        const double norm = jacobi.norm == nullptr ? 1 : jacobi.norm[k - skipped];
        if constexpr (Spin) {
            const Complex e = norm * alm.field(field)[k], b = norm * alm.field(field + 1)[k];
            row[0] = e.real() - b.imag(), row[1] = e.imag() + b.real();
            row[2] = e.real() + b.imag(), row[3] = e.imag() - b.real();
        } else {
            for (int c = 0; c < Components; ++c) {
                const Complex a = norm * alm.field(field + c)[k];
                row[2 * c] = a.real(), row[2 * c + 1] = a.imag();
            }
        }
    }
    std::fill(row, rows + width * jacobi.n_degrees, 0.0);
    return rows;
}

/// The transpose, of sums [width][stride]; adds to alm.
template <bool Spin, int Components>
void add_rows(const double* sums, std::int64_t stride, const JacobiRecurrence& jacobi, std::int64_t skipped,
              const AlmRow& alm, std::int64_t field) {
    for (std::int64_t k = skipped; k < alm.length; ++k, ++sums) {
        const double norm = jacobi.norm == nullptr ? 1 : jacobi.norm[k - skipped];
        auto at = [&](int i) { return norm * sums[i * stride]; };
        if constexpr (Spin) {
            alm.field(field)[k] += Complex(at(0) + at(2), at(1) + at(3));
            alm.field(field + 1)[k] += Complex(at(1) - at(3), at(2) - at(0));
        } else {
            for (int c = 0; c < Components; ++c) alm.field(field + c)[k] += Complex(at(2 * c), at(2 * c + 1));
        }
    }
}

/// 1 / sin^s theta: scalar fields that stand for a field of spin s are sin^s theta times what they stand for.
inline V inverse_sine_power(const LegendreOrder& order, std::int64_t ring) {
    const D d;
    const V sine = hn::LoadU(d, order.rings.sin_theta.data() + ring);
    V power = hn::Set(d, 1.0);
    for (int k = 0; k < order.table.spin; ++k) power = hn::Mul(power, sine);
    return hn::Div(hn::Set(d, 1.0), power);
}

/// Spin: of alm and of F_m; else scalar fields, maybe in place of a spin field.
template <bool Spin, JacobiForm Form>
void synthesize_jacobi(const LegendreOrder& order, BlockRange blocks, const JacobiRecurrence& jacobi,
                       const AlmRow& alm) {
    const bool swap = starts_odd(jacobi.first_degree, order.m, Spin ? order.table.spin : 0);
    for_each_jacobi_run<Spin>(alm.n_fields, [&]<int Components>(std::int64_t field) {
        const double* const a =
            load_rows<Spin, Components>(alm, field, jacobi.first_degree - order.m, jacobi, order.scratch);
        for_each_group<jacobi_vectors<Spin, Components>>(
            blocks.first * block_size, blocks.end * block_size, [&]<int NV>(std::int64_t ring) {
                V parts[NV][jacobi_parts<Spin, Components>];
                jacobi_synthesis<Components>(JacobiGroup<Spin, Form, NV>(order, ring), jacobi, a, parts);
                for (int v = 0; v < NV; ++v) {
                    const std::int64_t at = ring + v * lanes();
                    if constexpr (!Spin) scale(parts[v], inverse_sine_power(order, at));
                    store_sums<Spin, Components>(order, at, field, swap, parts[v]);
                }
            });
    });
}

/// Adds to alm.
template <bool Spin, JacobiForm Form>
void adjoint_jacobi(const LegendreOrder& order, BlockRange blocks, const JacobiRecurrence& jacobi,
                    const AlmRow& alm) {
    const bool swap = starts_odd(jacobi.first_degree, order.m, Spin ? order.table.spin : 0);
    const std::int64_t first = blocks.first * block_size, end = blocks.end * block_size,
                       stride = (jacobi.n_degrees + block_size - 1) / block_size * block_size;
    LegendreScratch& scratch = order.scratch;
    for_each_jacobi_run<Spin>(alm.n_fields, [&]<int Components>(std::int64_t field) {
        constexpr int width = jacobi_width<Components>, n_parts = jacobi_parts<Spin, Components>,
                      n_stored = JacobiFunctions<Spin, Form>::stored_vectors,
                      vectors = jacobi_vectors<Spin, Components>;
        room_for(scratch.groups, n_stored * (end - first));
        room_for(scratch.weights, n_parts * (end - first));
        double *const sums = room_for(scratch.sums, stride * width), *const tile = room_for(
                                                                         scratch.tile,
                                                                         jacobi_tile * width * lanes());
        auto stored = [&](std::int64_t ring) { return scratch.groups.data() + n_stored * (ring - first); };
        auto f_m = [&](std::int64_t ring) { return scratch.weights.data() + n_parts * (ring - first); };
        for_each_group<vectors>(first, end, [&]<int NV>(std::int64_t ring) {
            JacobiGroup<Spin, Form, NV>(order, ring).store(stored(ring));
        });
        for (std::int64_t ring = first; ring < end; ring += lanes()) {
            V parts[n_parts];
            load_sums<Spin, Components>(order, ring, field, swap, parts);
            if constexpr (!Spin) scale(parts, inverse_sine_power(order, ring));
            for (int i = 0; i < n_parts; ++i) hn::Store(parts[i], D(), f_m(ring) + i * lanes());
        }
        for (std::int64_t begin = 0; begin < jacobi.n_degrees; begin += jacobi_tile) {
            const std::int64_t tile_end = std::min(begin + jacobi_tile, jacobi.n_degrees);
            const std::int64_t folded = (tile_end - begin + lanes() - 1) / lanes() * lanes();
            std::fill_n(tile, folded * width * lanes(), 0.0);
            for_each_group<vectors>(first, end, [&]<int NV>(std::int64_t ring) {
                jacobi_adjoint<Components, Spin, Form, NV>(stored(ring), jacobi, begin, tile_end, f_m(ring),
                                                           tile);
            });
            fold_tile(tile, tile_end - begin, width, false, sums + begin, stride);
        }
        add_rows<Spin, Components>(sums, stride, jacobi, jacobi.first_degree - order.m, alm, field);
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
