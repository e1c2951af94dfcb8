#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::healpix {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double eps = std::numeric_limits<double>::epsilon();

TEST(HealpixRings, AreTheGridsAndHoldEveryPixelOnce) {
    for (std::int64_t nside : {1, 2, 3, 8, 13}) {
        const Grid grid = Grid::healpix(nside);
        ASSERT_EQ(grid.n_rings(), n_rings(nside));
        std::int64_t next = 0;
        for (std::int64_t index = 0; index < n_rings(nside); ++index) {
            const Ring row = ring(nside, index), &same = grid.rings()[static_cast<std::size_t>(index)];
            EXPECT_EQ(row.first_pixel, next);
            EXPECT_EQ(same.first_pixel, next);
            EXPECT_EQ(same.cos_theta, row.cos_theta);
            next += row.n_pixels;
            for (std::int64_t pixel = row.first_pixel; pixel < next; ++pixel)
                ASSERT_EQ(ring_of_pixel(nside, pixel), index);
        }
        EXPECT_EQ(next, n_pixels(nside));
        EXPECT_EQ(grid.n_pixels(), next);
    }
}

// Gorski et al. (2005), eqs. 4 to 9, in long double.
TEST(HealpixRings, HaveTheirCosineAndSineToRoundingAtAnyNside) {
    for (std::int64_t nside : {std::int64_t{1}, std::int64_t{7}, std::int64_t{8192}, max_nside}) {
        for (std::int64_t i :
             {std::int64_t{1}, std::int64_t{2}, nside / 3, nside - 1, nside, nside + 1, 2 * nside - 1}) {
            if (i < 1 || i >= 2 * nside) continue;
            const auto n = static_cast<long double>(nside), row = static_cast<long double>(i);
            const long double t =
                i < nside ? row * row / (3 * n * n) : (2 * row - n) / (3 * n);  // 1 - cos theta
            const Ring northern = ring(nside, i - 1), southern = ring(nside, 4 * nside - 1 - i);
            const auto cosine = static_cast<double>(i < nside ? 1 - t : 2 * (2 * n - row) / (3 * n));
            const auto sine = static_cast<double>(std::sqrt(t * (2 - t)));
            EXPECT_NEAR(northern.cos_theta, cosine, 2 * eps * cosine) << "nside " << nside << " row " << i;
            EXPECT_NEAR(northern.sin_theta, sine, 2 * eps * sine) << "nside " << nside << " row " << i;
            EXPECT_EQ(southern.cos_theta, -northern.cos_theta);
            EXPECT_EQ(southern.sin_theta, northern.sin_theta);
            EXPECT_EQ(southern.n_pixels, northern.n_pixels);
            EXPECT_EQ(southern.phi_0, northern.phi_0);
        }
        EXPECT_EQ(ring(nside, 2 * nside - 1).cos_theta, 0);
        EXPECT_EQ(ring(nside, 2 * nside - 1).sin_theta, 1);
    }
}

TEST(HealpixRings, StartAtPhiZeroOrHalfAPixelEast) {
    EXPECT_DOUBLE_EQ(ring(4, 0).phi_0, pi / 4);
    EXPECT_DOUBLE_EQ(ring(4, 2).phi_0, pi / 12);
    EXPECT_DOUBLE_EQ(ring(4, 3).phi_0, pi / 16);
    EXPECT_EQ(ring(4, 4).phi_0, 0);
    EXPECT_DOUBLE_EQ(ring(4, 5).phi_0, pi / 16);
    EXPECT_DOUBLE_EQ(ring(4, 14).phi_0, pi / 4);
}

TEST(HealpixRings, EndTheMapAtTheLargestNside) {
    const Ring last = ring(max_nside, n_rings(max_nside) - 1);
    EXPECT_EQ(last.first_pixel + last.n_pixels, n_pixels(max_nside));
    EXPECT_EQ(ring_of_pixel(max_nside, n_pixels(max_nside) - 1), n_rings(max_nside) - 1);
    // First and last pixels of rows around which the square root could be one off.
    for (std::int64_t index :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{94906265}, max_nside - 3, max_nside - 2,
          max_nside - 1, 3 * max_nside - 1, 3 * max_nside, 4 * max_nside - 94906265}) {
        const Ring row = ring(max_nside, index);
        EXPECT_EQ(ring_of_pixel(max_nside, row.first_pixel), index);
        EXPECT_EQ(ring_of_pixel(max_nside, row.first_pixel + row.n_pixels - 1), index);
    }
}

TEST(HealpixRings, AboveADirectionIsTheSouthernmostNotSouthOfIt) {
    for (std::int64_t nside : {1, 2, 5, 64}) {
        EXPECT_EQ(ring_above(nside, {1, 0, 0}), -1);
        EXPECT_EQ(ring_above(nside, {-1, 0, 0}), n_rings(nside) - 1);
        for (std::int64_t index = 0; index + 1 < n_rings(nside); ++index) {
            const double theta = (ring(nside, index).theta + ring(nside, index + 1).theta) / 2;
            EXPECT_EQ(ring_above(nside, {std::cos(theta), std::sin(theta), 1}), index) << "nside " << nside;
        }
    }
}

TEST(HealpixReorder, MovesEveryPixelThereAndBack) {
    for (std::int64_t nside : {1, 2, 16}) {
        Array<float, 1> ring_map({n_pixels(nside)}), nest_map({n_pixels(nside)}), back({n_pixels(nside)});
        std::iota(ring_map.begin(), ring_map.end(), 0.0F);
        ring_to_nest(ring_map.view(), nest_map.view());
        nest_to_ring(nest_map.view(), back.view());
        for (std::int64_t pixel = 0; pixel < n_pixels(nside); ++pixel) {
            ASSERT_EQ(nest_map(ring2nest(nside, pixel)), ring_map(pixel));
            ASSERT_EQ(back(pixel), ring_map(pixel));
        }
    }
}

TEST(HealpixReorder, TakesStridedViews) {
    Array<int, 2> columns({12, 3});
    Array<int, 1> nest_map({12});
    for (std::int64_t pixel = 0; pixel < 12; ++pixel) columns(pixel, 1) = static_cast<int>(pixel);
    ring_to_nest(View<const int, 1>(columns.data() + 1, {12}, {3}), nest_map.view());
    for (std::int64_t pixel = 0; pixel < 12; ++pixel) EXPECT_EQ(nest_map(pixel), pixel);  // alike at nside 1
}

TEST(HealpixReorder, RejectsMapsThatHaveNoNestOrderOrShareMemory) {
    Array<double, 1> odd({12 * 9}), other({12 * 9}), small({12}), bad({13}), bad_too({13});
    EXPECT_THROW(ring_to_nest(odd.view(), other.view()), InvalidArgument);
    EXPECT_THROW(ring_to_nest(odd.view(), small.view()), InvalidArgument);
    EXPECT_THROW(nest_to_ring(bad.view(), bad_too.view()), InvalidArgument);
    EXPECT_THROW(nest_to_ring(small.view(), small.view()), InvalidArgument);
    const View<double, 1> on_device(odd.data(), {12}, MemorySpace::cuda);
    EXPECT_THROW(nest_to_ring(on_device, small.view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal::healpix
