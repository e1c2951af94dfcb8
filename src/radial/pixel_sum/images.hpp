#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "radial/pixel_sum/kernels.hpp"

/// The images of a ring's pixels under the symmetries of a square and the mirror, for the CPU and CUDA. Ring:
/// anything with n_pixels, rotation and half as SumRing has them.
namespace zonal::radial {

ZONAL_HOST_DEVICE inline std::int64_t modulo(std::int64_t k, std::int64_t n) {
    const std::int64_t rest = k % n;
    return rest < 0 ? rest + n : rest;
}

/// The same for -n <= k < 2n: a division takes long on a device.
ZONAL_HOST_DEVICE inline std::int64_t wrapped(std::int64_t k, std::int64_t n) {
    if (k < 0) return k + n;
    return k < n ? k : k - n;
}

/// Image `image` of pixel k: rotated by (image % 4) quarters after reflection where image & 4; of the
/// mirrored ring where image & 8. Its index is start + direction k, round and round.
struct Image {
    std::int64_t start, direction;
};

template <class Ring>
ZONAL_HOST_DEVICE Image image_of(const Ring& ring, std::int64_t image) {
    const std::int64_t turn = ring.n_pixels / 4 * (image % 4) + ring.rotation;
    return (image & 4) != 0 ? Image{turn - ring.half, -1} : Image{turn, 1};
}

/// Pixels from phi = 0 to pi/4.
template <class Ring>
ZONAL_HOST_DEVICE std::int64_t n_distinct(const Ring& ring) {
    const std::int64_t quarter = ring.n_pixels / 4;
    return ring.half == 1 ? (quarter + 1) / 2 : quarter / 2 + 1;
}

/// Which of these an image of a ring's pixel k is.
template <class Ring>
std::int64_t distinct_pixel(const Ring& ring, std::int64_t k) {
    const std::int64_t quarter = ring.n_pixels / 4, turned = modulo(k - ring.rotation, quarter);
    return turned < n_distinct(ring) ? turned : quarter - ring.half - turned;
}

/// Pixels [first, end) of those whose image is not another image of theirs too: the reflection maps pixel 0
/// (half = 0) and the one at pi/4 onto rotated images of themselves.
struct OwnPixels {
    std::int64_t first, end;
};
template <class Ring>
ZONAL_HOST_DEVICE OwnPixels own_pixels(const Ring& ring, std::int64_t image) {
    const std::int64_t quarter = ring.n_pixels / 4, count = n_distinct(ring);
    if ((image & 4) == 0) return {0, count};
    const bool last_is_shared = quarter % 2 == ring.half;
    return {ring.half == 0 ? 1 : 0, last_is_shared ? count - 1 : count};
}

/// Where the pixels of `out` lie between those of `in`: (k + half/2) n'/n - half'/2.
template <class Ring>
PixelPositions positions_of(const Ring& out, const Ring& in) {
    return {out.half * in.n_pixels - in.half * out.n_pixels, 2 * in.n_pixels, 2 * out.n_pixels};
}

/// floor(numerator / denominator) at pixel k.
inline std::int64_t base_at(const PixelPositions& positions, std::int64_t k) {
    const std::int64_t numerator = positions.first + k * positions.step;
    return (numerator - modulo(numerator, positions.denominator)) / positions.denominator;
}

}  // namespace zonal::radial
