// Pixels of the HEALPix grid in vectors: healpix_pixel.hpp's functions for several pixels at once. Included
// once for each instruction set.
#if defined(ZONAL_GRIDS_BATCH_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_GRIDS_BATCH_LANES_INL
#undef ZONAL_GRIDS_BATCH_LANES_INL
#else
#define ZONAL_GRIDS_BATCH_LANES_INL
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>

#include "zonal/healpix.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::healpix::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using I = hn::Vec<DI>;
using M = hn::Mask<D>;

// Pixel numbers go up to 2^62 and are integers. Rows, columns and coordinates on a face are below 2^32: they
// are doubles, which hold them exactly and which every instruction set multiplies, compares and rounds.

HWY_INLINE V real(double value) {
    return hn::Set(D(), value);
}
HWY_INLINE I integer(std::int64_t value) {
    return hn::Set(DI(), value);
}

/// These convert integers from 0 to 2^52 - 1, which are the mantissa of 2^52 + value.
HWY_INLINE V to_real(I value) {
    return hn::BitCast(D(), value | hn::BitCast(DI(), real(0x1p52))) - real(0x1p52);
}
HWY_INLINE I to_integer(V value) {
    return hn::BitCast(DI(), value + real(0x1p52)) ^ hn::BitCast(DI(), real(0x1p52));
}

/// a b of integers from 0 to 2^32 - 1.
HWY_INLINE I product(I a, I b) {
#if HWY_TARGET == HWY_SCALAR
    return I(a.raw * b.raw);
#else
    const hn::Repartition<std::uint32_t, DI> halves;
    return hn::BitCast(DI(), hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b)));
#endif
}

HWY_INLINE M real_mask(hn::Mask<DI> mask) {
    return hn::RebindMask(D(), mask);
}
HWY_INLINE I select(M mask, I yes, I no) {
    return hn::IfThenElse(hn::RebindMask(DI(), mask), yes, no);
}
HWY_INLINE V select(M mask, V yes, V no) {
    return hn::IfThenElse(mask, yes, no);
}
/// 1 where the mask is true, else 0.
HWY_INLINE V one_where(M mask) {
    return hn::IfThenElseZero(mask, real(1));
}
HWY_INLINE V below_four(V value) {
    return value - hn::IfThenElseZero(hn::Ge(value, real(4)), real(4));
}

struct FaceLanes {
    V face, x, y;
};
struct RowLanes {
    V i, k;
};

/// What depends on nside alone.
struct Sphere {
    explicit Sphere(std::int64_t n)
        : nside(n),
          cap_size(2 * n * (n - 1)),
          n_pixels(12 * n * n),
          face_size(n * n),
          face_bits(2 * std::countr_zero(static_cast<std::uint64_t>(n))),
          real_nside(static_cast<double>(n)) {}

    std::int64_t nside, cap_size, n_pixels, face_size;
    int face_bits;  ///< face_size = 2^face_bits in nest order
    double real_nside;
};

/// Row counted from the nearer pole.
HWY_INLINE V row_from_pole(const Sphere& sphere, V i) {
    return hn::Min(i, real(4 * sphere.real_nside) - i);
}

/// 1 or 0, as row_shift.
HWY_INLINE V shift_of_row(const Sphere& sphere, V i) {
    const M in_belt = hn::Ge(row_from_pole(sphere, i), real(sphere.real_nside));
    const I bits = to_integer(i) ^ integer(sphere.nside);  // odd where i - nside is
    const M odd = real_mask(hn::Eq(bits & integer(1), integer(1)));
    return one_where(hn::Not(hn::And(in_belt, odd)));
}

