#include "zonal/spectra/decoupling.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/spectra/coupling.hpp"
#include "zonal/view.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();

View<const double, 1> view_of(const std::vector<double>& values) {
    return {values.data(), {std::ssize(values)}};
}

/// Of a cap of this radius: W_L = pi h_L^2, h_L = (P_{L-1} - P_{L+1})(cos radius) / (2L+1).
std::vector<double> cap(double degrees, std::int64_t lmax) {
    const double x = std::cos(degrees * std::numbers::pi / 180);
    std::vector<double> legendre{1, x}, spectrum{std::numbers::pi * (1 - x) * (1 - x)};
    for (std::int64_t l = 1; l <= lmax + 1; ++l) {
        const auto n = static_cast<double>(l);
        const auto i = static_cast<std::size_t>(l);
        legendre.push_back(((2 * n + 1) * x * legendre[i] - n * legendre[i - 1]) / (n + 1));
    }
    for (std::size_t l = 1; l <= static_cast<std::size_t>(lmax); ++l) {
        const double h = (legendre[l - 1] - legendre[l + 1]) / (2 * static_cast<double>(l) + 1);
        spectrum.push_back(std::numbers::pi * h * h);
    }
    return spectrum;
}

/// F_l C_l of F U = 1: what a spectrum that is constant in one band gives in all.
double constant_in_bands(const Bins& bins, std::int64_t band, std::int64_t l) {
    const Band& in = bins.bands()[static_cast<std::size_t>(band)];
    return l < in.first || l > in.last() ? 0 : 1 / bins.factor(l);
}

TEST(Decoupling, GivesSpectraThatAreConstantInBandsBack) {
    const auto mask = cap(40, 200);
    std::vector<double> beam;
    for (std::int64_t l = 0; l <= 70; ++l) beam.push_back(std::exp(-1e-3 * static_cast<double>(l * (l + 1))));
    for (const auto of : {BandsOf::c_l, BandsOf::d_l})
        for (const auto kind : {SpectraKind::spin00, SpectraKind::spin02, SpectraKind::spin22}) {
            const auto bins = Bins::linear(8, 2, 50, of);
            const auto found =
                decouple(bins, kind, view_of(mask), {.lmax_sky = 70, .transfer = beam, .threads = 1});
            ASSERT_EQ(found.windows.extents(),
                      (View<double, 4>::Extents{n_spectra(kind), bins.size(), n_spectra(kind), 71}));
            for (std::int64_t from = 0; from < n_spectra(kind); ++from)
                for (std::int64_t source = 0; source < bins.size(); ++source) {
                    Array<double, 2> sky({n_spectra(kind), 71});
                    for (std::int64_t l = 0; l <= 70; ++l) sky(from, l) = constant_in_bands(bins, source, l);
                    const auto bands = band_theory(found, sky.view());
                    // Rounding times the condition, and the ratio of the beam between the bands, exp(2.5).
                    for (std::int64_t to = 0; to < n_spectra(kind); ++to)
                        for (std::int64_t b = 0; b < bins.size(); ++b)
                            EXPECT_NEAR(bands(to, b), to == from && b == source ? 1 : 0,
                                        64 * eps * found.condition * (of == BandsOf::d_l ? 50 : 1))
                                << to << ' ' << b << ' ' << source;
                }
        }
}

