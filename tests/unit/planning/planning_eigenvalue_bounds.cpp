// Where tables of HEALPix do not tell the eigenvalues of S^T W S, and what norms of windows make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal {
namespace {

using std::numbers::pi;

TEST(WindowNorms, OfTwoDegreesAreTheirEigenvalues) {
    // 3 at l and 2 at a higher degree: 2 of all degrees up to that one, and 1 more of those up to l. Degrees
    // less than 5 % below share its eigenvalue.
    const auto grid = Grid::healpix(16);
    for (const std::int64_t high : {39, 48})
        for (std::int64_t l = 0; l < high; ++l) {
            std::vector<double> window(static_cast<std::size_t>(high + 1), 0);
            window[high] = 2;
            window[l] = -3;
            const auto shared =
                l > static_cast<std::int64_t>(0.95 * static_cast<double>(high)) - 1 ? high : l;
            const double expected =
                2 * largest_eigenvalue(grid, high) + largest_eigenvalue(grid, std::max(l, shared));
            EXPECT_NEAR(window_norm(grid, {window}), expected, 1e-12) << high << ", " << l;
        }
}

TEST(LargestEigenvalue, IsThatOfAGaussianWhereNoTableHasIt) {
    // 1 <= e^(1/2) exp(-l(l+1) sigma^2 / 2) up to lmax, with sigma^2 = 1 / (lmax (lmax + 1)).
    const auto rings = Grid::gauss_legendre(9, 18).subset({1, 3, 4, 5});
    for (const auto& [grid, lmax] : {std::pair{Grid::healpix(4), std::int64_t{25}},
                                     {Grid::healpix(9), 60},
                                     {Grid::gauss_legendre(9, 18), 9},
                                     {rings, 5},
                                     {rings, 0}}) {
        const double sigma = lmax == 0 ? 1 : 1 / std::sqrt(static_cast<double>(lmax * (lmax + 1)));
        const auto gaussian = RadialKernel::gaussian(sigma * std::sqrt(8 * std::log(2.0)));
        EXPECT_NEAR(largest_eigenvalue(grid, lmax) / (std::exp(0.5) * KernelNorms(grid, gaussian).whole()), 1,
                    1e-12)
            << grid.name() << ", " << lmax;
    }
}

TEST(CertifiableLmax, IsThatOfProductsWhichTheRingsIntegrate) {
    for (const auto& grid :
         {Grid::gauss_legendre(9, 40), Grid::gauss_legendre(12, 13), Grid::gauss_legendre(12, 14),
          Grid::clenshaw_curtis(13, 26), Grid::clenshaw_curtis(12, 60), Grid::equidistant_cylindrical(12, 24),
          Grid::gauss_legendre(9, 18).subset({1, 3, 4, 5})}) {
        std::int64_t degree = -1, shortest = grid.rings()[0].n_pixels;
        for (double sum = 0; degree < 100; ++degree) {
            sum = 0;
            for (const Ring& ring : grid.rings())
                sum += ring.weight * static_cast<double>(ring.n_pixels) *
                       std::legendre(static_cast<unsigned>(degree + 1), ring.cos_theta);
            if (std::abs(sum - (degree + 1 == 0 ? 4 * pi : 0)) > 1e-9) break;
        }
        for (const Ring& ring : grid.rings()) shortest = std::min(shortest, ring.n_pixels);
        // Two functions of degrees up to lmax have products of degrees and orders up to 2 lmax.
        const auto expected = degree < 0 ? -1 : std::min(degree / 2, (shortest - 1) / 2);
        EXPECT_EQ(certifiable_lmax(grid), expected) << grid.name();
        if (expected < 0) continue;
        EXPECT_NEAR(smallest_eigenvalue(grid, expected), 1, 1e-9);
        EXPECT_NEAR(largest_eigenvalue(grid, expected), 1, 1e-9);
        EXPECT_EQ(smallest_eigenvalue(grid, expected + 1), 0);
        EXPECT_GT(largest_eigenvalue(grid, expected + 1), 1.1);
    }
    for (const std::int64_t nside : {1, 5, 8, 10})
        EXPECT_EQ(certifiable_lmax(Grid::healpix(nside)), (12 * nside) / 5);
}

}  // namespace
}  // namespace zonal
