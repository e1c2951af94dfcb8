#pragma once

#include <cstdint>
#include <numbers>
#include <vector>

#include "zonal/view.hpp"

/// Masks on HEALPix: weights of pixels, in ring order, of which those that are 0 are masked.
namespace zonal {

/// Says which pixels of a mask are masked: 1 where it is 0 or UNSEEN, else 0. Throws InvalidArgument for
/// values that are not finite. T: double or float. threads: 0 for available_cpus().
template <class T>
std::vector<std::uint8_t> masked_pixels(View<const T, 1> mask, int threads = 0);

/// Finds the distance of each pixel to the nearest masked one, rad, between the centres: 0 of masked pixels,
/// and at most max_distance, which also stands where nothing is masked. The distances are exact to rounding.
///
/// Candidates are masked pixels with a neighbour that is not: of the neighbours of a masked pixel, in the
/// Delaunay triangulation of all centres, one is nearer to any point than it is, unless the pixel itself is
/// the nearest of all; and on HEALPix these are among the eight neighbours. Squares of each face are divided
/// until 64 pixels are left. A candidate is none for any pixel of a square of radius r if the plane halfway
/// between it and the candidate that is nearest to the centre passes the centre by more than r; where that
/// one lies at d and d - r > max_distance there is none at all.
///
/// masked: [12 nside^2], not 0 where masked. nside: any. distances: the same size. max_distance: from 0, pi
/// for no limit. threads: 0 for available_cpus(); results do not depend on it. Throws InvalidArgument for
/// sizes that do not fit.
void distances_to_masked(View<const std::uint8_t, 1> masked, View<double, 1> distances,
                         double max_distance = std::numbers::pi, int threads = 0);

/// The memory that this and masked_pixels take beside their arguments, and some 100 bytes for each masked
/// pixel that has a neighbour which is not, of which most masks have few.
double bytes_of_distances(std::int64_t nside);

}  // namespace zonal
