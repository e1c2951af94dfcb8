#pragma once

#include <cstdint>

#include "zonal/healpix.hpp"
#include "zonal/view.hpp"

/// The functions of healpix.hpp for many pixels at once.
///
/// All arrays of a call are in host memory, one-dimensional with any stride, and of one length n, which may
/// be 0. The pixels are those of the functions for one pixel, to the last bit; angles agree with theirs to 4
/// ulp and components of vectors to 4 eps. An output may be the same memory as an input. threads: 0 means
/// available_cpus(); fewer than 65,536 elements are one thread's work.
///
/// Every function throws InvalidArgument where one for one pixel does. The error names the first element that
/// is not valid, by its index; the output then has no meaning.
namespace zonal::healpix {

/// @name Directions and pixels
/// theta, phi: rad. x, y, z: components of vectors of any length but zero; pix2vec returns unit vectors.
/// @{
void ang2pix(std::int64_t nside, Order order, ConstView<double, 1> theta, ConstView<double, 1> phi,
             View<std::int64_t, 1> pixels, int threads = 0);
void pix2ang(std::int64_t nside, Order order, ConstView<std::int64_t, 1> pixels, View<double, 1> theta,
             View<double, 1> phi, int threads = 0);
void vec2pix(std::int64_t nside, Order order, ConstView<double, 1> x, ConstView<double, 1> y,
             ConstView<double, 1> z, View<std::int64_t, 1> pixels, int threads = 0);
void pix2vec(std::int64_t nside, Order order, ConstView<std::int64_t, 1> pixels, View<double, 1> x,
             View<double, 1> y, View<double, 1> z, int threads = 0);
/// x, y, face: those of FacePixel.
void pix2xyf(std::int64_t nside, Order order, ConstView<std::int64_t, 1> pixels, View<std::int64_t, 1> x,
             View<std::int64_t, 1> y, View<std::int64_t, 1> face, int threads = 0);
void xyf2pix(std::int64_t nside, Order order, ConstView<std::int64_t, 1> x, ConstView<std::int64_t, 1> y,
             ConstView<std::int64_t, 1> face, View<std::int64_t, 1> pixels, int threads = 0);
/// @}

/// @name Ring and nest order
/// nside: a power of 2.
/// @{
void ring2nest(std::int64_t nside, ConstView<std::int64_t, 1> pixels, View<std::int64_t, 1> nest,
               int threads = 0);
void nest2ring(std::int64_t nside, ConstView<std::int64_t, 1> pixels, View<std::int64_t, 1> ring,
               int threads = 0);
/// @}

/// @name Surroundings
/// @{
/// around: [8, n], the neighbours of each pixel in the order SW, W, NW, N, NE, E, SE, S, -1 where there is
/// none.
void neighbours(std::int64_t nside, Order order, ConstView<std::int64_t, 1> pixels,
                View<std::int64_t, 2> around, int threads = 0);

/// pixels, weights: [4, n], as of interpolation_weights for one direction.
void interpolation_weights(std::int64_t nside, Order order, ConstView<double, 1> theta,
                           ConstView<double, 1> phi, View<std::int64_t, 2> pixels, View<double, 2> weights,
                           int threads = 0);

/// Values of maps between their pixels, by interpolation_weights.
/// maps: [n_maps, 12 nside^2]; values: [n_maps, n], sums in double. A value is NaN where one of its four
/// pixels is, whatever its weight.
template <class T>
void interpolate(Order order, View<const T, 2> maps, ConstView<double, 1> theta, ConstView<double, 1> phi,
                 View<double, 2> values, int threads = 0);
/// @}

}  // namespace zonal::healpix
