#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "zonal/healpix.hpp"

/// The two ways to say where a HEALPix pixel is, and the conversions between them. Everything else in this
/// module is built from these. Arguments are taken as valid; the public functions have checked them.
namespace zonal::healpix {

/// Pixel k of row i, counted eastwards from the row's first; rows count from 1 in the north to 4 nside - 1.
struct RowPixel {
    std::int64_t i;
    std::int64_t k;
};

/// From a pixel to its neighbours in their order: SW W NW N NE E SE S.
inline constexpr std::array<int, 8> neighbour_steps_x{-1, -1, 0, 1, 1, 1, 0, -1};
inline constexpr std::array<int, 8> neighbour_steps_y{0, 1, 1, 1, 0, -1, -1, -1};

/// Number of pixels of row i.
inline std::int64_t row_length(std::int64_t nside, std::int64_t i) {
    return 4 * std::min({i, nside, 4 * nside - i});
}
/// Ring-order number of the first pixel of row i.
inline std::int64_t row_start(std::int64_t nside, std::int64_t i) {
    if (i < nside) return 2 * i * (i - 1);
    if (i <= 3 * nside) return 2 * nside * (nside - 1) + (i - nside) * 4 * nside;
    const std::int64_t from_south = 4 * nside - i;
    return 12 * nside * nside - 2 * from_south * (from_south + 1);
}
/// 1 where the row's first pixel lies half a pixel east of phi = 0, 0 where it lies on phi = 0.
inline std::int64_t row_shift(std::int64_t nside, std::int64_t i) {
    const bool in_belt = i >= nside && i <= 3 * nside;
    return in_belt && (i - nside) % 2 != 0 ? 0 : 1;
}

RowPixel row_pixel_of_ring(std::int64_t nside, std::int64_t pixel);
inline std::int64_t ring_of_row_pixel(std::int64_t nside, const RowPixel& pixel) {
    return row_start(nside, pixel.i) + pixel.k;
}

FacePixel face_pixel_of_nest(std::int64_t nside, std::int64_t pixel);
std::int64_t nest_of_face_pixel(std::int64_t nside, const FacePixel& pixel);

FacePixel to_face_pixel(std::int64_t nside, const RowPixel& pixel);
inline RowPixel to_row_pixel(std::int64_t nside, const FacePixel& pixel) {
    const auto [face, x, y] = pixel;
    const std::int64_t quarter = face % 4, i = (face / 4 + 2) * nside - x - y - 1;
    if (i < nside) return {i, quarter * i + nside - 1 - y};
    if (i > 3 * nside) return {i, quarter * (4 * nside - i) + x};
    const bool on_equator = face / 4 == 1;
    const std::int64_t east = (2 * quarter + (on_equator ? 0 : 1)) * nside + x - y;
    return {i, ((east < 0 ? east + 8 * nside : east) - row_shift(nside, i)) / 2};
}

/// The pixel that contains a direction.
FacePixel face_pixel_at(std::int64_t nside, const Direction& direction);

/// nside sqrt(3 (1 - |cos theta|)): in the polar caps, the row number (counted from the pole) as a real
/// number.
double cap_row(std::int64_t nside, const Direction& direction);

/// True inside the polar caps |cos theta| > 2/3.
bool in_cap(const Direction& direction);

/// phi reduced to [0, 4) quarter turns.
double quarter_turns(double phi);

/// With cosine, sine and phi reduced to [0, 2 pi). Throws InvalidArgument unless theta is in [0, pi], phi
/// finite.
Direction to_direction(const Angles& angles);

/// Throws InvalidArgument unless cosine and sine are in [-1, 1] and [0, 1] and phi is finite.
void check_direction(const Direction& direction);

/// Throws InvalidArgument unless nside is valid for the order and the pixel is on the map.
void check_pixel(std::int64_t nside, Order order, std::int64_t pixel);

/// Pixel in either order to and from the forms above.
FacePixel to_face_pixel(std::int64_t nside, Order order, std::int64_t pixel);
std::int64_t to_pixel(std::int64_t nside, Order order, const FacePixel& pixel);

}  // namespace zonal::healpix
