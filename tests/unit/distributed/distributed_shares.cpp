#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "distributed/partition.hpp"

// Which rank has which rings, as a pure function.
namespace zonal::distributed {
namespace {

double sum(const std::vector<double>& values, std::int64_t first, std::int64_t end) {
    return std::accumulate(values.begin() + first, values.begin() + end, 0.0);
}

/// The largest value / weight of a share.
double largest(const std::vector<std::int64_t>& bounds, const std::vector<double>& values,
               const std::vector<double>& weights) {
    double most = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        most = std::max(most, sum(values, bounds[i], bounds[i + 1]) / weights[i]);
    return most;
}

std::vector<std::vector<std::int64_t>> all_divisions_in_three(std::int64_t n) {
    std::vector<std::vector<std::int64_t>> all;
    for (std::int64_t i = 1; i < n - 1; ++i)
        for (std::int64_t j = i + 1; j < n; ++j) all.push_back({0, i, j, n});
    return all;
}

TEST(DistributedShares, AreTheBestOfAllThatKeepTheBytes) {
    std::mt19937_64 generator(5);
    std::uniform_real_distribution<double> uniform(0.1, 2);
    const auto numbers = [&](std::size_t n) {
        std::vector<double> values(n);
        for (double& value : values) value = uniform(generator);
        return values;
    };
    constexpr double precision = 1e-6;  // of the search
    int n_limited = 0, n_impossible = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const auto costs = numbers(9), bytes = numbers(9), speeds = numbers(3);
        auto most = numbers(3);
        for (double& one : most) one *= 5;
        const auto all = all_divisions_in_three(9);
        double least_excess = 1e300, least_time = 1e300, unlimited = 1e300;
        for (const auto& one : all) least_excess = std::min(least_excess, largest(one, bytes, most));
        for (const auto& one : all) {
            unlimited = std::min(unlimited, largest(one, costs, speeds));
            if (largest(one, bytes, most) <= std::max(1.0, least_excess))
                least_time = std::min(least_time, largest(one, costs, speeds));
        }
        n_impossible += least_excess > 1;
        n_limited += least_time > unlimited;
        const auto found = divide(costs, speeds, bytes, most);
        EXPECT_LE(largest(found, bytes, most), std::max(1.0, least_excess) * (1 + precision));
        EXPECT_LE(largest(found, costs, speeds), least_time * (1 + precision));
    }
    EXPECT_GT(n_limited, 20);
    EXPECT_GT(n_impossible, 20);
}

std::vector<std::vector<double>> jobs() {
    std::vector<std::vector<double>> all{{4, 1}, {1, 0.1, 3}, {1, 2, 1, 2, 8}};
    for (const std::size_t n : {1, 2, 3, 4, 7, 8, 16, 64}) all.emplace_back(n, 1.0);
    return all;
}

/// Counts of cases in which bytes limit a share, and in which nothing does.
struct Cases {
    int limited = 0, balanced = 0;
};

/// Rings of many sizes: bytes are pixels and the F_m of lmax = 2 nside, whose orders end about at
/// lmax sin(theta).
void check_memory_and_balance(std::int64_t nside, bool by_devices, Cases& cases) {
    const double small = by_devices ? 512 << 20 : 64 << 20, excess = by_devices ? 1.38 : 1.08;
    const Grid grid = Grid::healpix(nside);
    ShtOptions options;
    options.lmax = options.mmax = 2 * nside;
    const sht::RingPairs pairs(grid, options.lmax, options.mmax, 0);
    const auto costs = block_costs(grid, pairs, by_devices);
    for (const auto& speeds : jobs()) {
        if (static_cast<std::int64_t>(speeds.size()) > pairs.n_blocks()) continue;
        const Partition partition(grid, pairs, options, speeds, by_devices);
        std::vector<double> bytes;
        for (const auto& rings : partition.rings) {
            double mine = 0;
            for (const std::int64_t ring : rings)
                mine += 8.0 * static_cast<double>(grid.rings()[ring].n_pixels) +
                        16.0 * static_cast<double>(options.lmax) * grid.rings()[ring].sin_theta;
            bytes.push_back(mine);
        }
        const double total = std::accumulate(bytes.begin(), bytes.end(), 0.0),
                     all_speeds = std::accumulate(speeds.begin(), speeds.end(), 0.0);
        double fullest = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            fullest = std::max(fullest, bytes[i] / (excess * total * speeds[i] / all_speeds + small));
        EXPECT_LE(fullest, 1 + 1e-12) << nside << " " << speeds.size();
        const double fair = std::accumulate(costs.begin(), costs.end(), 0.0) / all_speeds,
                     largest_block = *std::max_element(costs.begin(), costs.end()),
                     slowest = *std::min_element(speeds.begin(), speeds.end()),
                     time = largest(partition.bounds, costs, speeds);
        cases.limited += fullest > 0.97;
        if (fullest > 0.97 || largest_block > 0.05 * fair * slowest) continue;
        ++cases.balanced;
        EXPECT_LE(time, 1.05 * fair) << nside << " " << speeds.size();
    }
}

TEST(DistributedShares, KeepTheMemoryOfARankAndElseTheBalanceOfTimes) {
    for (const bool by_devices : {false, true}) {
        Cases cases;
        for (const std::int64_t nside : {32, 512, 1024, 2048, 4096, 8192})
            check_memory_and_balance(nside, by_devices, cases);
        EXPECT_GT(cases.limited, by_devices ? 2 : 10);
        EXPECT_GT(cases.balanced, 10);
    }
}

TEST(DistributedShares, CountLongRingsOfTheirOwnLengthAsLongerOnDevices) {
    const auto of = [](const Grid& grid, std::int64_t lmax, bool on_devices) {
        return block_costs(grid, sht::RingPairs(grid, lmax, lmax, 0), on_devices);
    };
    const Grid equal = Grid::gauss_legendre(64, 128);
    EXPECT_EQ(of(equal, 63, true), of(equal, 63, false));
    const Grid healpix = Grid::healpix(4096);
    const auto host = of(healpix, 16, false), device = of(healpix, 16, true);
    const auto of_ring = [&](std::int64_t ring) {
        const auto block = static_cast<std::size_t>(ring / static_cast<std::int64_t>(sht::block_size));
        return device[block] / host[block];
    };
    EXPECT_EQ(of_ring(0), 1);
    EXPECT_EQ(of_ring(2000), 1);            // up to 8,004 pixels
    EXPECT_NEAR(of_ring(2100), 2.6, 1e-9);  // 8,404
    EXPECT_NEAR(of_ring(4000), 2.6, 1e-9);
    EXPECT_EQ(of_ring(5000), 1);  // as long as its neighbours
    const Grid larger = Grid::healpix(8192);
    const std::size_t longest = 8000 / sht::block_size;  // 32,004 pixels
    EXPECT_NEAR(of(larger, 16, true)[longest] / of(larger, 16, false)[longest], 1.95, 1e-9);
}

}  // namespace
}  // namespace zonal::distributed
