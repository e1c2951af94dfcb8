#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <numbers>

#include "zonal/grid.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double pi = std::numbers::pi;

/// sum over all pixels of weight * P_l(cos theta), for l = 0..lmax, in long double.
std::vector<double> integrals(const Grid& grid, std::int64_t lmax) {
    std::vector<long double> sums(static_cast<std::size_t>(lmax) + 1, 0);
    for (const Ring& ring : grid.rings()) {
        const long double x = ring.cos_theta, weight = static_cast<long double>(ring.weight) * ring.n_pixels;
        long double p = 1, next = x;
        for (std::int64_t l = 0; l <= lmax; ++l) {
            sums[static_cast<std::size_t>(l)] += weight * p;
            const long double after = ((2 * l + 3) * x * next - (l + 1) * p) / (l + 2);
            p = next;
            next = after;
        }
    }
    return {sums.begin(), sums.end()};
}

/// The rule integrates P_l to 4 pi delta_l0 up to this degree, and says so.
void expect_exact_up_to(const Grid& grid, std::int64_t degree) {
    EXPECT_EQ(grid.exact_degree(), degree) << grid.name();
    const auto sums = integrals(grid, degree);
    // Each ring's rounding of its weight and of its cosine, times P_l' <= l / sin theta.
    const double tolerance = 4 * pi * 4 * eps * (1 + std::sqrt(static_cast<double>(degree)));
    for (std::size_t l = 0; l < sums.size(); ++l)
        ASSERT_NEAR(sums[l], l == 0 ? 4 * pi : 0, tolerance) << grid.name() << " l = " << l;
}

/// The rule does not integrate P_l exactly.
void expect_inexact_at(const Grid& grid, std::int64_t degree) {
    EXPECT_GT(std::abs(integrals(grid, degree).back()), 1e-6) << grid.name() << " l = " << degree;
}

TEST(Quadrature, GaussLegendreIsExactUpToDegree2NMinus1) {
    for (std::int64_t n : {1, 2, 3, 4, 5, 8, 23, 24, 25, 26, 27, 64, 129}) {
        expect_exact_up_to(Grid::gauss_legendre(n, 7), 2 * n - 1);
        expect_inexact_at(Grid::gauss_legendre(n, 7), 2 * n);
    }
}

TEST(Quadrature, EquidistantRulesAreExactUpToDegreeNMinus1) {
    for (std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 64, 129}) {
        for (auto factory : {Grid::fejer1, Grid::fejer2, Grid::clenshaw_curtis}) {
            if (n == 1 && factory == Grid::clenshaw_curtis) continue;  // both poles need two rings
            // By symmetry odd degrees always are.
            const std::int64_t degree = n % 2 == 0 ? n - 1 : n;
            expect_exact_up_to(factory(n, 5, 0), degree);
            if (n < 64) expect_inexact_at(factory(n, 5, 0), degree + 1);  // the error shrinks as n^-3
        }
        expect_exact_up_to(Grid::equidistant_cylindrical(n, 5), n % 2 == 0 ? n - 1 : n);
        // These are not symmetric, and have nothing beyond.
        for (const Grid& grid : {Grid::driscoll_healy(n, 5, 0.1), Grid::mcewen_wiaux(n, 5, 0.1),
                                 Grid::mcewen_wiaux(n, 5, 0, true)}) {
            EXPECT_EQ(grid.exact_degree(), n - 1);
            expect_exact_up_to(grid, n - 1);
            if (n < 64) expect_inexact_at(grid, n);
        }
    }
}

TEST(Quadrature, DriscollHealyAndMcEwenWiauxRingsLieWhereTheirAuthorsHaveThem) {
    const Grid dh = Grid::driscoll_healy(8, 3), mw = Grid::mcewen_wiaux(5, 3),
               flipped = Grid::mcewen_wiaux(5, 3, 0, true);
    for (int i = 0; i < 8; ++i) {
        const double theta = i * pi / 8;
        EXPECT_NEAR(dh.rings()[i].theta, theta, 4 * eps);
        // Driscoll & Healy 1994, theorem 3, times the width of a pixel
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += std::sin((2 * k + 1) * theta) / (2 * k + 1);
        EXPECT_NEAR(dh.rings()[i].weight, 4.0 / 8 * std::sin(theta) * sum * 2 * pi / 3, 4 * eps);
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_NEAR(mw.rings()[i].theta, (2 * i + 1) * pi / 9, 4 * eps);
        EXPECT_NEAR(flipped.rings()[i].theta, 2 * i * pi / 9, 4 * eps);
        EXPECT_EQ(flipped.rings()[i].weight, mw.rings()[4 - i].weight);
    }
    EXPECT_EQ(mw.rings()[4].sin_theta, 0);
    EXPECT_EQ(flipped.rings()[0].theta, 0);
}

