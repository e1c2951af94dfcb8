// The rings that an order reaches, in groups of vectors, and where their F_m lie. Included once per SIMD
// target.

#if defined(ZONAL_SHT_RING_GROUPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_RING_GROUPS_INL_HPP
#undef ZONAL_SHT_RING_GROUPS_INL_HPP
#else
#define ZONAL_SHT_RING_GROUPS_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "sht/legendre/legendre.hpp"
#include "sht/legendre/scaled-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// First block of [from, end) that order m reaches; blocks are sorted, so all later ones are reached too.
inline std::int64_t first_active_block(const RingPairs& rings, std::int64_t m, std::int64_t from,
                                       std::int64_t end) {
    const auto begin = rings.last_m.begin();
    return std::lower_bound(begin + from, begin + end, m) - begin;
}

/// Blocks [first, end) of a band that order m reaches.
struct BlockRange {
    std::int64_t first, end;
};

/// The part of [first, end) that lies in the band and that order m reaches.
inline BlockRange reached(const RingPairs& rings, std::int64_t m, const FourierBand& band, std::int64_t first,
                          std::int64_t end) {
    first = std::clamp(first, band.first, band.end);
    end = std::clamp(end, first, band.end);
    return {first_active_block(rings, m, first, end), end};
}

/// Where the F_m of a vector of rings and a field lie: north re there, north im block_size further, and so
/// on.
inline double* fourier_lanes(const FourierBand& band, std::int64_t m, std::int64_t ring, std::int64_t field) {
    return band.at(ring / block_size, m) + field * fourier_block + ring % block_size;
}

/// Asks for the F_m of an order a part at a time, while another one is computed: its blocks lie too far apart
/// for the hardware to foresee.
class OrderPrefetch {
  public:
    /// m: -1 for none. n_parts: calls of next_part() that ask for all of it.
    OrderPrefetch(const RingPairs& rings, std::int64_t m, const FourierBand& band, std::int64_t n_parts)
        : band_(band), m_(m), block_(m < 0 ? band.end : first_active_block(rings, m, band.first, band.end)) {
        per_part_ = (band.end - block_ + n_parts - 1) / n_parts;
    }

    void next_part() {
        const std::int64_t end = std::min(block_ + per_part_, band_.end);
        for (; block_ < end; ++block_) {
            const double* const lines = band_.at(block_, m_);
            for (std::int64_t k = 0; k < band_.n_fields * fourier_block; k += 8) hwy::Prefetch(lines + k);
        }
    }

  private:
    const FourierBand& band_;
    std::int64_t m_, block_, per_part_;
};

/// Calls group.operator()<NV>(ring) for groups of at most NV vectors that cover the rings [ring, end).
template <int NV, class Group>
void for_each_group(std::int64_t ring, std::int64_t end, const Group& group) {
    for (; ring + NV * lanes() <= end; ring += NV * lanes()) group.template operator()<NV>(ring);
    if constexpr (NV > 1) {
        if (ring < end) for_each_group<(NV + 1) / 2>(ring, end, group);
    }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
