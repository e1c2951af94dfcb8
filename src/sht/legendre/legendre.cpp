#include "sht/legendre/legendre.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zonal::sht {
namespace {

template <class T>
std::shared_ptr<const std::vector<T>> shared(std::vector<T> values) {
    return std::make_shared<const std::vector<T>>(std::move(values));
}

std::vector<std::int64_t> offsets_of_all(const RingPairs& rings, std::int64_t first, std::int64_t end) {
    std::vector<std::int64_t> offsets{0};
    for (auto block = first; block < end; ++block)
        offsets.push_back(offsets.back() + rings.last_m[block] + 1);
    return offsets;
}

std::vector<std::int64_t> offsets_of_runs(const RingPairs& rings, std::int64_t first, std::int64_t end,
                                          const std::vector<std::vector<std::int64_t>>& runs) {
    std::vector<std::int64_t> offsets{0};
    for (const auto& orders : runs)
        for (auto block = first; block < end; ++block) {
            const auto reach = std::upper_bound(orders.begin(), orders.end(), rings.last_m[block]);
            offsets.push_back(offsets.back() + (reach - orders.begin()));
        }
    return offsets;
}

std::vector<FourierBand::Place> places_in_runs(const std::vector<std::vector<std::int64_t>>& runs) {
    std::int64_t mmax = -1;
    for (const auto& orders : runs)
        if (!orders.empty()) mmax = std::max(mmax, orders.back());
    std::vector<FourierBand::Place> places(static_cast<std::size_t>(mmax + 1));
    for (std::size_t run = 0; run < runs.size(); ++run)
        for (std::size_t i = 0; i < runs[run].size(); ++i)
            places[static_cast<std::size_t>(runs[run][i])] = {static_cast<std::int64_t>(run),
                                                              static_cast<std::int64_t>(i)};
    return places;
}

}  // namespace

FourierBand::FourierBand(const RingPairs& rings, std::int64_t first, std::int64_t end, std::int64_t n_fields)
    : FourierBand(rings, first, end, n_fields, offsets_of_all(rings, first, end), nullptr) {}

FourierBand::FourierBand(const RingPairs& rings, std::int64_t first, std::int64_t end, std::int64_t n_fields,
                         const std::vector<std::vector<std::int64_t>>& runs)
    : FourierBand(rings, first, end, n_fields, offsets_of_runs(rings, first, end, runs),
                  shared(places_in_runs(runs))) {}

FourierBand::FourierBand(const RingPairs& rings, std::int64_t first, std::int64_t end, std::int64_t n_fields,
                         std::vector<std::int64_t> offsets, std::shared_ptr<const std::vector<Place>> places)
    : first(first),
      end(end),
      n_fields(n_fields),
      first_stored_(first),
      n_stored_(end - first),
      offsets_(shared(std::move(offsets))),
      places_(std::move(places)),
      last_m_(shared(std::vector<std::int64_t>(rings.last_m.begin() + first, rings.last_m.begin() + end))) {}

FourierBand FourierBand::of_zones(const RingPairs& rings, const std::vector<std::int64_t>& zones,
                                  std::int64_t n_fields, const std::vector<std::vector<std::int64_t>>& runs) {
    const std::int64_t first = zones.front(), first_pair = block_size * first;
    auto places = shared(places_in_runs(runs));
    const auto n_orders = std::ssize(*places);
    std::vector<std::int64_t> offsets, origins((zones.size() - 1) * static_cast<std::size_t>(n_orders));
    std::vector<std::int32_t> zone_of_block;
    std::int64_t n_rows = 0;
    for (const auto& orders : runs)
        for (std::size_t zone = 0; zone + 1 < zones.size(); ++zone) {
            offsets.insert(offsets.end(), static_cast<std::size_t>(zones[zone + 1] - zones[zone]), n_rows);
            const std::int64_t end = std::min(block_size * zones[zone + 1], rings.n_pairs());
            for (const std::int64_t m : orders) {
                const auto reached = std::lower_bound(rings.last_m.begin(), rings.last_m.end(), m);
                const auto begin =
                    std::max(block_size * zones[zone], block_size * (reached - rings.last_m.begin()));
                origins[zone * static_cast<std::size_t>(n_orders) + static_cast<std::size_t>(m)] =
                    n_rows - (begin - first_pair);
                n_rows += std::max<std::int64_t>(0, end - begin);
            }
        }
    offsets.push_back(n_rows);
    for (std::size_t zone = 0; zone + 1 < zones.size(); ++zone)
        zone_of_block.insert(zone_of_block.end(), static_cast<std::size_t>(zones[zone + 1] - zones[zone]),
                             static_cast<std::int32_t>(zone));
    FourierBand band(rings, first, zones.back(), n_fields, std::move(offsets), std::move(places));
    band.zones_ = shared(std::move(zone_of_block));
    band.origins_ = shared(std::move(origins));
    return band;
}

FourierBand FourierBand::part(std::int64_t first, std::int64_t end) const {
    FourierBand result = *this;
    result.first = first;
    result.end = end;
    return result;
}

SpinStep::SpinStep(int spin, std::int64_t lmax) {
    const double s = spin, sign = spin == 1 ? -1 : 1;
    for (std::int64_t degree = -1; degree <= lmax + spin + 1; ++degree) {
        const double l = static_cast<double>(degree);
        // Functions of spin s begin with degree s.
        below_.push_back(degree > spin ? -sign * std::sqrt((l - s) * (l - s + 1)) / l : 0);
        above_.push_back(degree + 1 >= spin ? sign * std::sqrt((l + 1 + s) * (l + s)) / (l + 1) : 0);
        across_.push_back(degree >= spin ? sign * std::sqrt((l - s + 1) * (l + s)) / (l * (l + 1)) : 0);
    }
}

LegendreTable::LegendreTable(const AlmLayout& layout, int spin)
    : layout(layout), spin(spin), components(spin == 0 ? 1 : 2) {
    for (int s = 1; s <= spin; ++s) steps.emplace_back(s, layout.lmax() + spin - s);
    const long double log2_norm = -std::log2(4 * std::numbers::pi_v<long double>) / 2;
    long double scalar = log2_norm;
    long double binomial = 0;  // log2 sqrt((2L)! / ((L+n)! (L-n)!)), here for m = 0: L = s, n = 0
    for (int k = 1; k <= spin; ++k) binomial += std::log2((spin + k) / static_cast<long double>(k)) / 2;
    for (std::int64_t m = 0; m <= layout.mmax(); ++m) {
        if (m > 0) scalar += std::log2((2 * m + 1) / static_cast<long double>(2 * m)) / 2;
        log2_scalar.push_back(scalar);
        // From (m-1) to m: below s only n grows, L = s; from s on L grows, n = s.
        const long double l = static_cast<long double>(m), s = spin;
        if (m > 0 && m <= spin) binomial += std::log2((s - l + 1) / (s + l)) / 2;
        if (m > spin) binomial += std::log2(2 * l * (2 * l - 1) / ((l + s) * (l - s))) / 2;
        const auto start = std::max<std::int64_t>(m, spin);
        log2_wigner.push_back(log2_norm + std::log2(static_cast<long double>(2 * start + 1)) / 2 + binomial);
    }
}

}  // namespace zonal::sht
