#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "zonal/grid.hpp"

/// What the pixel sum needs to know of a grid.
namespace zonal::radial {

/// A ring, and its symmetries.
struct SumRing {
    double theta, cos_theta, sin_theta, phi_0, weight;
    double cos_half, sin_half;  ///< of theta / 2
    std::int64_t n_pixels, first_pixel;
    /// Whether rotations by 90 degrees and the reflection phi -> -phi map its pixels onto each other: then
    /// pixel k + rotation lies at (k + half/2) 2 pi / n_pixels, half = 0 or 1.
    bool is_square;
    int half;
    std::int64_t rotation;
    /// The ring at pi - theta with the same pixels, as an index; the ring itself on the equator; -1: none.
    std::int64_t mirror;
};

/// The rings from north to south.
class SumRings {
  public:
    explicit SumRings(const Grid& grid);

    const SumRing& operator[](std::int64_t index) const { return rings_[static_cast<std::size_t>(index)]; }
    std::int64_t size() const { return static_cast<std::int64_t>(rings_.size()); }
    std::int64_t n_map_pixels() const { return n_map_pixels_; }
    /// Whether every ring has its mirror image.
    bool is_mirrored() const { return is_mirrored_; }
    /// Rings [first, second) with |theta' - theta| <= distance and perhaps a few more.
    std::pair<std::int64_t, std::int64_t> near(double theta, double distance) const;

  private:
    void find_mirrors();

    std::vector<SumRing> rings_;
    std::int64_t n_map_pixels_;
    bool is_mirrored_ = true;
};

/// How far ring b's first pixel is from ring a's, in half pixels, where both have equally many pixels.
struct HalfPixels {
    bool is_whole;  ///< within 4e-12 of a whole number of half pixels: shift; else the rings do not match
    std::int64_t shift;
};
HalfPixels half_pixels_between(double phi_a, double phi_b, std::int64_t n_pixels);

}  // namespace zonal::radial
