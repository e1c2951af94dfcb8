// Directions and pixels of the HEALPix grid in vectors. Included once for each instruction set.
#if defined(ZONAL_GRIDS_BATCH_DIRECTIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_GRIDS_BATCH_DIRECTIONS_INL
#undef ZONAL_GRIDS_BATCH_DIRECTIONS_INL
#else
#define ZONAL_GRIDS_BATCH_DIRECTIONS_INL
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <limits>

#include "core/constants.hpp"
#include "grids/batch/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::healpix::HWY_NAMESPACE {

constexpr double half_pi = core::pi / 2;
constexpr double half_pi_low = 6.123233995736766e-17;  ///< pi/2 - half_pi
constexpr double two_pi = 2 * core::pi;

/// A direction by its place among the rows and around the axis.
struct PlaceLanes {
    V turns;    ///< phi / (pi/2), from 0 to 4 or beyond by rounding
    V cap_row;  ///< as cap_row of healpix_pixel.hpp
    V z;        ///< cos theta, right to rounding of 1
};

/// Angle at the origin of (x, y) in the first octant, 0 <= y <= x, x > 0.
HWY_INLINE V octant_angle(V x, V y) {
    return hn::Atan(D(), y / x);
}

/// atan2(y, x) for y >= 0, not both 0, to 4 ulp: from 0 to pi.
HWY_INLINE V upper_angle(V y, V x) {
    const V side = hn::Abs(x);
    const M steep = hn::Gt(y, side);
    const V octant = octant_angle(select(steep, y, side), select(steep, side, y));
    const V quarter = select(steep, real(half_pi) - (octant - real(half_pi_low)), octant);
    return select(hn::Lt(x, hn::Zero(D())), real(core::pi) - (quarter - real(2 * half_pi_low)), quarter);
}

/// cos theta and cap_row of a colatitude from 0 to pi, by the sine of half the distance from the nearer pole.
HWY_INLINE void place_colatitude(const Sphere& sphere, V theta, PlaceLanes& place) {
    const M south = hn::Gt(theta, real(half_pi));
    const V from_south = (real(core::pi) - theta) + real(2 * half_pi_low);
    const V half_sine = hn::Sin(D(), select(south, from_south, theta) * real(0.5));
    const V z = hn::NegMulAdd(half_sine + half_sine, half_sine, real(1));
    place.z = select(south, hn::Neg(z), z);
    place.cap_row = half_sine * real(sphere.real_nside * 2.449489742783178);  // sqrt 6
}

/// phi in quarter turns. Where |phi| is above largest_phi this is worth nothing.
constexpr double largest_phi = 0x1p20;
HWY_INLINE V quarter_turn_lanes(V phi) {
    // 2 pi of quarter_turns in two parts: whole turns up to 2^18 times the first are exact.
    constexpr double two_pi_high = 0x1.921fb5p+2, two_pi_low = two_pi - two_pi_high;
    const M inside = hn::And(hn::Ge(phi, hn::Zero(D())), hn::Lt(phi, real(two_pi)));
    if (HWY_LIKELY(hn::AllTrue(D(), inside))) return phi * real(2 / core::pi);
    const V whole = hn::Floor(phi * real(1 / two_pi));
    const V rest = (phi - whole * real(two_pi_high)) - whole * real(two_pi_low);
    return rest * real(2 / core::pi);
}

/// theta from 0 to pi, phi finite.
HWY_INLINE bool all_directions(V theta, V phi) {
    const M on_sphere = hn::And(hn::Ge(theta, hn::Zero(D())), hn::Le(theta, real(core::pi)));
    const M finite = hn::Le(hn::Abs(phi), real(std::numeric_limits<double>::max()));
    return hn::AllTrue(D(), hn::And(on_sphere, finite));
}

/// The pixel at a place, and where rounding may decide which one it is: there the scalar function must.
struct FoundLanes {
    FaceLanes pixel;
    M doubtful;
};

/// True where a coordinate in units of pixels lies so near to a whole one that rounding may have carried it
/// across. Coordinates of quarter turns have errors of some 2^-51 in both functions.
HWY_INLINE M near_edge(const Sphere& sphere, V coordinate) {
    const V distance = hn::Abs(coordinate - hn::Round(coordinate));
    return hn::Lt(distance, real(sphere.real_nside * 0x1p-46));
}

