#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sht/rings/ring_pairs.hpp"
#include "zonal/grid.hpp"
#include "zonal/sht.hpp"

/// Rings as points of a meridian circle, on which F_m(theta) is a trigonometric polynomial of degree lmax
/// with F_m(-theta) = (-1)^(m + s) F_m(theta): where a grid has many more rings than that needs, the Legendre
/// stage works on equidistant ones, and the grid's get their F_m from these (theta resampling).
namespace zonal::sht {

/// Place of a ring pair's northern ring among samples of the meridian, theta / h = cell + fraction.
struct MeridianPlace {
    std::int64_t cell;
    double fraction;
};

/// Places of the pairs' northern rings, h = pi / n_samples, from the one of cosine and sine that carries the
/// digits.
std::vector<MeridianPlace> places_of(const RingPairs& rings, std::int64_t n_pairs, std::int64_t n_samples);

/// Rings at theta = (k + 1/2) pi / n_rings, of one pixel and no weight.
Grid equidistant_rings(std::int64_t n_rings);

/// The pairs of those rings; nothing for no rings.
std::optional<RingPairs> coarse_pairs(std::int64_t n_rings, const ShtOptions& options);

}  // namespace zonal::sht
