#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grids/batch/surroundings_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "grids/batch/directions-inl.hpp"
#include "grids/batch/pixel_kernels.hpp"
#include "grids/healpix_pixel.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::healpix::HWY_NAMESPACE {

/// The pixels of a row west and east of a longitude, and the weight of the eastern one.
struct BetweenLanes {
    V west, east, east_weight;
};

HWY_INLINE V row_length_lanes(const Sphere& sphere, V i) {
    return real(4) * hn::Min(row_from_pole(sphere, i), real(sphere.real_nside));
}

HWY_INLINE V wrapped(V k, V length) {
    const V not_west = k + hn::IfThenElseZero(hn::Lt(k, hn::Zero(D())), length);
    return not_west - hn::IfThenElseZero(hn::Ge(not_west, length), length);
}

HWY_INLINE BetweenLanes between_pixels(const Sphere& sphere, V i, V turns) {
    const V length = row_length_lanes(sphere, i);
    const V steps = real(0.25) * turns * length - real(0.5) * shift_of_row(sphere, i);
    const V west = hn::Floor(steps);
    return {wrapped(west, length), wrapped(west + real(1), length), steps - west};
}

/// The pixel across the pole where the row is one of four pixels around it.
HWY_INLINE V opposite_where(M polar, V k) {
    return select(polar, below_four(k + real(2)), k);
}

/// quarter_turn_lanes for longitudes of any size.
HWY_INLINE V any_quarter_turns(const double* phi) {
    const D d;
    const V value = hn::Load(d, phi);
    HWY_ALIGN double turns[8];
    hn::Store(quarter_turn_lanes(value), d, turns);
    for_each_lane(hn::Gt(hn::Abs(value), real(largest_phi)),
                  [&](std::int64_t lane) { turns[lane] = quarter_turns(phi[lane]); });
    return hn::Load(d, turns);
}

/// Rows as real numbers: row i at i, the poles at 0 and 4 nside.
HWY_INLINE V row_coordinate(const Sphere& sphere, const PlaceLanes& place) {
    const M in_cap = hn::Gt(hn::Abs(place.z), real(2.0 / 3)), south = hn::Lt(place.z, hn::Zero(D()));
    const V cap = select(south, real(4 * sphere.real_nside) - place.cap_row, place.cap_row);
    return select(in_cap, cap, real(sphere.real_nside) * (real(2) - real(1.5) * place.z));
}

/// The rows above and below a direction, both the last one beyond it, and how far the direction is from the
/// upper row, or the pole, to the lower: 0 to 1.
struct RowPairLanes {
    V upper, lower, fraction;
    M beyond_north, beyond_south;
};

HWY_INLINE RowPairLanes rows_around(const Sphere& sphere, V theta) {
    const V zero = hn::Zero(D()), last = real(4 * sphere.real_nside - 1);
    PlaceLanes place;
    place_colatitude(sphere, theta, place);
    const V above = hn::Min(hn::Floor(row_coordinate(sphere, place)), last);
    RowPairLanes rows;
    rows.beyond_north = hn::Lt(above, real(1));
    rows.beyond_south = hn::Ge(above, last);
    rows.upper = hn::Max(above, real(1));
    rows.lower = hn::Min(above + real(1), last);
    const V top = hn::IfThenZeroElse(rows.beyond_north, theta_of_row(sphere, rows.upper));
    const V bottom = select(rows.beyond_south, real(core::pi), theta_of_row(sphere, rows.lower));
    // Rounding may put a direction on a row just outside the pair.
    rows.fraction = hn::Min(hn::Max((theta - top) / (bottom - top), zero), real(1));
    return rows;
}

