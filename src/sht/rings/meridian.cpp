#include "sht/rings/meridian.hpp"

#include <cmath>
#include <numbers>

#include "grids/latitude_nodes.hpp"

namespace zonal::sht {

std::vector<MeridianPlace> places_of(const RingPairs& rings, std::int64_t n_pairs, std::int64_t n_samples) {
    constexpr long double half_pi = std::numbers::pi_v<long double> / 2;
    std::vector<MeridianPlace> places;
    places.reserve(static_cast<std::size_t>(n_pairs));
    for (std::int64_t p = 0; p < n_pairs; ++p) {
        const long double c = rings.cos_theta[p], s = rings.sin_theta[p];
        const long double theta = c < s ? half_pi - std::asin(c) : std::asin(s);
        const long double place = theta / (2 * half_pi) * static_cast<long double>(n_samples);
        const long double cell = std::floor(place);
        places.push_back({static_cast<std::int64_t>(cell), static_cast<double>(place - cell)});
    }
    return places;
}

Grid equidistant_rings(std::int64_t n_rings) {
    std::vector<grids::Node> northern;
    northern.reserve(static_cast<std::size_t>((n_rings + 1) / 2));
    for (std::int64_t k = 0; k < (n_rings + 1) / 2; ++k)
        northern.push_back(grids::node_at_fraction(2 * k + 1, 2 * n_rings));
    return grids::grid_of_rings(northern, n_rings, 1, 0, "equidistant");
}

std::optional<RingPairs> coarse_pairs(std::int64_t n_rings, const ShtOptions& options) {
    if (n_rings == 0) return std::nullopt;
    return RingPairs(equidistant_rings(n_rings), options.lmax, options.mmax, options.spin);
}

}  // namespace zonal::sht
