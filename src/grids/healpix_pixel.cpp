#include "grids/healpix_pixel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace zonal::healpix {
namespace {

/// Row from the pole, 1 to nside - 1, that holds the pixel with `before` pixels between it and the pole: the
/// largest i with 2 i (i - 1) <= before. The square root of a 61-bit number may be one off in either
/// direction.
std::int64_t cap_row_of(std::int64_t before) {
    auto i = static_cast<std::int64_t>((1 + std::sqrt(1 + 2 * static_cast<double>(before))) / 2);
    while (2 * i * (i - 1) > before) --i;
    while (2 * i * (i + 1) <= before) ++i;
    return i;
}

/// Puts bit b of the lower half of `bits` at place 2 b.
std::uint64_t spread_bits(std::uint64_t bits) {
    bits = (bits | bits << 16) & 0x0000ffff0000ffffULL;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffULL;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fULL;
    bits = (bits | bits << 2) & 0x3333333333333333ULL;
    return (bits | bits << 1) & 0x5555555555555555ULL;
}

/// Undoes spread_bits; odd places are ignored.
std::uint64_t gather_bits(std::uint64_t bits) {
    bits &= 0x5555555555555555ULL;
    bits = (bits | bits >> 1) & 0x3333333333333333ULL;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fULL;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffULL;
    bits = (bits | bits >> 8) & 0x0000ffff0000ffffULL;
    return (bits | bits >> 16) & 0x00000000ffffffffULL;
}

/// The face whose square holds a point of the equatorial plane of the projection (face_pixel_at), from the
/// integer parts of its two diagonal coordinates.
std::int64_t face_of_diagonals(std::int64_t north_east, std::int64_t south_east) {
    if (north_east == south_east) return 4 + north_east % 4;
    return north_east > south_east ? south_east % 4 : 8 + north_east % 4;
}

FacePixel cap_face_pixel(std::int64_t nside, const Direction& direction) {
    const double turns = quarter_turns(direction.phi), row = cap_row(nside, direction);
    const double quarter = std::floor(turns), fraction = turns - quarter;
    // A face's part of the cap is cut by lines at equal steps of fraction * row and (1 - fraction) * row, the
    // distances from its two edges that meet at the pole.
    auto step = [&](double distance) { return std::min(static_cast<std::int64_t>(distance), nside - 1); };
    const std::int64_t from_west = step(fraction * row), from_east = step((1 - fraction) * row);
    const auto face = static_cast<std::int64_t>(quarter);
    if (direction.cos_theta > 0) return {face, nside - 1 - from_east, nside - 1 - from_west};
    return {8 + face, from_west, from_east};
}

}  // namespace

RowPixel row_pixel_of_ring(std::int64_t nside, std::int64_t pixel) {
    const std::int64_t cap_size = 2 * nside * (nside - 1), n_map = 12 * nside * nside;
    std::int64_t i;
    if (pixel < cap_size)
        i = cap_row_of(pixel);
    else if (pixel < n_map - cap_size)
        i = nside + (pixel - cap_size) / (4 * nside);
    else
        i = 4 * nside - cap_row_of(n_map - 1 - pixel);
    return {i, pixel - row_start(nside, i)};
}

// Gorski et al. (2005), section 4.2: the binary digits of x and y interleaved, x first, behind the face
// number.
FacePixel face_pixel_of_nest(std::int64_t nside, std::int64_t pixel) {
    const std::int64_t face_size = nside * nside;
    const auto inside = static_cast<std::uint64_t>(pixel & (face_size - 1));
    return {pixel >> (2 * std::countr_zero(static_cast<std::uint64_t>(nside))),
            static_cast<std::int64_t>(gather_bits(inside)),
            static_cast<std::int64_t>(gather_bits(inside >> 1))};
}

std::int64_t nest_of_face_pixel(std::int64_t nside, const FacePixel& pixel) {
    const std::uint64_t inside = spread_bits(static_cast<std::uint64_t>(pixel.x)) |
                                 spread_bits(static_cast<std::uint64_t>(pixel.y)) << 1;
    return pixel.face * nside * nside + static_cast<std::int64_t>(inside);
}

// In the equatorial belt the plane (phi, cos theta) is a lattice of squares on their corners. In units of
// half a pixel a centre has the longitude `east` = 2 k + shift and the height `north` = 2 nside - i above the
// equator, and its diagonals east + north and east - north, measured from the west corner of face 4, give
// face, x and y.
FacePixel to_face_pixel(std::int64_t nside, const RowPixel& pixel) {
    const auto [i, k] = pixel;
    if (i < nside) return {k / i, nside - i + k % i, nside - 1 - k % i};
    if (i > 3 * nside) {
        const std::int64_t from_south = 4 * nside - i;
        return {8 + k / from_south, k % from_south, from_south - 1 - k % from_south};
    }
    const std::int64_t east = 2 * k + row_shift(nside, i) + nside, north = 2 * nside - i;
    const std::int64_t north_east = east + north, south_east = east - north, side = 2 * nside;
    return {face_of_diagonals(north_east / side, south_east / side), north_east % side / 2,
            nside - 1 - south_east % side / 2};
}

FacePixel face_pixel_at(std::int64_t nside, const Direction& direction) {
    if (in_cap(direction)) return cap_face_pixel(nside, direction);
    // As in to_face_pixel, in units of a face's diagonal: longitude phi / (pi/2), height 3/4 cos theta.
    const double east = quarter_turns(direction.phi) + 0.5, north = 0.75 * direction.cos_theta;
    const double north_east = east + north, south_east = east - north;
    const double face_ne = std::floor(north_east), face_se = std::floor(south_east);
    auto step = [&](double fraction) {
        return std::min(static_cast<std::int64_t>(fraction * static_cast<double>(nside)), nside - 1);
    };
    return {face_of_diagonals(static_cast<std::int64_t>(face_ne), static_cast<std::int64_t>(face_se)),
            step(north_east - face_ne), nside - 1 - step(south_east - face_se)};
}

// Gorski et al. (2005), eq. 4, with 1 - |cos theta| = sin^2 theta / (1 + |cos theta|), which loses nothing at
// the pole.
double cap_row(std::int64_t nside, const Direction& direction) {
    return static_cast<double>(nside) * direction.sin_theta *
           std::sqrt(3 / (1 + std::abs(direction.cos_theta)));
}

bool in_cap(const Direction& direction) {
    return std::abs(direction.cos_theta) > 2.0 / 3;
}

double quarter_turns(double phi) {
    double turns = std::fmod(phi, 2 * std::numbers::pi) * (2 / std::numbers::pi);
    if (turns < 0) turns += 4;
    return turns < 4 ? turns : 0;
}

FacePixel to_face_pixel(std::int64_t nside, Order order, std::int64_t pixel) {
    if (order == Order::nest) return face_pixel_of_nest(nside, pixel);
    return to_face_pixel(nside, row_pixel_of_ring(nside, pixel));
}

std::int64_t to_pixel(std::int64_t nside, Order order, const FacePixel& pixel) {
    if (order == Order::nest) return nest_of_face_pixel(nside, pixel);
    return ring_of_row_pixel(nside, to_row_pixel(nside, pixel));
}

}  // namespace zonal::healpix
