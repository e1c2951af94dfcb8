#include "zonal/spectra/covariance.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/spectra/simulated_spectra.hpp"

// Dense matrices, reference values and simulated skies are in tests/python/test_covariance.py.
namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// The whole sky of T, E and B on a grid that integrates exactly.
struct WholeSky {
    Grid grid = Grid::gauss_legendre(30, 60);
    Array<double, 2> mask{{1, grid.n_pixels()}};
    Array<double, 3> c_l{{3, 3, 11}};

    WholeSky() {
        for (auto& weight : mask) weight = 1;
        for (std::int64_t l = 0; l <= 10; ++l) {
            const double x = 1 / static_cast<double>((l + 1) * (l + 1));
            c_l(0, 0, l) = x, c_l(1, 1, l) = 0.5 * x, c_l(2, 2, l) = 0.1 * x;
            c_l(0, 1, l) = c_l(1, 0, l) = 0.3 * x;
        }
    }
    MaskedSky sky() const {
        return {.grid = grid, .masks = mask.view(), .maps = {{0, 0}, {2, 0}}, .c_l = c_l.view()};
    }
};

/// Cov(C^ab_l, C^cd_l) = (C^ac C^bd + C^ad C^bc) / (2l+1) on the whole sky, exactly and in the approximation.
TEST(PseudoCovariance, OfTheWholeSkyIsKnown) {
    const WholeSky whole;
    const std::vector<ComponentPair> spectra{{0, 0}, {0, 1}, {1, 1}, {2, 2}};
    for (const std::int64_t exact_lmax : {-1, 4, 8}) {
        Array<double, 4> found({4, 9, 4, 9});
        const auto report =
            pseudo_covariance(whole.sky(), spectra, found.view(), {.exact_lmax = exact_lmax, .threads = 2});
        EXPECT_EQ(report.exact_lmax, exact_lmax);
        for (std::int64_t i = 0; i < 4; ++i)
            for (std::int64_t j = 0; j < 4; ++j)
                for (std::int64_t l = 0; l <= 8; ++l)
                    for (std::int64_t k = 0; k <= 8; ++k) {
                        const auto [a, b] = spectra[static_cast<std::size_t>(i)];
                        const auto [c, d] = spectra[static_cast<std::size_t>(j)];
                        const auto at = [&](int x, int y) {
                            return l < 2 && x + y > 0 ? 0 : whole.c_l(x, y, l);  // E and B begin at l = 2
                        };
                        const double expected = l == k ? (at(a, c) * at(b, d) + at(a, d) * at(b, c)) /
                                                             static_cast<double>(2 * l + 1)
                                                       : 0;
                        // Sums over some thousand pixels, of the largest C_l squared, which is 1.
                        EXPECT_NEAR(found(i, l, j, k), expected, 300 * eps)
                            << i << ' ' << j << ' ' << l << ' ' << k;
                    }
    }
}

TEST(PseudoCovariance, NamesWhatIsWrong) {
    const WholeSky whole;
    Array<double, 4> found({1, 9, 1, 9});
    const auto with = [&](const std::vector<ComponentPair>& spectra, const CovarianceOptions& options) {
        return [&found, &whole, spectra, options] {
            pseudo_covariance(whole.sky(), spectra, found.view(), options);
        };
    };
    EXPECT_THAT(with({}, {}), ThrowsMessage<InvalidArgument>(HasSubstr("spectra: is empty")));
    EXPECT_THAT(with({{0, 3}}, {}),
                ThrowsMessage<InvalidArgument>(HasSubstr("(0, 3): must name components from 0 to 2")));
    EXPECT_THAT(with({{0, 0}}, {.exact_lmax = 1}),
                ThrowsMessage<InvalidArgument>(HasSubstr("exact_lmax = 1: must be 2")));
    EXPECT_THAT(
        with({{0, 0}}, {.exact_lmax = 5, .exact_sky_lmax = 11}),
        ThrowsMessage<InvalidArgument>(HasSubstr("exact_sky_lmax = 11: must be from exact_lmax = 5 to 10")));
}

TEST(CovarianceReport, SaysWhatIsLostAboveAHundredth) {
    CovarianceReport report{.exact_lmax = 8, .exact_sky_lmax = 12, .lost_share = 0.01};
    EXPECT_EQ(report.note_of_loss("give more"), "");
    report.lost_share = 0.0314;
    EXPECT_THAT(
        report.note_of_loss("give more"),
        testing::AllOf(HasSubstr("l = 8"), HasSubstr("l = 12"), HasSubstr("3.1 % of their mean: give more")));
}

