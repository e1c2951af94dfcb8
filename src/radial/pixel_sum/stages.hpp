#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "radial/pixel_sum/filled_pixels.hpp"
#include "radial/pixel_sum/schedule.hpp"
#include "radial/pixel_sum/weights.hpp"
#include "zonal/view.hpp"

/// The ways in which the pixel sum on the CPU treats its pairs of rings: three by their kinds, and one for
/// input rings with few pixels that are not 0. T: in which sums are done, Map: of which the maps are.
namespace zonal::radial {

/// What one thread needs for itself.
template <class T>
struct SumScratch {
    core::AlignedVector<T> rows, sums, weights;
    PairTableScratch<T> table;
};

/// One sum: from a field of maps to a field of maps.
template <class Map>
struct SumPass {
    const PixelSumSchedule& schedule;
    SumKernel kernel;
    View<const Map, 2> in;
    View<Map, 2> out;
    /// Whether the field changes sign under reflections, as U does.
    bool in_is_odd = false, out_is_odd = false;
    /// Add to the output instead of setting it.
    bool add = false;
    /// The pixels to spread, for all maps; `in` begins with map first_map. If null, nothing is spread.
    const FilledPixels* filled = nullptr;
    std::int64_t first_map = 0;

    /// Whether a map's input ring is left to add_spread_ring.
    bool is_spread(std::int64_t map, std::int64_t input, PairKind kind) const {
        return filled != nullptr && filled->are_few(first_map + map, input, kind);
    }
    /// Whether that holds for all maps of the pass.
    bool is_spread(std::int64_t input, PairKind kind) const {
        for (std::int64_t map = 0; map < in.extent(0); ++map)
            if (!is_spread(map, input, kind)) return false;
        return true;
    }

    SumPass slice(std::int64_t first, std::int64_t count) const {
        SumPass part = *this;
        part.in = in.slice(first, count);
        part.out = out.slice(first, count);
        part.first_map += first;
        return part;
    }
};

/// Sets the rings of an equal band (or adds to them) to their sums over the input rings of kind equal, zero
/// where there are none.
template <class T, class Map>
void sum_equal_band(const SumPass<Map>& pass, const RingBand& band, SumScratch<T>& scratch);

/// Adds to the rings of a square band (and to their mirror images) their sums over the input rings of kind
/// square; sets (or adds to) those that are alone.
template <class T, class Map>
void add_square_band(const SumPass<Map>& pass, const RingBand& band, SumScratch<T>& scratch);

/// Adds to an output ring its sum over the input rings of kind general.
template <class T, class Map>
void add_general_ring(const SumPass<Map>& pass, std::int64_t output, SumScratch<T>& scratch);

/// Adds to an output ring what the pixels of input rings of any kind spread over it, where they are few: the
/// work is that of filled pixels. pass: of all maps.
template <class T, class Map>
void add_spread_ring(const SumPass<Map>& pass, std::int64_t output, SumScratch<T>& scratch);

}  // namespace zonal::radial
