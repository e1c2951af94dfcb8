#pragma once

#include <cstdint>

#include "radial/pixel_sum/weights.hpp"

/// The inner loops of the pixel sum, for the machine's widest vectors.
namespace zonal::radial {

/// Output rings that are summed together, so that what is loaded of an input ring serves all of them.
inline constexpr int filter_rings = 4;
/// Pixels that are summed in registers: a multiple of it is summed at once.
template <class T>
inline constexpr std::int64_t filter_unit = sizeof(T) == 4 ? 96 : 48;

/// One input ring of a filter.
template <class T>
struct FilterInput {
    std::int64_t row;  ///< where pixel 0 of the tile is, from the rows' begin
    int left, right;   ///< pixels left - j and right + j of an output pixel share weight j
    std::int64_t n_taps;
    const T* weights;  ///< [n_taps][filter_rings]
};

/// sums[ring][k] = sum over inputs and taps j of weight (x[k + left - j] + x[k + right + j]), k < n_pixels,
/// minus instead of plus where is_odd. n_pixels: a multiple of filter_unit.
void filter(const float* rows, const FilterInput<float>* inputs, std::int64_t n_inputs, std::int64_t n_pixels,
            bool is_odd, float* sums);
void filter(const double* rows, const FilterInput<double>* inputs, std::int64_t n_inputs,
            std::int64_t n_pixels, bool is_odd, double* sums);

/// Images of a pixel under the symmetries of a square and the mirror: each is a vector lane.
inline constexpr std::int64_t n_images = 16;

/// Pixels that are folded at once.
inline constexpr std::int64_t fold_pixels = 256;

/// row[k][image] = images[image][k], k < count; images and row are fold_pixels pixels long.
void images_to_lanes(const float* images, std::int64_t count, float* row);
void images_to_lanes(const double* images, std::int64_t count, double* row);
/// The other way round.
void lanes_to_images(const float* row, std::int64_t count, float* images);
void lanes_to_images(const double* row, std::int64_t count, double* images);

/// Where output pixels lie between an input ring's: pixel k at numerator / denominator, in input pixels, from
/// the first one, numerator = first + k step.
struct PixelPositions {
    std::int64_t first, step, denominator;
};

/// weights[i][stride] of the taps of pixels first .. first + count - 1, by the table; bases[i] = floor of the
/// pixel's position.
void weights_of_pixels(const PairTable<float>& table, const PixelPositions& positions, std::int64_t first,
                       std::int64_t count, float* weights, std::int64_t* bases);
void weights_of_pixels(const PairTable<double>& table, const PixelPositions& positions, std::int64_t first,
                       std::int64_t count, double* weights, std::int64_t* bases);

/// sums[i][image] += sum_j weights[i][j] row[bases[i] + j][image].
void add_images(const float* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                std::int64_t count, const float* row, float* sums);
void add_images(const double* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                std::int64_t count, const double* row, double* sums);

}  // namespace zonal::radial