TEST(ShareOfSkies, IsEachSkyOnce) {
    for (const std::int64_t n : {1, 3, 7, 100})
        for (const int parts : {1, 3, 8}) {
            std::int64_t next = 0;
            for (int part = 0; part < parts; ++part) {
                const auto share = share_of_skies(n, part, parts);
                EXPECT_EQ(share.first, next);
                EXPECT_LE(share.n, (n + parts - 1) / parts);
                EXPECT_GE(share.n, n / parts);
                next += share.n;
            }
            EXPECT_EQ(next, n);
        }
    EXPECT_THAT([] { share_of_skies(0, 0, 2); },
                testing::ThrowsMessage<InvalidArgument>(HasSubstr("n = 0: must be 1 or more")));
}

TEST(SimulatedSpectra, AreWeighedAsAsked) {
    const WholeSky whole;
    const std::vector<ComponentPair> spectra{{0, 0}, {1, 1}};
    Array<double, 2> all({3, 2 * 9}), found({3, 2});
    simulate_spectra(whole.sky(), spectra, 8, {}, 5, all.view(), 2);
    Array<double, 3> weights({2, 2, 9});
    for (std::int64_t i = 0; i < weights.size(); ++i) weights.data()[i] = std::sin(static_cast<double>(i));
    simulate_spectra(whole.sky(), spectra, 8, std::as_const(weights).view(), 5, found.view(), 2);
    for (std::int64_t sky = 0; sky < 3; ++sky)
        for (std::int64_t value = 0; value < 2; ++value) {
            double sum = 0, size = 0;
            for (std::int64_t i = 0; i < 2 * 9; ++i) {
                const double term = weights.data()[value * 18 + i] * all(sky, i);
                sum += term, size += std::abs(term);
            }
            EXPECT_NEAR(found(sky, value), sum, 18 * eps * size);
        }
    for (std::int64_t i = 0; i < all.extent(1); ++i)
        EXPECT_EQ(all(0, i) == 0, i == 9 || i == 10);  // E of l < 2
}

/// Q(1/2, x) = erfc(sqrt(x)), Q(1, x) = exp(-x), Q(3, x) = exp(-x) (1 + x + x^2 / 2).
TEST(UpperGammaShare, HasClosedForms) {
    for (const double x : {0.0, 1e-8, 0.1, 0.9, 1.7, 3.9, 4.1, 20.0, 300.0}) {
        const double error = 64 * eps * (1 + x);  // of exp(-x), and of the logarithm of the leading term
        const auto expect = [&](double a, double expected) {
            EXPECT_NEAR(upper_gamma_share(a, x), expected, error * expected) << a << ' ' << x;
        };
        expect(0.5, std::erfc(std::sqrt(x)));
        expect(1, std::exp(-x));
        expect(3, std::exp(-x) * (1 + x + x * x / 2));
    }
    EXPECT_EQ(upper_gamma_share(2, std::numeric_limits<double>::infinity()), 0);
    EXPECT_THROW(upper_gamma_share(0, 1), InvalidArgument);
    EXPECT_THROW(upper_gamma_share(1, -1), InvalidArgument);
    EXPECT_THROW(upper_gamma_share(1, std::nan("")), InvalidArgument);
}

TEST(ChiSquared, IsThatOfIndependentValuesInAnyBasis) {
    constexpr std::int64_t n = 150;  // more than a block of columns
    // C = 1 + v v^T, whose inverse is 1 - v v^T / (1 + v^2).
    Array<double, 1> v({n}), d({n});
    Array<double, 2> c({n, n});
    double squares = 0, product = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        v(i) = std::sin(static_cast<double>(i)), d(i) = std::cos(static_cast<double>(3 * i));
        squares += v(i) * v(i), product += v(i) * d(i), size += d(i) * d(i);
    }
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) c(i, j) = v(i) * v(j) + (i == j ? 1 : 0);
    const double expected = size - product * product / (1 + squares);
    EXPECT_NEAR(chi_squared(std::as_const(d).view(), std::as_const(c).view()).value, expected,
                1e3 * eps * size);
    EXPECT_NEAR(chi_squared(std::as_const(d).view(), std::as_const(c).view(), 0.5).value, expected / 2,
                1e3 * eps * size);
    for (const double wrong : {c(7, 9) + 1e-6, std::nan("")}) {
        auto other = c;
        other(7, 9) = wrong;
        EXPECT_THROW(chi_squared(std::as_const(d).view(), std::as_const(other).view()), InvalidArgument);
    }
    c(7, 9) *= 1 + eps;  // as rounding leaves it
    EXPECT_NEAR(chi_squared(std::as_const(d).view(), std::as_const(c).view()).value, expected,
                1e3 * eps * size);
    c(100, 100) = -1;
    EXPECT_THROW(chi_squared(std::as_const(d).view(), std::as_const(c).view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal
