#include <gtest/gtest.h>

#include <numbers>

#include "legendre_helpers.hpp"
#include "sht_helpers.hpp"

// The Legendre stage's tables and one order of it, at degrees that the plain reference cannot reach.
namespace zonal::test {
namespace {

/// Orders that start as far down as 2^-16000, which is as far as long double goes.
TEST(LegendreStage, HighDegreesMatchLongDouble) {
    constexpr std::int64_t lmax = 4000;
    std::vector<RingShape> shapes;
    const std::vector<double> sines{1e-3,   0.01,   0.05, 0.09, 0.0991, 0.0992,
                                    0.0993, 0.0994, 0.12, 0.3,  0.5,    0.7};
    for (const double sine : sines) shapes.push_back({std::asin(sine), 0, 1});
    const Grid grid = grid_of(shapes);
    for (const std::int64_t m : {0, 1, 2, 3, 40, 41, 300, 1000, 1500, 2300, 2790}) {
        OneOrder order(grid, lmax, m);
        for (std::size_t pair = 0; pair < sines.size(); ++pair) {
            const auto expected = lambda(lmax, m, grid.rings()[pair]);
            long double peak = 0;
            for (const auto value : expected) peak = larger(peak, std::abs(value));
            if (peak < 1e-12L) continue;  // left out, or about to be
            const auto alm = order.adjoint({1, -2}, static_cast<std::int64_t>(pair));
            double error = 0;
            for (std::int64_t k = 0; k <= lmax - m; ++k)
                error = larger(error, std::abs(alm[k] - static_cast<double>(expected[k]) * Complex(1, -2)));
            // Per component, and 1 / sin 2 theta <= 5 of the general bound's 25.
            EXPECT_LE(error / static_cast<double>(peak), std::sqrt(5.0) * transform_rounding(lmax))
                << "m " << m << " sin theta " << sines[pair];
        }
    }
}

TEST(LegendreStage, AdjointOfOneOrderIsTheTranspose) {
    constexpr std::int64_t lmax = 700;
    const Grid grid = Grid::gauss_legendre(60, 1);
    for (const std::int64_t m : {0, 5, 350, 699, 700}) {
        OneOrder order(grid, lmax, m);
        std::vector<Complex> a(lmax - m + 1);
        for (std::size_t k = 0; k < a.size(); ++k)
            a[k] = {std::cos(3.0 * double(k)), std::sin(7.0 * double(k))};
        for (const std::int64_t pair : {2, 17, 29}) {
            const Complex f(0.3, -0.8), image = order.synthesize(a, pair);
            const auto projected = order.adjoint(f, pair);
            Complex product = 0;
            double size = 0;
            for (std::size_t k = 0; k < a.size(); ++k) {
                product += std::conj(a[k]) * projected[k];
                size += std::norm(projected[k]);
            }
            // Each coefficient's rounding is independent of what it is multiplied by, of size 1.
            EXPECT_LE(std::abs(product - std::conj(image) * f),
                      sharp_transform_rounding(lmax) * std::sqrt(size));
        }
    }
}

/// What pruning leaves out is below 1.2e-19 of the ring's rms, which is sqrt(sum (2l+1)/4pi) for white alm.
TEST(LegendrePruning, LeavesOutNothingThatCounts) {
    for (const std::int64_t lmax : {16, 64, 256, 1000})
        for (const double sine : {0.001, 0.01, 0.1, 0.3, 0.6, 0.7}) {
            const double cosine = std::sqrt(1 - sine * sine);
            const auto bound = static_cast<std::int64_t>(
                std::ceil(sht::pruning_bound(static_cast<double>(lmax), 0, sine, cosine)));
            long double dropped = 0;
            for (std::int64_t m = bound + 1; m <= std::min(lmax, bound + 20); ++m)
                for (const long double value : lambda(lmax, m, make_ring(std::asin(sine), 0, 1, 1, 0)))
                    dropped += 2 * value * value;
            const double rms = static_cast<double>(lmax + 1) / std::sqrt(4 * std::numbers::pi);
            EXPECT_LE(static_cast<double>(std::sqrt(dropped)), 1.2e-19 * rms) << lmax << " " << sine;
            if (bound < lmax) {
                EXPECT_LE(static_cast<double>(bound), 2 * static_cast<double>(lmax) * sine + 40)
                    << "it prunes";
            }
        }
}

TEST(LegendrePruning, NeverFallsTowardsTheEquator) {
    for (const int spin : {0, 2, 10}) {
        const sht::RingPairs pairs(Grid::healpix(64), 128, 100, spin);
        EXPECT_TRUE(std::is_sorted(pairs.last_m.begin(), pairs.last_m.end()));
        EXPECT_EQ(pairs.last_m.back(), 100);
    }
}

TEST(LegendreRingPairs, HoldEveryRingOnce) {
    for (const NamedGrid& named : all_grids()) {
        SCOPED_TRACE(named.name);
        const sht::RingPairs pairs(named.grid, 8, 8, 0);
        ASSERT_EQ(static_cast<std::int64_t>(pairs.pairs.size()), pairs.n_blocks() * sht::block_size);
        std::vector<int> seen(named.grid.n_rings(), 0);
        for (std::size_t i = 0; i < pairs.pairs.size(); ++i) {
            const auto [north, south] = pairs.pairs[i];
            if (north >= 0) ++seen[north];
            if (south >= 0) ++seen[south];
            if (north >= 0 && south >= 0) {
                const Ring &a = named.grid.rings()[north], &b = named.grid.rings()[south];
                EXPECT_EQ(a.cos_theta, -b.cos_theta);
                EXPECT_EQ(a.n_pixels, b.n_pixels);
            }
            EXPECT_GE(pairs.cos_theta[i], 0);
            if (i > 0) {
                EXPECT_GE(pairs.sin_theta[i], pairs.sin_theta[i - 1]);
            }
        }
        EXPECT_EQ(seen, std::vector<int>(named.grid.n_rings(), 1));
    }
}

TEST(LegendreRingPairs, OfHealpixAreAllButTheEquator) {
    const sht::RingPairs pairs(Grid::healpix(16), 32, 32, 0);
    std::int64_t both = 0, alone = 0;
    for (const auto [north, south] : pairs.pairs) {
        both += north >= 0 && south >= 0;
        alone += (north >= 0) != (south >= 0);
    }
    EXPECT_EQ(both, 31);
    EXPECT_EQ(alone, 1);
}

}  // namespace
}  // namespace zonal::test