bool interpolation_lanes(std::int64_t nside, Order order, const double* theta, const double* phi,
                         std::int64_t* pixels, double* weights, std::int64_t stride, std::int64_t n) {
    const D d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const V t = hn::Load(d, theta + at);
        if (!all_directions(t, hn::Load(d, phi + at))) return false;
        const V turns = any_quarter_turns(phi + at);
        const RowPairLanes rows = rows_around(sphere, t);
        const BetweenLanes north = between_pixels(sphere, rows.upper, turns);
        const BetweenLanes south = between_pixels(sphere, rows.lower, turns);
        // Beyond the last row its four pixels share the pole's weight; those two that are not beside the
        // direction stand for the missing row.
        const RowLanes found[] = {{rows.upper, opposite_where(rows.beyond_north, north.west)},
                                  {rows.upper, opposite_where(rows.beyond_north, north.east)},
                                  {rows.lower, opposite_where(rows.beyond_south, south.west)},
                                  {rows.lower, opposite_where(rows.beyond_south, south.east)}};
        const V low = rows.fraction, high = real(1) - low, quarter = real(0.25);
        const V from_north = hn::IfThenElseZero(rows.beyond_north, quarter * high);
        const V from_south = hn::IfThenElseZero(rows.beyond_south, quarter * low);
        const V north_east = select(rows.beyond_north, quarter, north.east_weight);
        const V north_west = select(rows.beyond_north, quarter, real(1) - north.east_weight);
        const V south_east = select(rows.beyond_south, quarter, south.east_weight);
        const V south_west = select(rows.beyond_south, quarter, real(1) - south.east_weight);
        const V shares[] = {high * north_west + from_south, high * north_east + from_south,
                            low * south_west + from_north, low * south_east + from_north};
        for (int k = 0; k < 4; ++k) {
            const I pixel = order == Order::ring ? ring_pixel_of_row(sphere, found[k])
                                                 : nest_pixel_of_face(sphere, face_of_row(sphere, found[k]));
            hn::Store(pixel, DI(), pixels + k * stride + at);
            hn::Store(shares[k], d, weights + k * stride + at);
        }
    }
    return true;
}

// x has the even digits of a nest number and y the odd ones. A sum carries over the digits between those of a
// coordinate where these are 1, and a difference borrows over them where they are 0.
bool nest_neighbours_lanes(std::int64_t nside, const std::int64_t* pixels, std::int64_t* around,
                           std::int64_t stride, std::int64_t n) {
    const DI d;
    const Sphere sphere(nside);
    const std::int64_t digits = nside * nside - 1, even = digits & 0x5555555555555555;
    const I inside = integer(digits), x_digits = integer(even), y_digits = integer(digits & ~even);
    const I zero = hn::Zero(d), one = integer(1), two = integer(2);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const I pixel = hn::Load(d, pixels + at);
        if (!all_on_map(sphere, pixel)) return false;
        const I face = hn::AndNot(inside, pixel), x = hn::And(pixel, x_digits), y = hn::And(pixel, y_digits);
        // For x - 1, x and x + 1.
        const I xs[] = {hn::And(x - one, x_digits), x, hn::And(hn::Or(x, y_digits) + one, x_digits)};
        const I ys[] = {hn::And(y - two, y_digits), y, hn::And(hn::Or(y, x_digits) + one, y_digits)};
        for (int k = 0; k < 8; ++k)
            hn::Store(hn::Or(face, hn::Or(xs[1 + neighbour_steps_x[k]], ys[1 + neighbour_steps_y[k]])), d,
                      around + k * stride + at);
        const auto at_edge = hn::Or(hn::Or(hn::Eq(x, zero), hn::Eq(x, x_digits)),
                                    hn::Or(hn::Eq(y, zero), hn::Eq(y, y_digits)));
        for_each_lane(hn::RebindMask(D(), at_edge), [&](std::int64_t lane) {
            const auto found = neighbours(nside, Order::nest, pixels[at + lane]);
            for (int k = 0; k < 8; ++k) around[k * stride + at + lane] = found[static_cast<std::size_t>(k)];
        });
    }
    return true;
}

