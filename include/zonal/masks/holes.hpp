#pragma once

#include <cstdint>
#include <vector>

#include "zonal/view.hpp"

namespace zonal {

/// Which holes of a mask on HEALPix are too small to be kept. A hole is a group of masked pixels that
/// hang together: a pixel has eight neighbours.
struct HoleLimits {
    std::int64_t min_pixels = 0;  ///< holes of fewer pixels go
    double min_area = 0;          ///< holes of less area go, sr
};

/// Holes that were filled, and their pixels.
struct FilledHoles {
    std::int64_t holes = 0;
    std::int64_t pixels = 0;
};

/// The pixels of all holes that are too small, in ring order, hole by hole. masked: [12 nside^2], not 0 where
/// masked. Throws InvalidArgument for another size and for negative limits.
std::vector<std::vector<std::int64_t>> small_holes(View<const std::uint8_t, 1> masked,
                                                   const HoleLimits& limits);

/// Gives the pixels of each hole that is too small the mean of the pixels around it that are not masked: 1 in
/// a mask of 0 and 1. A hole without such pixels, which is the whole sky, stays.
///
/// mask: [12 nside^2] in ring order. threads: 0 for available_cpus(), of which the search uses one. Throws as
/// masked_pixels and small_holes do.
FilledHoles fill_holes(View<double, 1> mask, const HoleLimits& limits, int threads = 0);

}  // namespace zonal
