#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "radial/pixel_sum/kernels.hpp"

/// The filters of bands of rings that have equally many pixels.
namespace zonal::radial {

/// A ring of a band: pixel k + rotation lies (k + half/2) pixels from the band's reference longitude.
struct Aligned {
    int half;
    std::int64_t rotation;
};

Aligned align(double reference_phi, const SumRing& ring);

/// Up to filter_rings output rings of the same half.
struct FilterBlock {
    int half;
    std::vector<std::int64_t> outputs;
};

std::vector<FilterBlock> filter_blocks(const PixelSumSchedule& schedule, const RingBand& band);

/// Weights of one input ring for the rings of a block: pixels left - j and right + j share weight j (the
/// right one with the other sign where the kernel is odd).
struct FilterTaps {
    int left, right;
    std::int64_t n_taps, first_weight;
};

/// Appends the weights [tap][ring] of an input ring for a block. A pixel that both ends of a tap hit, the
/// nearest one or the antipodal one, has half the weight twice.
template <class T>
FilterTaps append_taps(const PixelSumSchedule& schedule, const SumKernel& kernel, const FilterBlock& block,
                       std::int64_t input, int half_in, core::AlignedVector<T>& weights);

/// Input rings of any ring of the band, ascending.
std::vector<std::int64_t> filter_inputs(const PixelSumSchedule& schedule, const RingBand& band);

}  // namespace zonal::radial
