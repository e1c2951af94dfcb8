#pragma once

#include <cstdint>

#include "radial/pixel_sum/weights.hpp"

/// The inner loops of the pixel sum on the CPU.
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

/// Images of a pixel under the symmetries of a square and the mirror: each is a vector lane.
inline constexpr std::int64_t n_images = 16;

/// Pixels that are folded at once.
inline constexpr std::int64_t fold_pixels = 256;

/// Where output pixels lie between an input ring's: pixel k at numerator / denominator, in input pixels, from
/// the first one, numerator = first + k step.
struct PixelPositions {
    std::int64_t first, step, denominator;
};

template <class T>
struct SumLoops {
    /// sums[ring][k] = sum over inputs and taps j of weight (x[k + left - j] + x[k + right + j]), k <
    /// n_pixels, minus instead of plus where is_odd. n_pixels: a multiple of filter_unit.
    void (*filter)(const T* rows, const FilterInput<T>* inputs, std::int64_t n_inputs, std::int64_t n_pixels,
                   bool is_odd, T* sums);
    /// row[k][image] = images[image][k], k < count; images and row are fold_pixels pixels long.
    void (*images_to_lanes)(const T* images, std::int64_t count, T* row);
    /// The other way round.
    void (*lanes_to_images)(const T* row, std::int64_t count, T* images);
    /// weights[i][stride] of the taps of pixels first .. first + count - 1, by the table; bases[i] = floor of
    /// the pixel's position.
    void (*weights_of_pixels)(const PairTable<T>& table, const PixelPositions& positions, std::int64_t first,
                              std::int64_t count, T* weights, std::int64_t* bases);
    /// sums[i][image] += sum_j weights[i][j] row[bases[i] + j][image].
    void (*add_images)(const T* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                       std::int64_t count, const T* row, T* sums);
    /// sums[j] += value weights[j], j < n.
    void (*add_multiple)(T value, const T* weights, std::int64_t n, T* sums);
};

/// Those for the machine's widest vectors. T: float or double.
template <class T>
const SumLoops<T>& sum_loops();

}  // namespace zonal::radial
