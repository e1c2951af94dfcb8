#pragma once

#include <cstdint>

#include "core/aligned.hpp"

/// Distances between pixels and many points of the unit sphere, in the squares of their chords, |p - s|^2.
namespace zonal::masks {

/// Unit vectors. What lies behind `size`, up to a whole vector of the processor, can be read.
struct Points {
    core::AlignedVector<double> x, y, z;
    std::int64_t size = 0;

    /// Makes room for n of them. Keeps none.
    void resize(std::int64_t n);
};

/// Pixels of a leaf of the tree at most.
inline constexpr std::int64_t leaf_pixels = 64;

/// Squares of the chords from (x, y, z) to the points, of which there is one at least; returns which is the
/// least. squares: of the points' padded size.
std::int64_t squares_of(const Points& points, double x, double y, double z, double* squares);

/// The points that may be nearest to something within `radius` of where the squares are from: `nearest`, the
/// point of the least square, and those that a plane halfway to it which comes within the radius parts from
/// it.
void keep_candidates(const Points& points, const double* squares, std::int64_t nearest, double radius,
                     Points& kept);

/// The square of the chord from each of a leaf's pixels to its nearest point, and 2 asin(chord / 2). All of
/// leaf_pixels, aligned.
void nearest_squares(const Points& points, const double* x, const double* y, const double* z, double* squares,
                     double* angles);

}  // namespace zonal::masks