TEST(Quadrature, WeightsArePositiveAndSumTo4Pi) {
    for (std::int64_t n : {2, 3, 10, 33, 1000, 1001}) {
        for (const Grid& grid :
             {Grid::gauss_legendre(n, 3), Grid::fejer1(n, 3), Grid::fejer2(n, 3), Grid::clenshaw_curtis(n, 3),
              Grid::equidistant_cylindrical(n, 3), Grid::healpix(n), Grid::octahedral(n),
              Grid::reduced_gauss_legendre(n, n - 1)}) {
            double sum = 0;
            for (const Ring& ring : grid.rings()) {
                EXPECT_GT(ring.weight, 0);
                sum += ring.weight * static_cast<double>(ring.n_pixels);
            }
            // Additions of numbers of one sign, at most one rounding each.
            EXPECT_NEAR(sum, 4 * pi, 4 * pi * eps * static_cast<double>(grid.n_rings())) << grid.name();
        }
    }
}

/// Rings k and n - 1 - k mirror each other to the last bit, rings go from north to south, the equator is
/// exact.
void expect_mirrored(const Grid& grid) {
    const auto& rings = grid.rings();
    for (std::size_t k = 0; k < rings.size(); ++k) {
        const Ring &north = rings[k], &south = rings[rings.size() - 1 - k];
        EXPECT_EQ(north.sin_theta, south.sin_theta) << grid.name() << " ring " << k;
        EXPECT_EQ(north.cos_theta, -south.cos_theta) << grid.name() << " ring " << k;
        EXPECT_EQ(north.weight, south.weight);
        EXPECT_EQ(north.n_pixels, south.n_pixels);
        EXPECT_EQ(north.phi_0, south.phi_0);
        EXPECT_NEAR(north.theta + south.theta, pi, 2 * eps * pi);
        if (k > 0) {
            EXPECT_GT(rings[k].theta, rings[k - 1].theta);
        }
    }
    if (rings.size() % 2 != 0) {
        EXPECT_EQ(rings[rings.size() / 2].cos_theta, 0) << grid.name();
    }
}

TEST(Quadrature, SouthernRingsMirrorNorthernOnesBitwise) {
    for (std::int64_t n : {2, 3, 4, 7, 24, 25, 64, 65, 1000, 1001}) {
        expect_mirrored(Grid::healpix(n));
        expect_mirrored(Grid::gauss_legendre(n, 5));
        expect_mirrored(Grid::clenshaw_curtis(n, 5, 0.1));
        expect_mirrored(Grid::fejer1(n, 5, 0.1));
        expect_mirrored(Grid::fejer2(n, 5, 0.1));
        expect_mirrored(Grid::equidistant_cylindrical(n, 5));
        expect_mirrored(Grid::octahedral(n));
        expect_mirrored(Grid::reduced_gauss_legendre(n, n - 1, 1));
    }
    expect_mirrored(Grid::healpix(1));
    expect_mirrored(Grid::gauss_legendre(1, 5));
}

TEST(Quadrature, CosineAndSineAreRightToRoundingNearPolesAndEquator) {
    for (const Grid& grid : {Grid::healpix(512), Grid::healpix(777), Grid::gauss_legendre(2001, 4),
                             Grid::clenshaw_curtis(2001, 4), Grid::fejer1(2000, 4), Grid::fejer2(2000, 4)}) {
        for (const Ring& ring : grid.rings()) {
            const long double s = ring.sin_theta, c = ring.cos_theta;
            // Whichever is small must agree, relative to itself, with the one formed of the large one: sin^2
            // + cos^2 = 1 holds to the rounding of the large one, of size eps / 2 and squared eps.
            EXPECT_NEAR(static_cast<double>(s * s + c * c), 1, 3 * eps) << grid.name();
            // theta is rounded to eps / 2 of itself, and so is the sine near the poles.
            if (ring.theta > 1) continue;
            EXPECT_NEAR(ring.sin_theta, std::sin(ring.theta), 2 * eps * ring.sin_theta) << grid.name();
        }
    }
}

TEST(Quadrature, EquidistantRingsStandWhereTheirNamesSay) {
    const Grid poles = Grid::clenshaw_curtis(5, 8, 0.25), inner = Grid::fejer2(3, 8),
               half = Grid::fejer1(4, 8);
    EXPECT_EQ(poles.rings()[0].sin_theta, 0);
    EXPECT_EQ(poles.rings()[4].theta, pi);
    EXPECT_EQ(poles.rings()[4].sin_theta, 0);
    EXPECT_EQ(poles.rings()[0].phi_0, 0.25);
    EXPECT_EQ(poles.rings()[1].first_pixel, 8);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(poles.rings()[i + 1].cos_theta, inner.rings()[i].cos_theta);
    EXPECT_NEAR(half.rings()[0].theta, pi / 8, eps);
    EXPECT_NEAR(Grid::equidistant_cylindrical(4, 8).rings()[0].phi_0, pi / 8, eps);
    EXPECT_EQ(half.name(), "fejer1 4x8");
}

