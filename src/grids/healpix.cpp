#include "zonal/healpix.hpp"
#include "core/constants.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "grids/healpix_pixel.hpp"
#include "zonal/error.hpp"

namespace zonal::healpix {
namespace {

using core::pi;

RowPixel to_row_pixel(std::int64_t nside, Order order, std::int64_t pixel) {
    if (order == Order::ring) return row_pixel_of_ring(nside, pixel);
    return to_row_pixel(nside, face_pixel_of_nest(nside, pixel));
}

}  // namespace

bool is_valid_nside(std::int64_t nside, Order order) {
    if (nside < 1 || nside > max_nside) return false;
    return order == Order::ring || std::has_single_bit(static_cast<std::uint64_t>(nside));
}

void check_nside(std::int64_t nside, Order order) {
    if (is_valid_nside(nside, order)) return;
    if (order == Order::ring) throw InvalidArgument("nside", nside, "must be from 1 to 2^29");
    throw InvalidArgument("nside", nside, "must be a power of 2 from 1 to 2^29 for nest order");
}

void check_pixel(std::int64_t nside, Order order, std::int64_t pixel) {
    check_nside(nside, order);
    if (pixel < 0 || pixel >= 12 * nside * nside)
        throw InvalidArgument("pixel", pixel,
                              fmt::format("must be from 0 to 12 nside^2 - 1 = {} for nside = {}",
                                          12 * nside * nside - 1, nside));
}

void check_direction(const Direction& direction) {
    const double z = direction.cos_theta, s = direction.sin_theta;
    if (!(z >= -1 && z <= 1)) throw InvalidArgument("cos_theta", z, "must be from -1 to 1");
    if (!(s >= 0 && s <= 1)) throw InvalidArgument("sin_theta", s, "must be from 0 to 1");
    if (!std::isfinite(direction.phi)) throw InvalidArgument("phi", direction.phi, "must be finite");
}

std::int64_t n_pixels(std::int64_t nside) {
    check_nside(nside);
    return 12 * nside * nside;
}

std::int64_t nside_of(std::int64_t n_pixels) {
    const auto nside = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(n_pixels) / 12)));
    if (!is_valid_nside(nside) || 12 * nside * nside != n_pixels)
        throw InvalidArgument("n_pixels", n_pixels,
                              "must be 12 nside^2 with an integer nside from 1 to 2^29");
    return nside;
}

std::int64_t n_rings(std::int64_t nside) {
    check_nside(nside);
    return 4 * nside - 1;
}

double pixel_area(std::int64_t nside) {
    return 4 * pi / static_cast<double>(n_pixels(nside));
}

// The most elongated pixels are those of the caps' rims (row nside) beside phi = 0. Their northern corner
// lies one row up, on phi = 0, half a pixel of longitude from the centre. With the difference of the two
// cosines in closed form, the chord between them has no cancellation.
double max_pixel_radius(std::int64_t nside) {
    check_nside(nside);
    const double step = 1 / static_cast<double>(nside);
    const double centre_z = 2.0 / 3, centre_s = std::sqrt(5.0) / 3;
    const double corner_t = (1 - step) * (1 - step) / 3, corner_s = std::sqrt(corner_t * (2 - corner_t));
    const double delta_z = step * (2 - step) / 3;
    const double delta_s = delta_z * (2 * centre_z + delta_z) / (centre_s + corner_s);
    const double half_phi = std::sin(pi / 8 * step);
    const double chord_squared =
        delta_z * delta_z + delta_s * delta_s + 4 * centre_s * corner_s * half_phi * half_phi;
    return 2 * std::asin(std::sqrt(chord_squared) / 2);
}

Direction to_direction(const Angles& angles) {
    if (!(angles.theta >= 0 && angles.theta <= pi))
        throw InvalidArgument("theta", angles.theta, "must be from 0 to pi");
    if (!std::isfinite(angles.phi)) throw InvalidArgument("phi", angles.phi, "must be finite");
    return {std::cos(angles.theta), std::sin(angles.theta), quarter_turns(angles.phi) * (pi / 2)};
}

std::int64_t ang2pix(std::int64_t nside, Order order, const Angles& angles) {
    return ang2pix(nside, order, to_direction(angles));
}