HWY_INLINE RowLanes row_of_ring_pixel(const Sphere& sphere, I pixel) {
    const DI d;
    const D real_d;
    const I from_south = integer(sphere.n_pixels - 1) - pixel;
    const M south = real_mask(hn::Lt(from_south, pixel));
    const I before = select(south, from_south, pixel);
    const M in_cap = real_mask(hn::Lt(before, integer(sphere.cap_size)));
    // Cap: the largest i with 2 i (i - 1) <= before. Belt: a division by the row's length. Both are guessed
    // in doubles, which is at most one off.
    const I in_belt = hn::Max(pixel - integer(sphere.cap_size), hn::Zero(d));
    const V counted = hn::ConvertTo(real_d, select(in_cap, before, in_belt));
    const V cap_guess = hn::Floor((real(1) + hn::Sqrt(counted + counted + real(1))) * real(0.5));
    const V belt_guess = hn::Floor(counted * real(0.25 / sphere.real_nside));
    const I guess = to_integer(select(in_cap, cap_guess, belt_guess));
    const I four_nside = integer(4 * sphere.nside);
    const I start =
        product(select(in_cap, guess + guess, guess), select(in_cap, guess - integer(1), four_nside));
    const I k = select(in_cap, before, in_belt) - start;
    // A row that is one too far: the one before it has 4 (guess - 1) or 4 nside pixels.
    const M too_far = real_mask(hn::Lt(k, hn::Zero(d)));
    const I length = select(in_cap, hn::ShiftLeft<2>(guess), four_nside);
    const I length_before = select(in_cap, length - integer(4), four_nside);
    const M too_near = hn::AndNot(too_far, real_mask(hn::Lt(length, k + integer(1))));
    const I right_k = select(too_far, k + length_before, select(too_near, k - length, k));
    const V row = to_real(guess) - one_where(too_far) + one_where(too_near);
    const V column = to_real(right_k);
    const V nside = real(sphere.real_nside);
    const M in_south_cap = hn::And(in_cap, south);
    return {select(in_cap, select(south, real(4 * sphere.real_nside) - row, row), nside + row),
            select(in_south_cap, real(4) * row - real(1) - column, column)};
}

HWY_INLINE I ring_pixel_of_row(const Sphere& sphere, const RowLanes& pixel) {
    const V nside = real(sphere.real_nside), from_pole = row_from_pole(sphere, pixel.i);
    const M in_cap = hn::Lt(from_pole, nside), south = hn::Gt(pixel.i, real(2 * sphere.real_nside));
    const I j = to_integer(from_pole);
    // 2 j (j - 1) pixels in the north lie before the row; in the south 2 j (j + 1) from the row on.
    const I beside = hn::ShiftLeft<1>(j + select(south, integer(1), integer(-1)));
    const I in_belt = to_integer(hn::Max(pixel.i - nside, hn::Zero(D())));
    const I before = product(select(in_cap, j, in_belt), select(in_cap, beside, integer(4 * sphere.nside)));
    const I cap_start = select(south, integer(sphere.n_pixels) - before, before);
    return select(in_cap, cap_start, integer(sphere.cap_size) + before) + to_integer(pixel.k);
}

HWY_INLINE V face_of_diagonal_lanes(V north_east, V south_east) {
    const V ne = below_four(north_east), se = below_four(south_east);
    return select(hn::Eq(north_east, south_east), real(4) + ne,
                  select(hn::Gt(north_east, south_east), se, real(8) + ne));
}

HWY_INLINE FaceLanes face_of_row(const Sphere& sphere, const RowLanes& pixel) {
    const V nside = real(sphere.real_nside), from_pole = row_from_pole(sphere, pixel.i);
    const M in_cap = hn::Lt(from_pole, nside), south = hn::Gt(pixel.i, real(2 * sphere.real_nside));
    // A quotient of such integers that is not whole is further from the next than its rounding.
    const V quarter = hn::Floor(pixel.k / from_pole), rest = pixel.k - quarter * from_pole;
    const V cap_x = select(south, rest, nside - from_pole + rest);
    const V cap_y = select(south, from_pole, nside) - real(1) - rest;
    const V east = pixel.k + pixel.k + shift_of_row(sphere, pixel.i) + nside;
    const V north = nside + nside - pixel.i, side = nside + nside;
    const V north_east = east + north, south_east = east - north;
    const V per_side = real(0.5 / sphere.real_nside);  // the half below keeps whole quotients whole
    const V face_ne = hn::Floor((north_east + real(0.5)) * per_side);
    const V face_se = hn::Floor((south_east + real(0.5)) * per_side);
    const V x = hn::Floor((north_east - face_ne * side) * real(0.5));
    const V y = nside - real(1) - hn::Floor((south_east - face_se * side) * real(0.5));
    return {select(in_cap, quarter + hn::IfThenElseZero(south, real(8)),
                   face_of_diagonal_lanes(face_ne, face_se)),
            select(in_cap, cap_x, x), select(in_cap, cap_y, y)};
}

