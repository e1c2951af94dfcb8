#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "radial/pixel_sum/weights.hpp"

/// The weights of square rings as CUDA reads them, made when a plan is.
namespace zonal::radial::cuda {

/// Pairs (output ring, input ring) for which no other way serves.
using DirectPairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// A tap's numbers: factor, shift, coefficients (pixel_sum_weights.hpp), padded to whole groups of four.
template <class T>
inline constexpr int tap_numbers = (weight_rows<T> + 3) / 4 * 4;

/// An input ring's part in one output ring: pixel k lies at x = k ratio + origin, in input pixels; tap j of
/// floor(x) is pixel floor(x) + j of the folded row from `first` on.
struct SquareTaps {
    double ratio, origin;
    std::int64_t first, first_weight;
    int n_taps, n_pieces;
};

/// What one output ring needs.
template <class T>
struct SquareTables {
    std::vector<SquareTaps> taps;      ///< first: still from pixel 0 on
    std::vector<std::int64_t> inputs;  ///< ascending
    std::vector<T> weights;            ///< [tap of a piece of a pair][tap_numbers]
    DirectPairs left_out;
};

/// Whether the tables of these rings, of one piece each, have no more than 2^28 numbers. Beyond that every
/// weight is evaluated where it is needed.
template <class T>
bool square_tables_fit(const PixelSumSchedule& schedule, const std::vector<std::int64_t>& outputs);

/// least_pixels: tables are made as for so many output pixels at least; 0: none are made.
template <class T>
SquareTables<T> make_square_tables(const PixelSumSchedule& schedule, std::int64_t output,
                                   std::int64_t least_pixels);

}  // namespace zonal::radial::cuda
