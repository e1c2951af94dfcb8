#include <gtest/gtest.h>

#include "sht_helpers.hpp"

// Synthesis and then exact quadrature return the coefficients.
namespace zonal::test {
namespace {

/// Two transforms; the largest of 10^5 errors lies near 5 standard deviations, and orders whose recurrence
/// errs alike on many rings (near the equator) do not average out.
double round_trip_rounding(std::int64_t lmax, int spin) {
    return 5 * transform_rounding(lmax, spin);
}

double round_trip_error(const Grid& grid, std::int64_t lmax, int spin, std::int64_t mmax = -1) {
    const ShtPlan plan(grid, options_of(lmax, spin, mmax, 2));
    const AlmArray alm = random_spin_alm(plan.layout(), 2, plan.alm_components(), spin, 1);
    return largest_difference(quadrature(plan, synthesis(plan, alm)), alm);
}

TEST(ShtRoundTrip, IsExactOnGaussLegendreRings) {
    for (const int spin : {0, 1, 2, 3, 7}) {
        EXPECT_LE(round_trip_error(Grid::gauss_legendre(65, 130), 64, spin), round_trip_rounding(64, spin));
        EXPECT_LE(round_trip_error(Grid::gauss_legendre(65, 129, 0.4), 64, spin, 20),
                  round_trip_rounding(64, spin));
        EXPECT_LE(round_trip_error(Grid::gauss_legendre(301, 601), 300, spin),
                  round_trip_rounding(300, spin));
    }
    EXPECT_LE(round_trip_error(Grid::gauss_legendre(1, 1), 0, 0), 4 * eps);
}

TEST(ShtRoundTrip, IsExactOnEquidistantRings) {
    for (const int spin : {0, 1, 2, 3, 7}) {
        EXPECT_LE(round_trip_error(Grid::clenshaw_curtis(81, 81), 40, spin), round_trip_rounding(40, spin));
        EXPECT_LE(round_trip_error(Grid::clenshaw_curtis(82, 90, 0.1), 40, spin),
                  round_trip_rounding(40, spin));
        EXPECT_LE(round_trip_error(Grid::fejer1(81, 81), 40, spin), round_trip_rounding(40, spin));
        EXPECT_LE(round_trip_error(Grid::fejer2(81, 81), 40, spin), round_trip_rounding(40, spin));
        EXPECT_LE(round_trip_error(Grid::equidistant_cylindrical(81, 162), 40, spin),
                  round_trip_rounding(40, spin));
    }
}

/// As exact as full rings, for every spin that the rings were made for.
TEST(ShtRoundTrip, IsExactOnReducedGaussLegendreRings) {
    for (const std::int64_t lmax : {3, 15, 64, 127, 255})
        for (const int most : {0, 3})
            for (int spin = 0; spin <= most; ++spin)
                EXPECT_LE(round_trip_error(Grid::reduced_gauss_legendre(lmax + 1, lmax, most), lmax, spin),
                          round_trip_rounding(lmax, spin))
                    << "lmax " << lmax << " spin " << spin << " of " << most;
    EXPECT_LE(round_trip_error(Grid::reduced_gauss_legendre(140, 127, 8), 127, 8),
              round_trip_rounding(127, 8));
}

/// With eight pixels a ring fewer the orders that they confuse show: the rings are as short as can be.
TEST(ShtRoundTrip, FailsOnRingsOfFewerPixelsThanReducedGaussLegendre) {
    const Grid whole = Grid::reduced_gauss_legendre(128, 127);
    std::vector<std::int64_t> n_phi;
    for (const Ring& ring : whole.rings()) n_phi.push_back(ring.n_pixels - 8);
    EXPECT_GE(round_trip_error(Grid::reduced_gaussian(n_phi), 127, 0), 10 * round_trip_rounding(127, 0));
}

/// ECMWF's cubic truncation: what orders that rings confuse leave, 1.6e-13, 2e-12 and 3e-12 as measured,
/// twice that for spin 2.
TEST(ShtRoundTrip, IsNearlyExactOnOctahedralRings) {
    for (const std::int64_t n : {32, 64, 128})
        for (const int spin : {0, 2}) {
            EXPECT_LE(round_trip_error(Grid::octahedral(n), n - 1, spin), 1e-11) << n << " spin " << spin;
            EXPECT_GE(round_trip_error(Grid::octahedral(n), 4 * n / 3 - 1, spin), 1e-9)
                << n << " spin " << spin;
        }
}

/// The bound of bench/accuracy.py at lmax 4095 (2e-11), scaled down: rounding grows no faster than lmax.
TEST(ShtRoundTrip, LargeOnGaussLegendreRings) {
    for (const int spin : {0, 2})
        EXPECT_LE(round_trip_error(Grid::gauss_legendre(1024, 2048), 1023, spin), 2e-11 / 4);
}

/// One ring too few, and the quadrature is not exact any more: the check can fail.
TEST(ShtRoundTrip, FailsWithTooFewRings) {
    EXPECT_GE(round_trip_error(Grid::gauss_legendre(64, 130), 64, 0), 1e-3);
    EXPECT_GE(round_trip_error(Grid::gauss_legendre(65, 128), 64, 0), 1e-3);
}

/// On HEALPix, iter = 0 comes within percents at lmax = nside (Gorski et al. 2005, section 5).
TEST(ShtRoundTrip, IsNearOnHealpix) {
    for (const int spin : {0, 2}) {
        const double error = round_trip_error(Grid::healpix(32), 32, spin);
        EXPECT_LE(error, 0.1);
        EXPECT_GE(error, 1e-6) << "the quadrature is not exact";
    }
}

/// Unit mean, and the field of one mode only: S S^T is a projection on Gauss-Legendre rings.
TEST(ShtRoundTrip, QuadratureProjects) {
    const Grid grid = Grid::gauss_legendre(33, 66);
    for (const int spin : {0, 2}) {
        const ShtPlan plan(grid, options_of(32, spin));
        const MapArray noise = random_map(grid, 1, plan.map_components(), 3);
        const AlmArray once = quadrature(plan, noise);
        const AlmArray twice = quadrature(plan, synthesis(plan, once));
        // The quadrature averages the pixels' errors, the largest of which are few.
        EXPECT_LE(scaled_difference(twice, once), sharp_transform_rounding(32));
    }
}

}  // namespace
}  // namespace zonal::test