std::int64_t ang2pix(std::int64_t nside, Order order, const Direction& direction) {
    check_nside(nside, order);
    check_direction(direction);
    return to_pixel(nside, order, face_pixel_at(nside, direction));
}

namespace {

/// Throws InvalidArgument unless the vector has a direction.
double length_of(const Vector& vector) {
    const auto [x, y, z] = vector;
    const double length = std::hypot(x, y, z);
    if (!(length > 0 && std::isfinite(length)))
        throw InvalidArgument("vector", fmt::format("({}, {}, {})", x, y, z), "must be finite and not zero");
    return length;
}

}  // namespace

Angles vec2ang(const Vector& vector) {
    length_of(vector);  // checks it
    const auto [x, y, z] = vector;
    return {std::atan2(std::hypot(x, y), z), x == 0 && y == 0 ? 0 : std::atan2(y, x)};
}

std::int64_t vec2pix(std::int64_t nside, Order order, const Vector& vector) {
    const auto [x, y, z] = vector;
    const double length = length_of(vector);
    // Rounding may carry the quotients past 1.
    const double cos_theta = std::clamp(z / length, -1.0, 1.0),
                 sin_theta = std::min(1.0, std::hypot(x, y) / length);
    return ang2pix(nside, order, Direction{cos_theta, sin_theta, std::atan2(y, x)});
}

Direction pix2direction(std::int64_t nside, Order order, std::int64_t pixel) {
    check_pixel(nside, order, pixel);
    const auto [i, k] = to_row_pixel(nside, order, pixel);
    const Ring row = ring(nside, i - 1);
    const double half_steps = static_cast<double>(2 * k + row_shift(nside, i));
    return {row.cos_theta, row.sin_theta, half_steps * (pi / static_cast<double>(row.n_pixels))};
}

Angles pix2ang(std::int64_t nside, Order order, std::int64_t pixel) {
    const Direction direction = pix2direction(nside, order, pixel);
    return {std::atan2(direction.sin_theta, direction.cos_theta), direction.phi};
}

Vector pix2vec(std::int64_t nside, Order order, std::int64_t pixel) {
    const Direction direction = pix2direction(nside, order, pixel);
    return {direction.sin_theta * std::cos(direction.phi), direction.sin_theta * std::sin(direction.phi),
            direction.cos_theta};
}

FacePixel pix2xyf(std::int64_t nside, Order order, std::int64_t pixel) {
    check_pixel(nside, order, pixel);
    return to_face_pixel(nside, order, pixel);
}

std::int64_t xyf2pix(std::int64_t nside, Order order, const FacePixel& pixel) {
    check_nside(nside, order);
    const auto [face, x, y] = pixel;
    if (face < 0 || face > 11) throw InvalidArgument("face", face, "must be from 0 to 11");
    for (const auto& [name, value] : {std::pair{"x", x}, std::pair{"y", y}})
        if (value < 0 || value >= nside)
            throw InvalidArgument(name, value, fmt::format("must be from 0 to nside - 1 = {}", nside - 1));
    return to_pixel(nside, order, pixel);
}

std::int64_t ring2nest(std::int64_t nside, std::int64_t pixel) {
    check_pixel(nside, Order::nest, pixel);
    return nest_of_face_pixel(nside, to_face_pixel(nside, row_pixel_of_ring(nside, pixel)));
}

std::int64_t nest2ring(std::int64_t nside, std::int64_t pixel) {
    check_pixel(nside, Order::nest, pixel);
    return ring_of_row_pixel(nside, to_row_pixel(nside, face_pixel_of_nest(nside, pixel)));
}

std::int64_t check_reordering(std::int64_t n_in, std::int64_t n_out, const void* in, const void* out,
                              MemorySpace in_space, MemorySpace out_space) {
    if (n_in != n_out)
        throw InvalidArgument(fmt::format("ring and nest maps: lengths {} and {} differ", n_in, n_out));
    const std::int64_t nside = nside_of(n_in);
    check_nside(nside, Order::nest);
    if (in_space != MemorySpace::host || out_space != MemorySpace::host)
        throw InvalidArgument("ring and nest maps: must be in host memory");
    if (in == out) throw InvalidArgument("ring and nest maps: must not be the same memory");
    return nside;
}

}  // namespace zonal::healpix
