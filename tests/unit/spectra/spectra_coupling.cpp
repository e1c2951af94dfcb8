#include "zonal/spectra/coupling.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/view.hpp"

// Matrices beside exact sums over 3j symbols are in tests/oracle.
namespace zonal {
namespace {

using enum CouplingKind;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();
const std::vector<CouplingKind> all_kinds{spin00, spin02, plus, minus};

/// [kind, l, l'] of one mask.
Array<double, 4> matrices_of(const std::vector<double>& spectrum, std::int64_t lmax,
                             const std::vector<CouplingKind>& kinds = all_kinds, int threads = 1) {
    Array<double, 4> matrices({1, std::ssize(kinds), lmax + 1, lmax + 1});
    coupling_matrices(View<const double, 2>(spectrum.data(), {1, std::ssize(spectrum)}), kinds,
                      matrices.view(), threads);
    return matrices;
}

/// Of the cap z > 1/2: W_L = pi h_L^2, h_L = (P_{L-1} - P_{L+1})(1/2) / (2L+1).
std::vector<double> cap(std::int64_t lmax) {
    std::vector<double> legendre{1, 0.5}, spectrum;
    for (std::int64_t l = 1; l <= lmax + 1; ++l) {
        const auto x = static_cast<double>(l);
        const auto i = static_cast<std::size_t>(l);
        legendre.push_back(((2 * x + 1) * 0.5 * legendre[i] - x * legendre[i - 1]) / (x + 1));
    }
    for (std::size_t l = 0; l <= static_cast<std::size_t>(lmax); ++l) {
        const double h =
            l == 0 ? 0.5 : (legendre[l - 1] - legendre[l + 1]) / (2 * static_cast<double>(l) + 1);
        spectrum.push_back(std::numbers::pi * h * h);
    }
    return spectrum;
}

std::vector<double> falling(std::int64_t lmax) {
    std::vector<double> spectrum;
    for (std::int64_t l = 0; l <= lmax; ++l) spectrum.push_back(std::exp(-static_cast<double>(l)));
    return spectrum;
}

/// The rational numbers and twelve digits of others are from exact 3j symbols.
TEST(CouplingMatrices, OfACapAreKnown) {
    const auto m = matrices_of(cap(80), 40);
    const auto expect = [&](int kind, std::int64_t l, std::int64_t p, double value, double error) {
        EXPECT_NEAR(m(0, kind, l, p), value, error * std::abs(value)) << kind << ' ' << l << ' ' << p;
    };
    // The cap's own spectrum errs by a few eps of its largest h.
    constexpr double rational = 64 * eps, digits = 1e-12;
    expect(0, 0, 0, 1.0 / 16, rational);
    expect(0, 2, 2, 10127.0 / 131072, rational);
    expect(0, 2, 3, 138663.0 / 2097152, rational);
    expect(2, 2, 2, 39383.0 / 524288, rational);
    expect(2, 2, 3, 298683.0 / 8388608, rational);
    expect(3, 2, 2, 9225.0 / 131072, rational);
    expect(3, 2, 3, 5985.0 / 262144, rational);
    expect(0, 2, 30, 1.598449269542e-4, digits);
    expect(0, 30, 2, 1.310204319297e-5, digits);
    expect(1, 2, 3, 4.745782263018e-2, digits);
    expect(1, 7, 4, -5.512194896263e-6, 1e3 * digits);  // where a sum of larger terms changes sign
    expect(0, 17, 24, 1.026802426839e-3, digits);
    expect(1, 17, 24, 7.377787879344e-4, digits);
    expect(2, 17, 24, 7.454281971162e-4, digits);
    expect(3, 17, 24, 3.348932811661e-4, digits);
}

TEST(CouplingMatrices, AreRightFarOffTheDiagonal) {
    const auto m = matrices_of(falling(120), 60);
    // Half a unit of the last digit that is given.
    constexpr double half = 0.5e-12, of_all = 4 * eps;
    EXPECT_NEAR(m(0, 0, 2, 60), 2.551838382918e-25, (half + of_all) * 1e-25);
    EXPECT_NEAR(m(0, 1, 2, 60), 7.285203384783e-26, (half + of_all) * 1e-26);
    EXPECT_NEAR(m(0, 2, 2, 60), 7.319553876024e-26, (half + of_all) * 1e-26);
    // Met by chance to three digits more.
    EXPECT_NEAR(m(0, 3, 2, 60), 6.628104093797e-26, (half + of_all) * 1e-26);
}

/// sum_l' M_ll' = sum_l' (M++ + M--)_ll' = sum_L (2L+1) W_L / 4pi, the mean of the masks' product, where no L
/// reaches beyond lmax.
TEST(CouplingMatrices, RowsAddUpToTheMeanOfTheProduct) {
    const auto spectrum = falling(30);
    double mean = 0;
    for (std::size_t l = 0; l < spectrum.size(); ++l)
        mean += (2 * static_cast<double>(l) + 1) * spectrum[l] / (4 * std::numbers::pi);
    const std::int64_t lmax = 100;
    const auto m = matrices_of(spectrum, lmax);
    for (std::int64_t l = 0; l <= lmax - 30; ++l) {
        double scalars = 0, spins = 0;
        for (std::int64_t p = 0; p <= lmax; ++p)
            scalars += m(0, 0, l, p), spins += m(0, 2, l, p) + m(0, 3, l, p);
        EXPECT_NEAR(scalars, mean, 100 * eps * mean) << l;
        EXPECT_NEAR(spins, l < 2 ? 0 : mean, 100 * eps * mean) << l;
    }
}

/// A mask that is 1 everywhere changes nothing.
TEST(CouplingMatrices, OfTheWholeSkyAreOnes) {
    const auto m = matrices_of({4 * std::numbers::pi}, 37);
    for (std::int64_t l = 0; l <= 37; ++l)
        for (std::int64_t p = 0; p <= 37; ++p)
            for (int kind = 0; kind < 4; ++kind)
                EXPECT_NEAR(m(0, kind, l, p), l == p && kind < 3 && (kind == 0 || l >= 2) ? 1 : 0, 8 * eps)
                    << kind << ' ' << l << ' ' << p;
}

TEST(CouplingMatrices, OfSeveralMasksAndKindsAreThoseOfEach) {
    constexpr std::int64_t lmax = 45, degrees = 70;
    for (const std::int64_t n_masks : {2, 4, 7}) {
        Array<double, 2> spectra({n_masks, degrees});
        for (std::int64_t i = 0; i < spectra.size(); ++i)
            spectra.data()[i] = std::sin(7.0 * static_cast<double>(i)) / static_cast<double>(1 + i % degrees);
        const std::vector<CouplingKind> kinds{minus, spin00, plus, spin02};
        Array<double, 4> together({n_masks, 4, lmax + 1, lmax + 1});
        coupling_matrices(spectra.view(), kinds, together.view(), 3);
        for (std::int64_t mask = 0; mask < n_masks; ++mask)
            for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
                const auto alone =
                    matrices_of({&spectra(mask, 0), &spectra(mask, 0) + degrees}, lmax, {kinds[kind]});
                for (std::int64_t i = 0; i < alone.size(); ++i)
                    ASSERT_EQ(
                        together.data()[(mask * 4 + static_cast<std::int64_t>(kind)) * alone.size() + i],
                        alone.data()[i])
                        << mask << ' ' << kind << ' ' << i;
            }
    }
}

TEST(CouplingMatrices, NeedDegreesUpToTwiceLmax) {
    const auto spectrum = cap(300);
    const auto whole = matrices_of(spectrum, 60),
               enough = matrices_of({spectrum.begin(), spectrum.begin() + 121}, 60);
    EXPECT_TRUE(std::equal(whole.data(), whole.data() + whole.size(), enough.data()));
    auto zeros = spectrum;
    std::fill(zeros.begin() + 50, zeros.end(), 0.0);
    const auto shorter = matrices_of({spectrum.begin(), spectrum.begin() + 50}, 60),
               same = matrices_of(zeros, 60);
    EXPECT_TRUE(std::equal(same.data(), same.data() + same.size(), shorter.data()));
}

TEST(CouplingMatrices, RejectWhatDoesNotFit) {
    Array<double, 4> matrices({1, 1, 5, 5});
    std::vector<double> spectrum(9, 1.0);
    const auto call = [&](const std::vector<CouplingKind>& kinds, std::int64_t n_masks,
                          View<double, 4> into) {
        coupling_matrices(View<const double, 2>(spectrum.data(), {n_masks, 9 / n_masks}), kinds, into);
    };
    EXPECT_THAT([&] { call({}, 1, matrices.view()); }, ThrowsMessage<InvalidArgument>(HasSubstr("kinds")));
    EXPECT_THAT([&] { call({spin00}, 3, matrices.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("axis 0 (mask) has length 1: must be 3")));
    EXPECT_THAT(
        [&] {
            call({spin00, plus}, 1, matrices.view());
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("axis 1 (kind) has length 1: must be 2")));
    const View<double, 4> not_square(matrices.data(), {1, 1, 5, 4});
    EXPECT_THAT([&] { call({spin00}, 1, not_square); },
                ThrowsMessage<InvalidArgument>(HasSubstr("axis 3 (l') has length 4: must be 5")));
    spectrum[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT([&] { call({spin00}, 1, matrices.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("mask_spectra[0, 3]")));
}

}  // namespace
}  // namespace zonal
