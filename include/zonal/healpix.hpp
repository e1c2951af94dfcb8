#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// Pixels of the HEALPix grid (Gorski et al. 2005): numbers, centres, neighbours, discs, interpolation.
/// All integers are 64-bit. nside: 1 to 2^29, any integer in ring order, powers of 2 in nest order. Functions
/// that take no Order work on ring order. Every function throws InvalidArgument for an nside, a pixel or a
/// ring outside its range and for angles that are not finite or theta outside [0, pi].
namespace zonal::healpix {

/// How pixels are numbered.
enum class Order { ring, nest };

inline constexpr std::int64_t max_nside = std::int64_t{1} << 29;

/// Colatitude theta in [0, pi] and longitude phi (any value; returned in [0, 2 pi)), rad.
struct Angles {
    double theta;
    double phi;
};

/// A direction with sine and cosine of the colatitude both to rounding, so that nothing is lost near the
/// poles.
struct Direction {
    double cos_theta;
    double sin_theta;
    double phi;  ///< rad
};

/// A vector x, y, z; z points to the north pole, x to longitude 0.
using Vector = std::array<double, 3>;

/// Pixel (x, y) of one of the 12 base pixels ("faces": 0-3 north, 4-7 equator, 8-11 south), 0 <= x, y <
/// nside. x grows to the north-east and y to the north-west, from the face's south corner.
struct FacePixel {
    std::int64_t face;
    std::int64_t x;
    std::int64_t y;
};

/// @name Sizes
/// @{
bool is_valid_nside(std::int64_t nside, Order order = Order::ring);
/// Throws InvalidArgument that names nside and the permitted values unless is_valid_nside.
void check_nside(std::int64_t nside, Order order = Order::ring);
/// 12 nside^2.
std::int64_t n_pixels(std::int64_t nside);
/// The nside of maps of this length. Throws InvalidArgument when there is none.
std::int64_t nside_of(std::int64_t n_pixels);
/// 4 nside - 1.
std::int64_t n_rings(std::int64_t nside);
/// Area of each pixel, sr.
double pixel_area(std::int64_t nside);
/// Largest angle between the centre of a pixel and its corners, over all pixels, rad.
double max_pixel_radius(std::int64_t nside);
/// @}

/// @name Directions and pixels
/// @{
std::int64_t ang2pix(std::int64_t nside, Order order, const Angles& angles);
std::int64_t ang2pix(std::int64_t nside, Order order, const Direction& direction);
/// vector: of any length but zero.
std::int64_t vec2pix(std::int64_t nside, Order order, const Vector& vector);
/// phi from -pi to pi, 0 on the axis.
Angles vec2ang(const Vector& vector);
Angles pix2ang(std::int64_t nside, Order order, std::int64_t pixel);
Direction pix2direction(std::int64_t nside, Order order, std::int64_t pixel);
/// Unit vector.
Vector pix2vec(std::int64_t nside, Order order, std::int64_t pixel);
FacePixel pix2xyf(std::int64_t nside, Order order, std::int64_t pixel);
std::int64_t xyf2pix(std::int64_t nside, Order order, const FacePixel& pixel);
/// @}

/// @name Ring and nest order
/// @{
std::int64_t ring2nest(std::int64_t nside, std::int64_t pixel);
std::int64_t nest2ring(std::int64_t nside, std::int64_t pixel);

/// Reorders a whole map of 12 nside^2 pixels, nside a power of 2. The two maps must not overlap.
template <class T>
void ring_to_nest(ConstView<T, 1> ring_map, View<T, 1> nest_map);
template <class T>
void nest_to_ring(ConstView<T, 1> nest_map, View<T, 1> ring_map);
/// @}

/// @name Rings
/// Rings are counted from 0 (north) to n_rings(nside) - 1 (south), as in Grid::healpix(nside).rings().
/// @{
/// The ring with this index, without the rest of the grid. Costs no memory, so any nside will do.
Ring ring(std::int64_t nside, std::int64_t ring_index);
/// Index of the ring that holds this pixel, ring order.
std::int64_t ring_of_pixel(std::int64_t nside, std::int64_t pixel);
/// Index of the southernmost ring at or north of the direction, -1 north of the first ring.
std::int64_t ring_above(std::int64_t nside, const Direction& direction);
/// @}

/// The eight pixels around a pixel in the order SW, W, NW, N, NE, E, SE, S; -1 where there is none (eight
/// places of the sphere where only three base pixels meet).
std::array<std::int64_t, 8> neighbours(std::int64_t nside, Order order, std::int64_t pixel);

/// Four pixels around a direction and their weights (not negative, sum 1).
struct Interpolation {
    std::array<std::int64_t, 4> pixels;
    std::array<double, 4> weights;
};

/// Bilinear interpolation: linear in phi on the two rings around the direction, linear in theta between them.
/// Beyond the first and last ring the pole takes the mean of the four pixels around it.
Interpolation interpolation_weights(std::int64_t nside, Order order, const Angles& angles);

/// Throws InvalidArgument unless both maps have the same length 12 nside^2, nside a power of 2, and lie in
/// distinct host memory; returns nside.
std::int64_t check_reordering(std::int64_t n_in, std::int64_t n_out, const void* in, const void* out,
                              MemorySpace in_space, MemorySpace out_space);

/// The ring-order numbers of nest pixels first, first + 1, ..., of a map that check_reordering has checked.
void nest2ring_run(std::int64_t nside, std::int64_t first, std::span<std::int64_t> ring_pixels);

/// Calls body(nest pixel, ring pixel) for each pixel.
template <class Body>
void for_each_pixel_pair(std::int64_t nside, const Body& body) {
    std::array<std::int64_t, 512> ring_pixels;  // stays in the first cache
    const std::int64_t n = 12 * nside * nside;
    for (std::int64_t first = 0; first < n; first += std::ssize(ring_pixels)) {
        const auto count = std::min<std::int64_t>(std::ssize(ring_pixels), n - first);
        nest2ring_run(nside, first, {ring_pixels.data(), static_cast<std::size_t>(count)});
        for (std::int64_t k = 0; k < count; ++k) body(first + k, ring_pixels[static_cast<std::size_t>(k)]);
    }
}

template <class T>
void ring_to_nest(ConstView<T, 1> ring_map, View<T, 1> nest_map) {
    const auto nside = check_reordering(ring_map.size(), nest_map.size(), ring_map.data(), nest_map.data(),
                                        ring_map.space(), nest_map.space());
    for_each_pixel_pair(nside, [&](auto nest, auto ring) { nest_map[nest] = ring_map[ring]; });
}

template <class T>
void nest_to_ring(ConstView<T, 1> nest_map, View<T, 1> ring_map) {
    const auto nside = check_reordering(nest_map.size(), ring_map.size(), nest_map.data(), ring_map.data(),
                                        nest_map.space(), ring_map.space());
    for_each_pixel_pair(nside, [&](auto nest, auto ring) { ring_map[ring] = nest_map[nest]; });
}

}  // namespace zonal::healpix
