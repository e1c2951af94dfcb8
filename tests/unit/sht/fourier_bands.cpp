#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sht/legendre/legendre.hpp"

// Where the F_m of bands for GPUs lie, as ranks send them to each other.
namespace zonal::sht {
namespace {

using Runs = std::vector<std::vector<std::int64_t>>;

constexpr std::int64_t lmax = 40, mmax = 33;
const Runs runs{{0, 3, 5, 20, 33}, {1, 2, 4}, {}, {6, 7, 8, 9, 10, 30, 31}};

/// [place in a field]: order and pair, counted from the first of all.
std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> places_in(const FourierBand& band,
                                                                        const RingPairs& rings,
                                                                        const Runs& of) {
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> found;
    const auto n_orders = static_cast<std::int64_t>(band.places().size());
    for (const auto& orders : of)
        for (const std::int64_t m : orders)
            for (auto pair = block_size * band.first; pair < std::min(block_size * band.end, rings.n_pairs());
                 ++pair) {
                if (rings.last_m[static_cast<std::size_t>(pair / block_size)] < m) continue;
                const auto zone = band.zones()[static_cast<std::size_t>(pair / block_size - band.first)];
                const auto place = band.origins()[static_cast<std::size_t>(zone * n_orders + m)] + pair -
                                   block_size * band.first;
                EXPECT_TRUE(found.insert({place, {m, pair}}).second) << "m " << m << " pair " << pair;
            }
    return found;
}

TEST(FourierBand, ZonesHoldEveryPairOnce) {
    const RingPairs rings(Grid::healpix(21), lmax, mmax, 0);
    const std::vector<std::int64_t> zones{0, 1, 1, 4, rings.n_blocks()};
    for (const std::int64_t n_fields : {1, 3}) {
        const auto band = FourierBand::of_zones(rings, zones, n_fields, runs);
        const auto found = places_in(band, rings, runs);
        ASSERT_FALSE(found.empty());
        EXPECT_EQ(found.begin()->first, 0);
        EXPECT_EQ(found.rbegin()->first + 1, std::ssize(found));
        EXPECT_EQ(band.size(), 4 * n_fields * std::ssize(found));
        EXPECT_EQ(band.n_pieces(), n_fields);
    }
}

/// What a rank has of another's blocks lies as it does there.
TEST(FourierBand, ZonesAreWhatArrives) {
    const RingPairs rings(Grid::healpix(21), lmax, mmax, 0);
    const std::vector<std::int64_t> bounds{0, 2, 3, rings.n_blocks()};
    double memory = 0;
    for (std::size_t rank = 0; rank + 1 < bounds.size(); ++rank) {
        auto there = FourierBand::of_zones(rings, {bounds[rank], bounds[rank + 1]}, 2, runs);
        there.data = &memory;
        const auto arrived = places_in(there, rings, runs);
        for (std::size_t run = 0; run < runs.size(); ++run) {
            auto here = FourierBand::of_zones(rings, bounds, 2, {runs[run]});
            here.data = &memory;
            const auto sent = places_in(here, rings, {runs[run]});
            const auto number = static_cast<std::int64_t>(run);
            const auto n = here.size(0, bounds[rank], bounds[rank + 1]);
            ASSERT_EQ(n, there.size(number, there.first, there.end));
            const auto from = (here.begin(0, bounds[rank]) - here.data) / 4,
                       to = (there.begin(number, there.first) - there.data) / 4;
            for (std::int64_t k = 0; k < n / 4; ++k) EXPECT_EQ(sent.at(from + k), arrived.at(to + k));
            EXPECT_EQ(here.begin(0, bounds[rank], 1) - here.begin(0, bounds[rank]), here.size() / 2);
        }
    }
}

}  // namespace
}  // namespace zonal::sht