bool neighbours_lanes(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* around,
                      std::int64_t stride, std::int64_t n) {
    if (order == Order::nest) return nest_neighbours_lanes(nside, pixels, around, stride, n);
    const Sphere sphere(nside);
    const V one = real(1), before_last = real(sphere.real_nside - 2);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const I pixel = hn::Load(DI(), pixels + at);
        if (!all_on_map(sphere, pixel)) return false;
        const FaceLanes centre = face_of_pixel(sphere, order, pixel);
        const M inside = hn::And(hn::And(hn::Ge(centre.x, one), hn::Le(centre.x, before_last)),
                                 hn::And(hn::Ge(centre.y, one), hn::Le(centre.y, before_last)));
        for (int k = 0; k < 8; ++k) {
            const FaceLanes step{centre.face, centre.x + real(neighbour_steps_x[k]),
                                 centre.y + real(neighbour_steps_y[k])};
            hn::Store(pixel_of_face(sphere, order, step), DI(), around + k * stride + at);
        }
        for_each_lane(hn::Not(inside), [&](std::int64_t lane) {  // some lie on another face
            const auto found = neighbours(nside, order, pixels[at + lane]);
            for (int k = 0; k < 8; ++k) around[k * stride + at + lane] = found[static_cast<std::size_t>(k)];
        });
    }
    return true;
}

bool pix2xyf_lanes(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* x,
                   std::int64_t* y, std::int64_t* face, std::int64_t n) {
    const DI d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const I pixel = hn::Load(d, pixels + at);
        if (!all_on_map(sphere, pixel)) return false;
        const FaceLanes found = face_of_pixel(sphere, order, pixel);
        hn::Store(to_integer(found.x), d, x + at);
        hn::Store(to_integer(found.y), d, y + at);
        hn::Store(to_integer(found.face), d, face + at);
    }
    return true;
}

bool xyf2pix_lanes(std::int64_t nside, Order order, const std::int64_t* x, const std::int64_t* y,
                   const std::int64_t* face, std::int64_t* pixels, std::int64_t n) {
    const DI d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const I a = hn::Load(d, x + at), b = hn::Load(d, y + at), f = hn::Load(d, face + at);
        const I last = integer(nside - 1), zero = hn::Zero(d);
        const auto low = hn::Or(hn::Lt(a, zero), hn::Or(hn::Lt(b, zero), hn::Lt(f, zero)));
        const auto high = hn::Or(hn::Gt(a, last), hn::Or(hn::Gt(b, last), hn::Gt(f, integer(11))));
        if (!hn::AllFalse(d, hn::Or(low, high))) return false;
        hn::Store(pixel_of_face(sphere, order, {to_real(f), to_real(a), to_real(b)}), d, pixels + at);
    }
    return true;
}

}  // namespace zonal::healpix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::healpix {

HWY_EXPORT(interpolation_lanes);
HWY_EXPORT(neighbours_lanes);
HWY_EXPORT(pix2xyf_lanes);
HWY_EXPORT(xyf2pix_lanes);

bool interpolation_block(std::int64_t nside, Order order, const double* theta, const double* phi,
                         std::int64_t* pixels, double* weights, std::int64_t stride, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(interpolation_lanes)(nside, order, theta, phi, pixels, weights, stride, n);
}
bool neighbours_block(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* around,
                      std::int64_t stride, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(neighbours_lanes)(nside, order, pixels, around, stride, n);
}
bool pix2xyf_block(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* x,
                   std::int64_t* y, std::int64_t* face, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(pix2xyf_lanes)(nside, order, pixels, x, y, face, n);
}
bool xyf2pix_block(std::int64_t nside, Order order, const std::int64_t* x, const std::int64_t* y,
                   const std::int64_t* face, std::int64_t* pixels, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(xyf2pix_lanes)(nside, order, x, y, face, pixels, n);
}

}  // namespace zonal::healpix
#endif