HWY_INLINE RowLanes row_of_face(const Sphere& sphere, const FaceLanes& pixel) {
    const V nside = real(sphere.real_nside);
    const M not_north = hn::Ge(pixel.face, real(4)), in_south = hn::Ge(pixel.face, real(8));
    const V band = one_where(not_north) + one_where(in_south), quarter = pixel.face - real(4) * band;
    const V i = (band + real(2)) * nside - pixel.x - pixel.y - real(1);
    const V from_pole = row_from_pole(sphere, i);
    const M in_cap = hn::Lt(from_pole, nside);
    const V cap_k = quarter * from_pole + select(in_south, pixel.x, nside - real(1) - pixel.y);
    const M on_equator = hn::AndNot(in_south, not_north);
    const V half_quarters = quarter + quarter + one_where(hn::Not(on_equator));
    const V east = half_quarters * nside + pixel.x - pixel.y;
    const V around = east + hn::IfThenElseZero(hn::Lt(east, hn::Zero(D())), real(8 * sphere.real_nside));
    return {i, select(in_cap, cap_k, (around - shift_of_row(sphere, i)) * real(0.5))};
}

/// As spread_bits and gather_bits of healpix_pixel.cpp.
HWY_INLINE I spread_bit_lanes(I bits) {
    bits = (bits | hn::ShiftLeft<16>(bits)) & integer(0x0000ffff0000ffffLL);
    bits = (bits | hn::ShiftLeft<8>(bits)) & integer(0x00ff00ff00ff00ffLL);
    bits = (bits | hn::ShiftLeft<4>(bits)) & integer(0x0f0f0f0f0f0f0f0fLL);
    bits = (bits | hn::ShiftLeft<2>(bits)) & integer(0x3333333333333333LL);
    return (bits | hn::ShiftLeft<1>(bits)) & integer(0x5555555555555555LL);
}
HWY_INLINE I gather_bit_lanes(I bits) {
    bits = bits & integer(0x5555555555555555LL);
    bits = (bits | hn::ShiftRight<1>(bits)) & integer(0x3333333333333333LL);
    bits = (bits | hn::ShiftRight<2>(bits)) & integer(0x0f0f0f0f0f0f0f0fLL);
    bits = (bits | hn::ShiftRight<4>(bits)) & integer(0x00ff00ff00ff00ffLL);
    bits = (bits | hn::ShiftRight<8>(bits)) & integer(0x0000ffff0000ffffLL);
    return (bits | hn::ShiftRight<16>(bits)) & integer(0x00000000ffffffffLL);
}

HWY_INLINE FaceLanes face_of_nest_pixel(const Sphere& sphere, I pixel) {
    const I inside = pixel & integer(sphere.face_size - 1);
    return {to_real(hn::ShiftRightSame(pixel, sphere.face_bits)), to_real(gather_bit_lanes(inside)),
            to_real(gather_bit_lanes(hn::ShiftRight<1>(inside)))};
}

HWY_INLINE I nest_pixel_of_face(const Sphere& sphere, const FaceLanes& pixel) {
    const I inside =
        spread_bit_lanes(to_integer(pixel.x)) | hn::ShiftLeft<1>(spread_bit_lanes(to_integer(pixel.y)));
    return hn::ShiftLeftSame(to_integer(pixel.face), sphere.face_bits) | inside;
}

HWY_INLINE RowLanes row_of_pixel(const Sphere& sphere, Order order, I pixel) {
    return order == Order::ring ? row_of_ring_pixel(sphere, pixel)
                                : row_of_face(sphere, face_of_nest_pixel(sphere, pixel));
}
HWY_INLINE FaceLanes face_of_pixel(const Sphere& sphere, Order order, I pixel) {
    return order == Order::nest ? face_of_nest_pixel(sphere, pixel)
                                : face_of_row(sphere, row_of_ring_pixel(sphere, pixel));
}
HWY_INLINE I pixel_of_face(const Sphere& sphere, Order order, const FaceLanes& pixel) {
    return order == Order::nest ? nest_pixel_of_face(sphere, pixel)
                                : ring_pixel_of_row(sphere, row_of_face(sphere, pixel));
}

HWY_INLINE std::int64_t lanes() {
    return static_cast<std::int64_t>(hn::Lanes(D()));
}

HWY_INLINE bool all_on_map(const Sphere& sphere, I pixel) {
    const DI d;
    const auto below = hn::Lt(pixel, hn::Zero(d)), above = hn::Gt(pixel, integer(sphere.n_pixels - 1));
    return hn::AllFalse(d, hn::Or(below, above));
}

/// Calls body(lane) where the mask is true.
template <class Body>
HWY_INLINE void for_each_lane(M mask, const Body& body) {
    if (HWY_LIKELY(hn::AllFalse(D(), mask))) return;
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(D(), mask, bits);
    for (std::int64_t lane = 0; lane < lanes(); ++lane)
        if (bits[0] >> lane & 1) body(lane);
}

}  // namespace zonal::healpix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
