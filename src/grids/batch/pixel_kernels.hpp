#pragma once

#include <cstdint>

#include "zonal/healpix.hpp"

/// Pixel functions of blocks, in vectors. Arrays hold n elements, rounded up to a multiple of kernel_multiple
/// with ones that are valid, too, and are aligned to as many doubles. Each returns false, with its output in
/// any state, where an element lies outside its range; nside and order are valid.
namespace zonal::healpix {

inline constexpr std::int64_t kernel_multiple = 8;

bool ang2pix_block(std::int64_t nside, Order order, const double* theta, const double* phi,
                   std::int64_t* pixels, std::int64_t n);
bool vec2pix_block(std::int64_t nside, Order order, const double* x, const double* y, const double* z,
                   std::int64_t* pixels, std::int64_t n);
bool pix2ang_block(std::int64_t nside, Order order, const std::int64_t* pixels, double* theta, double* phi,
                   std::int64_t n);
bool pix2vec_block(std::int64_t nside, Order order, const std::int64_t* pixels, double* x, double* y,
                   double* z, std::int64_t n);
/// Turns pixel numbers of `order` into those of the other order.
bool reorder_block(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* reordered,
                   std::int64_t n);

/// pixels, weights: 4 rows, `stride` elements apart.
bool interpolation_block(std::int64_t nside, Order order, const double* theta, const double* phi,
                         std::int64_t* pixels, double* weights, std::int64_t stride, std::int64_t n);
/// around: 8 rows, `stride` elements apart.
bool neighbours_block(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* around,
                      std::int64_t stride, std::int64_t n);
/// x, y, face: as FacePixel's.
bool pix2xyf_block(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* x,
                   std::int64_t* y, std::int64_t* face, std::int64_t n);
bool xyf2pix_block(std::int64_t nside, Order order, const std::int64_t* x, const std::int64_t* y,
                   const std::int64_t* face, std::int64_t* pixels, std::int64_t n);

}  // namespace zonal::healpix