// face_pixel_at, with both of its cases.
HWY_INLINE FoundLanes face_at(const Sphere& sphere, const PlaceLanes& place) {
    const V nside = real(sphere.real_nside), last = real(sphere.real_nside - 1), zero = hn::Zero(D());
    const M in_cap = hn::Gt(hn::Abs(place.z), real(2.0 / 3)), south = hn::Lt(place.z, zero);
    const V quarter = hn::Floor(place.turns), fraction = place.turns - quarter;
    const V from_west = fraction * place.cap_row, from_east = place.cap_row - from_west;
    const V east = place.turns + real(0.5), north = real(0.75) * place.z;
    const V north_east = east + north, south_east = east - north;
    const V face_ne = hn::Floor(north_east), face_se = hn::Floor(south_east);
    const V a = select(in_cap, from_west, (north_east - face_ne) * nside);
    const V b = select(in_cap, from_east, (south_east - face_se) * nside);
    const M doubtful = hn::Or(near_edge(sphere, a), near_edge(sphere, b));
    const V step_a = hn::Min(hn::Floor(a), last), step_b = hn::Min(hn::Floor(b), last);
    const M turned = hn::AndNot(south, in_cap);  // a northern cap's coordinates count from its other corner
    const V x = select(turned, last - step_b, step_a);
    const V y = select(turned, last - step_a, select(in_cap, step_b, last - step_b));
    const V cap_face = quarter + hn::IfThenElseZero(south, real(8));
    return {{select(in_cap, cap_face, face_of_diagonal_lanes(face_ne, face_se)), x, y}, doubtful};
}

/// phi / (pi/2) of a vector's x and y, not both 0.
HWY_INLINE V quarter_turns_of(V x, V y) {
    const V across = hn::Abs(x), along = hn::Abs(y);
    const M steep = hn::Gt(along, across);
    const V octant =
        octant_angle(select(steep, along, across), select(steep, across, along)) * real(2 / core::pi);
    const V quarter = select(steep, real(1) - octant, octant);
    const V half = select(hn::Lt(x, hn::Zero(D())), real(2) - quarter, quarter);
    return select(hn::Lt(y, hn::Zero(D())), real(4) - half, half);
}

/// Returns the place of a vector. Its largest component is from 1e-100 to 1e100, and x and y are not both 0.
HWY_INLINE PlaceLanes place_of_vector(const Sphere& sphere, V x, V y, V z) {
    const V from_axis = x * x + y * y, length_squared = from_axis + z * z;
    const V cos_theta = z / hn::Sqrt(length_squared);
    // sin theta sqrt(3 / (1 + |cos theta|))
    const V cap = hn::Sqrt(real(3) * from_axis / (length_squared * (real(1) + hn::Abs(cos_theta))));
    return {quarter_turns_of(x, y), real(sphere.real_nside) * cap, cos_theta};
}

/// cos theta, sin theta of rows, bit for bit those of ring().
struct ColatitudeLanes {
    V z, s;
};
HWY_INLINE ColatitudeLanes colatitude_of_row(const Sphere& sphere, V i) {
    const D d;
    const std::int64_t n = sphere.nside;
    const V from_pole = row_from_pole(sphere, i);
    const M in_cap = hn::Lt(from_pole, real(sphere.real_nside)),
            south = hn::Gt(i, real(2 * sphere.real_nside));
    const I j = to_integer(from_pole), square = product(j, j), twice = j + j;
    const I cosine = select(in_cap, integer(3 * n * n) - square, hn::ShiftLeft<1>(integer(2 * n) - j));
    const I under_root = select(in_cap, integer(6 * n * n) - square,
                                product(hn::Max(twice, integer(n)) - integer(n), integer(7 * n) - twice));
    const V denominator =
        select(in_cap, real(static_cast<double>(3 * n * n)), real(static_cast<double>(3 * n)));
    const V z = hn::ConvertTo(d, cosine) / denominator;
    const V root = hn::Sqrt(hn::ConvertTo(d, under_root));
    return {select(south, hn::Neg(z), z), select(in_cap, from_pole, real(1)) * root / denominator};
}

HWY_INLINE V theta_of_row(const Sphere& sphere, V i) {
    const auto [z, s] = colatitude_of_row(sphere, i);
    return upper_angle(s, z);
}

/// phi of the centre of pixels, bit for bit that of pix2direction.
HWY_INLINE V phi_of_row(const Sphere& sphere, const RowLanes& pixel) {
    const V length = real(4) * hn::Min(row_from_pole(sphere, pixel.i), real(sphere.real_nside));
    return (pixel.k + pixel.k + shift_of_row(sphere, pixel.i)) * (real(core::pi) / length);
}

}  // namespace zonal::healpix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
