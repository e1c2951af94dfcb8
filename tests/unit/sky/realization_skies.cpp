#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sht_helpers.hpp"
#include "sky/realization_philox.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Array<Complex, 2> sky(const SkySpectra& spectra, std::uint64_t seed, const AlmLayout& layout,
                      std::int64_t components, int threads = 1) {
    Array<Complex, 2> alm({components, layout.size()});
    realize<double>(spectra, seed, layout, alm.view(), threads);
    return alm;
}

SkySpectra flat(std::int64_t lmax) {
    const auto n = static_cast<std::size_t>(lmax + 1);
    using V = std::vector<double>;
    return {V(n, 4.0), V(n, 1.0), V(n, 0.5), V(n, 1.2), V(n, -0.3), V(n, 0.2)};
}

TEST(Philox, GivesTheKnownAnswersOfItsAuthors) {
    // Random123 1.14, tests/kat_vectors, philox4x32 10
    using Words = std::array<std::uint32_t, 4>;
    EXPECT_EQ(sht::philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(sht::philox4x32({ones, ones, ones, ones}, {ones, ones}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(sht::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Realization, FollowsTheDocumentedScheme) {
    const std::uint64_t seed = 0x123456789abcdef;
    // The scheme as realization.hpp has it, written independently in Python, for C_l = 1.
    struct Row {
        std::int64_t l, m, component;
        Complex value;
    };
    const Row rows[] = {{0, 0, 0, -0.08096479552091884},
                        {2, 0, 1, 0.8890880600136651},
                        {2, 1, 0, {1.0007826069927133, -0.5019170983671519}},
                        {5, 5, 2, {0.7914748048607488, -0.2954393623993276}}};
    const AlmLayout layout(6);
    const std::vector<double> one(7, 1.0);
    const auto alm = sky({one, one, one, {}, {}, {}}, seed, layout, 3);
    for (const Row& row : rows)
        EXPECT_LE(std::abs(alm(row.component, layout.index(row.l, row.m)) - row.value), 8 * eps);
    const AlmLayout large(4000, 17);
    const auto high = sky({std::vector<double>(4001, 1.0), {}, {}, {}, {}, {}}, seed, large, 1);
    EXPECT_LE(std::abs(high(0, large.index(4000, 17)) - Complex(-1.0587991402409425, 0.177103742021388)),
              4 * eps);
}

TEST(Realization, DoesNotDependOnLmaxMmaxThreadsOrPolarisation) {
    const AlmLayout small(10, 7), large(20);
    const auto a = sky(flat(20), 5, small, 3, 1), b = sky(flat(20), 5, large, 3, 3);
    const auto t = sky(flat(20), 5, large, 1, 2);
    for (std::int64_t m = 0; m <= 7; ++m)
        for (auto l = m; l <= 10; ++l)
            for (std::int64_t c = 0; c < 3; ++c) EXPECT_EQ(a(c, small.index(l, m)), b(c, large.index(l, m)));
    for (std::int64_t i = 0; i < large.size(); ++i) EXPECT_EQ(t(0, i), b(0, i));
}

TEST(Realization, HasTheSpectraThatWereAskedFor) {
    const std::int64_t lmax = 400;
    const AlmLayout layout(lmax);
    const auto input = flat(lmax);
    const auto alm = sky(input, 11, layout, 3);
    const auto found = spectra<double>(layout, std::as_const(alm).view());
    const std::vector<double>* wanted[] = {&input.tt, &input.ee, &input.bb, &input.te, &input.tb, &input.eb};
    const double auto_x[] = {4, 1, 0.5, 4, 4, 1}, auto_y[] = {4, 1, 0.5, 1, 0.5, 0.5};
    for (int i = 0; i < 6; ++i) {
        double mean = 0, modes = 0;
        for (std::int64_t l = 2; l <= lmax; ++l) {
            mean += static_cast<double>(2 * l + 1) * found[i].values[l];
            modes += static_cast<double>(2 * l + 1);
        }
        // Variance of a mean of products of correlated normals: (C_XX C_YY + C_XY^2) / modes; 4.5 standard
        // deviations.
        const double cross = (*wanted[i])[2];
        const double deviation = std::sqrt((auto_x[i] * auto_y[i] + cross * cross) / modes);
        EXPECT_NEAR(mean / modes, cross, 4.5 * deviation) << found[i].name;
    }
}

TEST(Realization, LeavesOrderZeroRealAndLowPolarisationZero) {
    const AlmLayout layout(5);
    const auto alm = sky(flat(5), 3, layout, 3);
    for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t l = 0; l <= 5; ++l) EXPECT_EQ(alm(c, l).imag(), 0);
    for (std::int64_t c = 1; c < 3; ++c)
        for (const auto i : {layout.index(0, 0), layout.index(1, 0), layout.index(1, 1)})
            EXPECT_EQ(alm(c, i), Complex(0));
}

TEST(Realization, DependsOnAllBitsOfTheSeed) {
    const AlmLayout layout(2);
    const auto a = sky(flat(2), 1, layout, 1);
    EXPECT_GT(largest_difference(a, sky(flat(2), 2, layout, 1)), 0.1);
    EXPECT_GT(largest_difference(a, sky(flat(2), 1 + (std::uint64_t{1} << 63), layout, 1)), 0.1);
}

TEST(Realization, AllowsFullCorrelationInSinglePrecision) {
    const AlmLayout layout(40);
    SkySpectra spectra;
    for (int l = 0; l <= 40; ++l) {
        const double t = 1.0 / (l + 1), e = 0.3 / (l + 2);
        spectra.tt.push_back(static_cast<float>(t));
        spectra.ee.push_back(static_cast<float>(e));
        spectra.te.push_back(static_cast<float>(std::sqrt(t * e)));
    }
    const auto alm = sky(spectra, 3, layout, 3);
    const auto i = layout.index(30, 4);
    EXPECT_LE(std::abs(alm(1, i) / alm(0, i) - std::sqrt(0.3 * 31 / 32)), 0x1p-23);  // rounded spectra
}

/// E that is T but for 1e-6, the rounding of spectra in single precision: its own part is 0, and beyond
/// that it is an error, or a part of its own.
TEST(Realization, TakesRoundingForFullCorrelation) {
    const AlmLayout layout(4);
    const auto with_te = [](double excess) {
        auto spectra = flat(4);
        spectra.te.assign(5, 2 * std::sqrt(1 + excess));  // TT = 4, EE = 1
        spectra.tb.assign(5, 0.0);
        spectra.eb.assign(5, 0.0);
        return spectra;
    };
    const auto i = layout.index(3, 2);
    for (const double excess : {0.9e-6, 0.0, -0.9e-6}) {
        const auto alm = sky(with_te(excess), 1, layout, 3);
        EXPECT_LE(std::abs(alm(1, i) - alm(0, i) * std::sqrt(1 + excess) / 2.0),
                  4 * eps * std::abs(alm(0, i)));
    }
    EXPECT_THROW(sky(with_te(1.2e-6), 1, layout, 3), InvalidArgument);
    const auto alm = sky(with_te(-1.2e-6), 1, layout, 3);
    EXPECT_GT(std::abs(alm(1, i) - alm(0, i) * std::sqrt(1 - 1.2e-6) / 2.0), 1e-4);
    // Where E has nothing of its own, B may have no more of it than the root of that rounding.
    for (const double eb : {0.9e-3, 1.2e-3, -0.9e-3, -1.2e-3}) {
        auto spectra = with_te(0);
        spectra.eb.assign(5, eb * std::sqrt(0.5));
        if (std::abs(eb) < 1e-3) {
            EXPECT_NO_THROW(sky(spectra, 1, layout, 3));
        } else
            EXPECT_THROW(sky(spectra, 1, layout, 3), InvalidArgument);
    }
}

TEST(Realization, NamesTheDegreeThatIsNotPositive) {
    const AlmLayout layout(20);
    auto spectra = flat(20);
    spectra.te[13] = 2.1;  // above sqrt(TT EE) = 2
    EXPECT_THAT([&] { sky(spectra, 1, layout, 3); }, ThrowsMessage<InvalidArgument>(HasSubstr("l = 13")));
    spectra = flat(20);
    spectra.tt[7] = -1;
    EXPECT_THAT([&] { sky(spectra, 1, layout, 1); }, ThrowsMessage<InvalidArgument>(HasSubstr("l = 7")));
    spectra = flat(20);
    spectra.bb[9] = 0;  // with TB and EB
    EXPECT_THAT([&] { sky(spectra, 1, layout, 3); }, ThrowsMessage<InvalidArgument>(HasSubstr("l = 9")));
}

TEST(Realization, RejectsShortSpectraAndNumbersThatAreNotFinite) {
    const AlmLayout layout(20);
    EXPECT_THAT([&] { sky(flat(19), 1, layout, 1); },
                ThrowsMessage<InvalidArgument>(HasSubstr("TT ends at l = 19")));
    auto spectra = flat(20);
    spectra.ee[4] = std::nan("");
    EXPECT_THROW(sky(spectra, 1, layout, 3), InvalidArgument);
    EXPECT_NO_THROW(sky(spectra, 1, layout, 1));
    EXPECT_THROW(sky(flat(20), 1, layout, 2), InvalidArgument);
}

std::vector<double> noise(std::uint64_t seed, std::int64_t n, int threads) {
    std::vector<double> values(static_cast<std::size_t>(n));
    white_noise<double>(seed, {values.data(), {n}}, threads);
    return values;
}

TEST(WhiteNoise, DoesNotDependOnThreadsOrLength) {
    const auto whole = noise(7, 100'001, 1);
    EXPECT_EQ(whole, noise(7, 100'001, 3));
    const auto part = noise(7, 50'000, 2);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin()));
    EXPECT_NE(noise(8, 100, 1), noise(7, 100, 1));
}

TEST(WhiteNoise, HasTheMomentsOfAGaussianAndNoCorrelationOfNeighbours) {
    constexpr std::int64_t n = 1'000'000;
    const auto values = noise(1, n, 2);
    double mean = 0, square = 0, fourth = 0, neighbours = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double x = values[i];
        mean += x / n;
        square += x * x / n;
        fourth += x * x * x * x / n;
        neighbours += x * values[(i + 1) % n] / n;
    }
    // variances of the sums, times n: 1, 2, 96, 1
    EXPECT_NEAR(mean, 0, 4e-3);
    EXPECT_NEAR(square, 1, 4 * std::sqrt(2e-6));
    EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96e-6));
    // Loose on purpose, as the others: 4 standard deviations, of which chance has taken a hundredth.
    EXPECT_NEAR(neighbours, 0, 4e-3);
}

}  // namespace
}  // namespace zonal::test
