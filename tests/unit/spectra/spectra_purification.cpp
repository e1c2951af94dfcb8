#include "zonal/spectra/purification.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace {

using Complex = std::complex<double>;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Random alm of a real field from degree `first` on, [1, rows, n].
Array<Complex, 3> random_alm(std::int64_t lmax, std::int64_t first, std::int64_t rows, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const AlmLayout layout(lmax);
    Array<Complex, 3> alm({1, rows, layout.size()});
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t m = 0; m <= lmax; ++m)
            for (auto l = std::max(m, first); l <= lmax; ++l)
                alm(0, row, layout.index(l, m)) = {normal(random), m == 0 ? 0 : normal(random)};
    return alm;
}

Array<double, 3> synthesized(const Grid& grid, const Array<Complex, 3>& alm, std::int64_t lmax, int spin) {
    ShtOptions how;
    how.lmax = lmax;
    how.spin = spin;
    Array<double, 3> map({1, spin == 0 ? 1 : 2, grid.n_pixels()});
    ShtPlan(grid, how).synthesize<double>(alm.view(), map.view());
    return map;
}

double largest(const Array<Complex, 3>& alm, std::int64_t row) {
    double result = 0;
    for (std::int64_t i = 0; i < alm.extent(2); ++i) {
        const double size = std::abs(alm(0, row, i));
        if (!(size <= result)) result = size;  // NaN, too
    }
    return result;
}

View<const double, 1> row(const Array<double, 3>& map) {
    return {map.data(), {map.extent(2)}};
}

// On Gauss-Legendre rings every analysis is exact: the sky ends at 10, the mask at 6, and what is analysed up
// to 16 at 16. Fields of order 10 are rounded some hundred times.
TEST(PureAlm, OfOnePartHaveNothingOfTheOther) {
    const std::int64_t lmax_sky = 10, lmax_mask = 6, lmax = 16;
    const Grid grid = Grid::gauss_legendre(28, 56);
    const auto mask = synthesized(grid, random_alm(lmax_mask, 0, 1, 1), lmax_mask, 0);
    for (const int part : {0, 1}) {
        auto alm = random_alm(lmax_sky, 2, 2, 2);
        for (std::int64_t i = 0; i < alm.extent(2); ++i) alm(0, 1 - part, i) = 0;
        const auto map = synthesized(grid, alm, lmax_sky, 2);
        for (const bool pure : {true, false}) {
            Array<Complex, 3> found({1, 2, AlmLayout(lmax).size()});
            PurificationOptions options;
            options.lmax = lmax;
            options.pure_e = part == 1 && pure;
            options.pure_b = part == 0 && pure;
            pure_alm(grid, std::as_const(map).view(), row(mask), found.view(), options);
            EXPECT_GT(largest(found, part), 1);
            if (pure)
                EXPECT_LE(largest(found, 1 - part), 1e-14 * largest(found, part));
            else
                EXPECT_GT(largest(found, 1 - part), 0.1 * largest(found, part));
        }
    }
}

TEST(PureAlm, AreThoseOfWholeSkiesUnderAMaskOfOnes) {
    const Grid grid = Grid::gauss_legendre(20, 40);
    const auto alm = random_alm(12, 2, 2, 5);
    const auto map = synthesized(grid, alm, 12, 2);
    const std::vector<double> ones(static_cast<std::size_t>(grid.n_pixels()), 1.0);
    Array<Complex, 3> found(alm.extents());
    PurificationOptions options;
    options.lmax = 12;
    options.pure_e = true;
    const auto smoothness =
        pure_alm(grid, std::as_const(map).view(), {ones.data(), {grid.n_pixels()}}, found.view(), options);
    EXPECT_LT(smoothness.remainder, 1e-13);
    for (std::int64_t i = 0; i < alm.size(); ++i)
        ASSERT_LE(std::abs(found.data()[i] - alm.data()[i]), 1e-12) << i;  // N_l^2 of rounding, N_12^2 = 2e4
}

TEST(PureAlm, RefuseMasksWithJumpsAndValuesThatAreNone) {
    const std::int64_t nside = 32;
    const Grid grid = Grid::healpix(nside);
    std::vector<double> mask, maps(static_cast<std::size_t>(2 * grid.n_pixels()), 1.0);
    for (std::int64_t p = 0; p < grid.n_pixels(); ++p)
        mask.push_back(healpix::pix2direction(nside, healpix::Order::ring, p).cos_theta > 0.5 ? 1 : 0);
    maps.back() = unseen_value;  // where the mask is 0
    PurificationOptions options;
    options.lmax = 20;
    Array<Complex, 3> alm({1, 2, AlmLayout(20).size()});
    const auto work = [&] {
        return pure_alm(grid, {maps.data(), {1, 2, grid.n_pixels()}}, {mask.data(), {grid.n_pixels()}},
                        alm.view(), options);
    };
    EXPECT_THAT(work, ThrowsMessage<InvalidArgument>(
                          HasSubstr("mask: has jumps: the power of its second derivatives grows")));
    options.any_mask = true;
    EXPECT_TRUE(work().has_jumps());
    const auto cap = mask;
    std::fill(mask.begin(), mask.end(), 0.0);
    mask[6000] = 1;
    // (2 nside + 1)^2 of the pixels' degrees make that share of it, and the rest is below the mask.
    EXPECT_NEAR(work().remainder, 1 - 65. * 65 / (12 * 32 * 32), 0.1);
    mask = cap;
    maps[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(work, ThrowsMessage<InvalidArgument>(HasSubstr("maps: pixel 3 is nan: must be finite")));
    mask[5] = unseen_value;
    EXPECT_THAT(work, ThrowsMessage<InvalidArgument>(HasSubstr("maps: pixel 3")));
    maps[3] = 1;
    EXPECT_THAT(work, ThrowsMessage<InvalidArgument>(HasSubstr("mask: pixel 5 is -1.6375e+30")));
    options.lmax = 1;
    EXPECT_THAT(work, ThrowsMessage<InvalidArgument>(HasSubstr("lmax = 1: must be 2 or more")));
}

}  // namespace
}  // namespace zonal
