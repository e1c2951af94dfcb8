#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "radial/pixel_sum_schedule.hpp"
#include "radial/pixel_sum_weights.hpp"
#include "zonal/view.hpp"

/// The three ways in which the pixel sum on the CPU treats its pairs of rings. T: in which sums are done,
/// Map: of which the maps are.
namespace zonal::radial {

/// What one thread needs for itself.
template <class T>
struct SumScratch {
    core::AlignedVector<T> rows, sums, weights;
    PairTableScratch<T> table;
};

template <class Map>
struct SumMaps {
    View<const Map, 2> in;
    View<Map, 2> out;
};

/// Sets the rings of an equal band to their sums over the input rings of kind equal, zero where there are
/// none.
template <class T, class Map>
void sum_equal_band(const PixelSumSchedule& schedule, const RingBand& band, const SumMaps<Map>& maps,
                    SumScratch<T>& scratch);

/// Adds to the rings of a square band (and to their mirror images) their sums over the input rings of kind
/// square; sets those that are alone.
template <class T, class Map>
void add_square_band(const PixelSumSchedule& schedule, const RingBand& band, const SumMaps<Map>& maps,
                     SumScratch<T>& scratch);

/// Adds to an output ring its sum over the input rings of kind general.
template <class T, class Map>
void add_general_ring(const PixelSumSchedule& schedule, std::int64_t output, const SumMaps<Map>& maps,
                      SumScratch<T>& scratch);

}  // namespace zonal::radial