TEST(Decoupling, WindowsAreItsMatrixTimesTheCoupling) {
    constexpr std::int64_t lmax_sky = 60;
    const auto mask = cap(60, 120);
    const auto bins = Bins::edges({2, 9, 20, 41});
    const auto found =
        decouple(bins, SpectraKind::spin22, view_of(mask), {.lmax_sky = lmax_sky, .threads = 1});
    Array<double, 4> m({1, 2, lmax_sky + 1, lmax_sky + 1});
    coupling_matrices(View<const double, 2>(mask.data(), {1, std::ssize(mask)}),
                      {CouplingKind::plus, CouplingKind::minus}, m.view(), 1);
    // EE, EB, BE, BB: which sign of which matrix takes one to the other.
    constexpr double plus[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    constexpr double minus[4][4] = {{0, 0, 0, 1}, {0, 0, -1, 0}, {0, -1, 0, 0}, {1, 0, 0, 0}};
    for (std::int64_t to = 0; to < 4; ++to)
        for (std::int64_t b = 0; b < bins.size(); ++b)
            for (std::int64_t from = 0; from < 4; ++from)
                for (std::int64_t p = 0; p <= lmax_sky; ++p) {
                    double window = 0;
                    for (std::int64_t over = 0; over < 4; ++over)
                        for (std::int64_t l = 0; l <= bins.lmax(); ++l)
                            window += found.matrix(to, b, over, l) *
                                      (plus[over][from] * m(0, 0, l, p) + minus[over][from] * m(0, 1, l, p));
                    EXPECT_NEAR(found.windows(to, b, from, p), window, 64 * eps) << to << b << from << p;
                }
}

TEST(Decoupling, OfTheWholeSkyAverages) {
    const std::vector<double> whole{4 * std::numbers::pi};
    const auto bins = Bins::linear(5, 2, 21);
    const auto found = decouple(bins, SpectraKind::spin00, view_of(whole), {.threads = 1});
    EXPECT_NEAR(found.condition, 1, 1e-10);
    EXPECT_TRUE(found.low_degrees);
    EXPECT_EQ(found.note, "");
    Array<double, 2> pseudo({1, 22});
    for (std::int64_t l = 0; l < 22; ++l) pseudo(0, l) = static_cast<double>(l * l);
    const auto bands = band_powers(found, pseudo.view());
    const auto expected = bins.binned(pseudo.view()[0]);
    for (std::int64_t b = 0; b < 4; ++b)
        EXPECT_NEAR(bands(0, b), expected[static_cast<std::size_t>(b)],
                    1e-13 * expected[static_cast<std::size_t>(b)]);
}

/// With bands of their own, degrees 0 and 1 do not reach the others; without, they do.
TEST(Decoupling, KeepsMonopoleAndDipoleOut) {
    const auto mask = cap(50, 100);
    const auto bins = Bins::linear(8, 2, 41);
    const auto with = decouple(bins, SpectraKind::spin00, view_of(mask), {.threads = 1});
    EXPECT_TRUE(with.low_degrees);
    const auto without =
        decouple(bins, SpectraKind::spin00, view_of(mask), {.low_degrees = false, .threads = 1});
    EXPECT_FALSE(without.low_degrees);
    for (std::int64_t b = 0; b < bins.size(); ++b)
        for (std::int64_t l = 0; l < 2; ++l) {
            EXPECT_NEAR(with.windows(0, b, 0, l), 0, 64 * eps * with.condition) << b;
            EXPECT_GT(std::abs(without.windows(0, b, 0, l)), 1e-8) << b;
        }
}

/// Of binary caps, to a digit; tests/python/test_band_powers.py compares with LAPACK's.
TEST(Decoupling, KnowsItsCondition) {
    const auto condition = [](double degrees, std::int64_t width, SpectraKind kind) {
        const auto mask = cap(degrees, 240);
        return decouple(Bins::linear(width, 2, 97), kind, view_of(mask),
                        {.lmax_sky = 120, .low_degrees = false, .threads = 1})
            .condition;
    };
    EXPECT_NEAR(condition(20, 8, SpectraKind::spin00), 4, 2);
    EXPECT_NEAR(condition(20, 8, SpectraKind::spin22), 50, 25);
    EXPECT_NEAR(condition(10, 18, SpectraKind::spin22), 40, 20);
}

TEST(Decoupling, WarnsOfNarrowBinsAndRefusesHopelessOnesWithAWidthThatDoes) {
    const auto mask = cap(10, 240);
    const auto of_width = [&](std::int64_t width) {
        return decouple(Bins::linear(width, 2, 97), SpectraKind::spin00, view_of(mask),
                        {.lmax_sky = 110, .low_degrees = false, .threads = 1});
    };
    const auto narrow = of_width(8);
    EXPECT_GT(narrow.condition, poor_condition);
    EXPECT_LT(narrow.condition, hopeless_condition);
    EXPECT_THAT(narrow.note, HasSubstr("bands of "));
    std::int64_t width = 8;
    while (of_width(width).condition > poor_condition) ++width;
    EXPECT_EQ(of_width(width).note, "");
    EXPECT_THAT(narrow.note, HasSubstr(std::to_string(width) + " degrees"));
    EXPECT_THAT(
        [&] { of_width(4); },
        ThrowsMessage<InvalidArgument>(HasSubstr("bands of " + std::to_string(width) + " degrees would do")));
    const auto tiny = cap(0.5, 240);
    EXPECT_THAT([&] { decouple(Bins::linear(4, 2, 33), SpectraKind::spin22, view_of(tiny)); },
                ThrowsMessage<InvalidArgument>(HasSubstr("the mask leaves too little sky")));
}

TEST(Decoupling, RejectsWhatDoesNotFit) {
    const auto mask = cap(60, 80);
    const auto bins = Bins::linear(8, 2, 33);
    const auto call = [&](const DecouplingOptions& options) {
        return [&, options] { decouple(bins, SpectraKind::spin00, view_of(mask), options); };
    };
    EXPECT_THAT(call({.lmax_sky = 32}),
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax_sky = 32: must be 33")));
    EXPECT_THAT(call({.transfer = std::vector<double>(33, 1.0)}),
                ThrowsMessage<InvalidArgument>(HasSubstr("transfer: ends at l = 32")));
    std::vector<double> transfer(34, 1.0);
    transfer[7] = std::numeric_limits<double>::infinity();
    EXPECT_THAT(call({.transfer = transfer}), ThrowsMessage<InvalidArgument>(HasSubstr("transfer[7]")));
    transfer[7] = 1;
    std::fill(transfer.begin() + 26, transfer.end(), 0.0);
    EXPECT_THAT(call({.transfer = transfer}),
                ThrowsMessage<InvalidArgument>(HasSubstr("is 0 for all degrees of band 3 (l = 26 to 33)")));
    const auto found = decouple(bins, SpectraKind::spin02, view_of(mask));
    Array<double, 2> one({1, 34}), too_short({2, 33});
    EXPECT_THAT([&] { band_powers(found, one.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("axis 0 (spectrum)")));
    EXPECT_THAT([&] { band_theory(found, too_short.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must reach l = 33")));
}

}  // namespace
}  // namespace zonal