TEST(Quadrature, AGridThatIsAskedForAgainTakesLittleTime) {
    // The weights of so many rings are sums of 10^8 terms; all else is 10^4 of something.
    constexpr std::int64_t n = 20001;
    const auto seconds_of = [](const auto& work) {
        const auto start = std::clock();
        work();
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    std::vector<Grid> grids;
    const double first = seconds_of([&] { grids.push_back(Grid::fejer1(n, 8)); });
    const double again = seconds_of([&] { grids.push_back(Grid::fejer1(n, 4, 0.1)); });
    EXPECT_LT(again, first / 5);
    for (const std::int64_t i : {0, 7, 20000})
        EXPECT_EQ(2 * grids[0].rings()[i].weight, grids[1].rings()[i].weight);
    // Other rules and numbers of rings are not taken for it.
    EXPECT_NE(Grid::fejer2(n, 8).rings()[7].weight, grids[0].rings()[7].weight);
    EXPECT_NE(Grid::fejer1(n - 1, 8).rings()[7].weight, grids[0].rings()[7].weight);
    EXPECT_EQ(Grid::fejer1(n, 8).rings()[7].weight, grids[0].rings()[7].weight);
}

/// Weight of the rule for cos theta in [-1, 1] at ring i.
double rule_weight(const Grid& grid, std::size_t i) {
    return grid.rings()[i].weight * static_cast<double>(grid.rings()[i].n_pixels) / (2 * pi);
}

struct Weights {
    double w0, w1, w2, w1000, w8191;
};

void expect_weights(const Grid& grid, const Weights& expected) {
    // Sums of about 100 sums of 100 terms, each sum of order 1 or less: a random walk of 100 roundings of eps
    // / 4 in each of the two levels is 4 eps.
    auto check = [&](std::size_t i, double weight) {
        EXPECT_NEAR(rule_weight(grid, i) / weight, 1, 8 * eps) << grid.name() << " ring " << i;
    };
    check(0, expected.w0);
    check(1, expected.w1);
    check(2, expected.w2);
    check(1000, expected.w1000);
    check(8191, expected.w8191);
}

// From the textbook cosine sums (Waldvogel 2006) in mpmath at 40 digits.
TEST(Quadrature, WhatIsKeptOfAGridCountsAndCanBeFreed) {
    constexpr std::int64_t bytes =
        500 * 4 * sizeof(double);  // of the northern half: angle, cosine, sine, weight
    clear_caches();
    EXPECT_EQ(cached_bytes(), 0);
    Grid::fejer1(1000, 4);
    EXPECT_EQ(cached_bytes(), bytes);
    set_cache_limit(16 * bytes);
    EXPECT_EQ(cached_bytes(), bytes);
    set_cache_limit(16 * bytes - 1);
    EXPECT_EQ(cached_bytes(), 0);
    Grid::fejer1(1000, 4);
    EXPECT_EQ(cached_bytes(), 0);
    set_cache_limit(std::int64_t{256} << 20);
    Grid::fejer1(1000, 4);
    clear_caches();
    EXPECT_EQ(cached_bytes(), 0);
}

TEST(Quadrature, EquidistantWeightsKeepRelativePrecisionAtThePolesForN16384) {
    expect_weights(Grid::fejer1(16384, 4),
                   {1.604250204803906655e-8, 5.647002111865114331e-8, 9.104212772850320142e-8,
                    0.00003656029570885082883, 0.0001917475976044973664});
    expect_weights(Grid::fejer1(16385, 4),
                   {1.604054389228337857e-8, 5.646312850205587203e-8, 9.103101509636481513e-8,
                    0.00003655586058402362538, 0.0001917358927856468229});
    expect_weights(Grid::fejer2(16384, 4),
                   {4.33424237785825266e-8, 6.638036197501089436e-8, 1.175875253905377551e-7,
                    0.00003658121983387526171, 0.0001917358942600681629});
    expect_weights(Grid::fejer2(16385, 4),
                   {4.333713389950964498e-8, 6.637225959227855801e-8, 1.175731748674890778e-7,
                    0.00003657691927546377955, 0.0001917167423677222635});
    expect_weights(Grid::clenshaw_curtis(16384, 4),
                   {3.72574508744955234e-9, 3.590151667885146061e-8, 7.384805972312536069e-8,
                    0.00003654668529501544682, 0.0001917593016632855878});
    expect_weights(Grid::clenshaw_curtis(16385, 4),
                   {3.725290312339701922e-9, 3.589713427550609963e-8, 7.383904537047943264e-8,
                    0.00003654225157031397302, 0.0001917475949606441081});
}

}  // namespace
}  // namespace zonal
