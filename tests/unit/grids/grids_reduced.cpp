#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/grid.hpp"

// Gauss-Legendre rings with fewer pixels towards the poles.
namespace zonal {
namespace {

std::vector<std::int64_t> sizes_of(const Grid& grid) {
    std::vector<std::int64_t> sizes;
    for (const Ring& ring : grid.rings()) sizes.push_back(ring.n_pixels);
    return sizes;
}

/// The rings are those of Gauss-Legendre with pixels of their own number, from longitude 0, one after the
/// other.
void expect_gaussian_rings(const Grid& grid) {
    const Grid full = Grid::gauss_legendre(grid.n_rings(), 1);
    std::int64_t first_pixel = 0;
    for (std::size_t i = 0; i < grid.rings().size(); ++i) {
        const Ring &ring = grid.rings()[i], &expected = full.rings()[i];
        EXPECT_EQ(ring.theta, expected.theta);
        EXPECT_EQ(ring.cos_theta, expected.cos_theta);
        EXPECT_EQ(ring.sin_theta, expected.sin_theta);
        EXPECT_EQ(ring.phi_0, 0);
        EXPECT_EQ(ring.first_pixel, first_pixel);
        // Three roundings, of 2 pi / n, its product with the Gauss weight, and that of one pixel.
        const double sum = ring.weight * static_cast<double>(ring.n_pixels);
        EXPECT_NEAR(sum / expected.weight, 1, 2 * std::numeric_limits<double>::epsilon());
        first_pixel += ring.n_pixels;
    }
    EXPECT_EQ(grid.n_pixels(), first_pixel);
    EXPECT_EQ(grid.exact_degree(), 2 * grid.n_rings() - 1);
    EXPECT_FALSE(grid.has_other_pixels());
}

TEST(ReducedGrid, OctahedralRingsHaveFourPixelsMoreEachFromThePoles) {
    EXPECT_EQ(sizes_of(Grid::octahedral(3)), (std::vector<std::int64_t>{20, 24, 28, 28, 24, 20}));
    for (const std::int64_t n : {1, 2, 32, 640}) {
        const Grid grid = Grid::octahedral(n);
        expect_gaussian_rings(grid);
        EXPECT_EQ(grid.n_rings(), 2 * n);
        EXPECT_EQ(grid.n_pixels(), 4 * n * (n + 9));  // as ECMWF counts them
    }
    EXPECT_EQ(Grid::octahedral(1280).n_pixels(), 6599680);  // O1280, of the model in use since 2016
    EXPECT_EQ(Grid::octahedral(32).name(), "octahedral n=32");
}

TEST(ReducedGrid, ReducedGaussianHasTheRingsThatAreGiven) {
    const std::vector<std::int64_t> sizes{20, 27, 36, 40, 36, 27, 20};
    const Grid grid = Grid::reduced_gaussian(sizes);
    expect_gaussian_rings(grid);
    EXPECT_EQ(sizes_of(grid), sizes);
    EXPECT_EQ(grid.name(), "reduced_gaussian n_rings=7");
    EXPECT_EQ(Grid::reduced_gaussian({5}).rings()[0].cos_theta, 0);
}

/// The largest order above rounding on a ring, over all spins one by one.
double last_order(const Ring& ring, std::int64_t lmax, int most) {
    const long double q = std::sin(static_cast<long double>(ring.theta)),
                      x = std::abs(std::cos(static_cast<long double>(ring.theta)));
    const long double t = lmax * q + 6 * std::pow(lmax * q * x * x, 1.0L / 3) + 4;
    long double largest = 0;
    for (int spin = 0; spin <= most; ++spin)
        if (t * t > spin * q * spin * q)
            largest = std::max(largest, spin * x + std::sqrt(t * t - spin * q * spin * q));
    return static_cast<double>(std::min<long double>(largest, lmax));
}

/// The next multiple of 4 without primes above 5.
std::int64_t next_quick_length(std::int64_t length) {
    for (length = (length + 3) / 4 * 4;; length += 4) {
        std::int64_t rest = length;
        for (const std::int64_t prime : {2, 3, 5})
            while (rest % prime == 0) rest /= prime;
        if (rest == 1) return length;
    }
}

TEST(ReducedGrid, ReducedGaussLegendreHoldsTheOrdersAboveRounding) {
    for (const std::int64_t n_rings : {1, 2, 5, 33, 128, 257})
        for (const std::int64_t lmax : {std::int64_t{0}, std::int64_t{3}, n_rings / 2, n_rings - 1})
            for (const int spin : {0, 1, 2, 3, 40}) {
                if (lmax > n_rings - 1 || spin > lmax) continue;
                const Grid grid = Grid::reduced_gauss_legendre(n_rings, lmax, spin);
                expect_gaussian_rings(grid);
                for (const Ring& ring : grid.rings()) {
                    const double order = last_order(ring, lmax, spin);
                    // Spins between integers may be largest; that is less than an order.
                    EXPECT_GE(static_cast<double>(ring.n_pixels), 2 * order + 2 - 1e-9) << grid.name();
                    const auto most = static_cast<std::int64_t>(2 * (order + 1) + 2);
                    EXPECT_LE(ring.n_pixels, next_quick_length(most)) << grid.name();
                    EXPECT_EQ(ring.n_pixels, next_quick_length(ring.n_pixels)) << grid.name();
                }
            }
    EXPECT_EQ(Grid::reduced_gauss_legendre(33, 32, 2).name(),
              "reduced_gauss_legendre n_rings=33 lmax=32 spin=2");
}

TEST(ReducedGrid, ReducedGaussLegendreHas79PercentOfThePixelsAtLmax127) {
    const auto share = [](std::int64_t lmax) {
        const auto full = static_cast<double>((lmax + 1) * (2 * lmax + 2));
        return static_cast<double>(Grid::reduced_gauss_legendre(lmax + 1, lmax).n_pixels()) / full;
    };
    EXPECT_NEAR(share(127), 0.79, 0.005);
    EXPECT_NEAR(share(1023), 0.686, 0.005);
    // In the limit 2 / pi, and what lengths are rounded up by.
    EXPECT_NEAR(share(200000), 2 / std::numbers::pi, 0.01);
}

/// Runs the call, and returns what it says.
template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "nothing";
}

TEST(ReducedGrid, RejectsWhatIsOutOfRange) {
    const auto huge = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-3}, huge})
        EXPECT_THROW(Grid::octahedral(n), InvalidArgument);
    EXPECT_EQ(refusal([] { Grid::octahedral(0); }), "n = 0: must be from 1 to 2^29");
    EXPECT_THROW(Grid::reduced_gaussian({}), InvalidArgument);
    EXPECT_THROW(Grid::reduced_gaussian({4, 0, 4}), InvalidArgument);
    EXPECT_THROW(Grid::reduced_gaussian({huge, huge}), InvalidArgument);
    EXPECT_EQ(refusal([] {
                  Grid::reduced_gaussian({4, 8, 9, 4});
              }),
              "n_phi: rings 1 and 2 have 8 and 9 pixels: must be as many, for they mirror each other; the "
              "list goes from "
              "the north pole to the south pole");
    EXPECT_THROW(Grid::reduced_gauss_legendre(0, 0), InvalidArgument);
    EXPECT_THROW(Grid::reduced_gauss_legendre(8, 7, -1), InvalidArgument);
    EXPECT_THROW(Grid::reduced_gauss_legendre(8, -1), InvalidArgument);
    EXPECT_THROW(Grid::reduced_gauss_legendre(8, 1, 2), InvalidArgument);
    EXPECT_EQ(refusal([] { Grid::reduced_gauss_legendre(8, 8); }),
              "lmax = 8: must be from spin = 0 to n_rings - 1 = 7, up to which the rings are exact");
}

}  // namespace
}  // namespace zonal
