#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/rotation.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

/// [components, layout.size()]
Array<Complex, 2> random_fields(const AlmLayout& layout, std::int64_t components, unsigned seed) {
    const auto alm = random_alm(layout, 1, components, seed);
    Array<Complex, 2> fields({components, layout.size()});
    std::copy(alm.begin(), alm.end(), fields.begin());
    return fields;
}

Array<Complex, 2> rotated(const AlmLayout& layout, const EulerAngles& angles, Array<Complex, 2> alm,
                          int threads = 1) {
    rotate_alm<double>(layout, angles, alm.view(), {.threads = threads});
    return alm;
}

/// Rounding of a rotation of coefficients of order 1 (the largest of many: 5): l steps of the recurrence that
/// add up as a random walk, then a sum of 2l products whose squares sum to 1.
double rotation_rounding(std::int64_t lmax) {
    return 5 * 4 * eps * std::sqrt(static_cast<double>(lmax) + 1);
}

TEST(Rotation, AgreesWithHealpy) {
    const AlmLayout layout(3);
    Array<Complex, 2> alm({1, layout.size()});
    for (std::int64_t m = 0; m <= 3; ++m)
        for (auto l = m; l <= 3; ++l) {
            const auto x = static_cast<double>(l), y = static_cast<double>(m);
            alm(0, layout.index(l, m)) = {(x + 1) * (1 - 0.1 * y), y * 0.3 * (x - 1)};
        }
    // healpy 1.20.1, rotate_alm(alm, 0.3, 0.7, -1.1)
    const Complex want[] = {{1.0, 0.0},
                            {3.0963507167386393, 0.0},
                            {5.531601723078047, 0.0},
                            {7.595663858440268, 0.0},
                            {0.6573935490643391, 0.11891106392867568},
                            {0.7451784196800191, -0.6193769970904871},
                            {0.5078265608363108, -1.8769107079067129},
                            {-0.4914009724641399, 1.2330034595246042},
                            {-1.6006563520442645, 2.886995848858387},
                            {-0.6608448922134939, 0.3445314110738425}};
    alm = rotated(layout, {0.3, 0.7, -1.1}, alm);
    for (std::int64_t i = 0; i < layout.size(); ++i) EXPECT_LE(std::abs(alm(0, i) - want[i]), 64 * eps) << i;
}

/// Any direction: f(R^-1 n) of the map is the rotated map at n.
TEST(Rotation, MovesTheFieldByTheMatrix) {
    const AlmLayout layout(12);
    const EulerAngles angles{0.4, 2.2, -0.9};
    const auto alm = random_fields(layout, 1, 1), turned = rotated(layout, angles, alm);
    const auto matrix = rotation_matrix(angles);
    for (const auto& [theta, phi] : {std::pair{0.3, 0.2}, {1.4, 3.0}, {2.9, 5.0}}) {
        const double n[] = {std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi),
                            std::cos(theta)};
        double from[3] = {};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) from[i] += matrix[j][i] * n[j];
        const Grid before = grid_of({{std::acos(from[2]), std::atan2(from[1], from[0]), 1}});
        const Grid after = grid_of({{theta, phi, 1}});
        Array<double, 2> value_before({1, 1}), value_after({1, 1});
        reference::synthesize(before, layout, 0, alm.view(), value_before.view());
        reference::synthesize(after, layout, 0, turned.view(), value_after.view());
        // 91 coefficients of order 1 times Y of order 1; arccos loses little away from the poles.
        EXPECT_NEAR(value_after(0, 0), value_before(0, 0), 1e-13);
    }
}

class RotationBy : public ::testing::TestWithParam<EulerAngles> {};

TEST_P(RotationBy, IsUndoneByItsInverse) {
    for (const std::int64_t lmax : {1, 2, 15, 16, 17, 64, 257}) {
        const AlmLayout layout(lmax);
        const auto alm = random_fields(layout, 2, 2);
        const auto [psi, theta, phi] = GetParam();
        const auto back = rotated(layout, {-phi, -theta, -psi}, rotated(layout, {psi, theta, phi}, alm));
        EXPECT_LE(largest_difference(back, alm), 2 * rotation_rounding(lmax)) << lmax;
    }
}

TEST_P(RotationBy, KeepsTheSpectrum) {
    const std::int64_t lmax = 200;
    const AlmLayout layout(lmax);
    const auto alm = random_fields(layout, 1, 3), turned = rotated(layout, GetParam(), alm);
    const auto before = cross_spectrum<double>(layout, alm.view()[0], alm.view()[0]);
    const auto after = cross_spectrum<double>(layout, turned.view()[0], turned.view()[0]);
    for (std::int64_t l = 0; l <= lmax; ++l)
        EXPECT_NEAR(after[l], before[l], 2 * rotation_rounding(l) * before[l]) << l;
}

INSTANTIATE_TEST_SUITE_P(Angles, RotationBy,
                         ::testing::Values(EulerAngles{0.3, 1.1, 0.2}, EulerAngles{0, pi / 2, 0},
                                           EulerAngles{1, 2.9, 4}, EulerAngles{-2, -0.7, 3},
                                           EulerAngles{1, 1e-4, 2}, EulerAngles{1, 1e-12, 2},
                                           EulerAngles{1, pi, 2}, EulerAngles{0.5, pi - 1e-5, 2},
                                           EulerAngles{0, 0, 1}, EulerAngles{0.1, 1e-30, 0.2}));

TEST(Rotation, ComposesAsItsMatrices) {
    const std::int64_t lmax = 128;
    const AlmLayout layout(lmax);
    const EulerAngles first{0.3, 1.1, 0.2}, second{2.0, 0.6, -1.0};
    const auto a = rotation_matrix(second), b = rotation_matrix(first);
    RotationMatrix product{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) product[i][j] += a[i][k] * b[k][j];
    const auto alm = random_fields(layout, 1, 4);
    const auto two = rotated(layout, second, rotated(layout, first, alm));
    const auto one = rotated(layout, euler_angles(product), alm);
    // The angles carry roundings of 2 eps each, which l times make phases.
    EXPECT_LE(largest_difference(one, two), 3 * rotation_rounding(lmax) + 5 * 6 * eps * lmax);
}

TEST(Rotation, OfDegree1024IsAccurate) {
    const AlmLayout layout(1024);
    const auto alm = random_fields(layout, 1, 5);
    const auto back = rotated(layout, {-0.2, -1.1, -0.3}, rotated(layout, {0.3, 1.1, 0.2}, alm, 2), 2);
    EXPECT_LE(largest_difference(back, alm), 2 * rotation_rounding(1024));
}

TEST(Rotation, DoesNotDependOnThreadsOrOtherComponents) {
    const AlmLayout layout(70);
    const auto alm = random_fields(layout, 5, 6);
    const auto serial = rotated(layout, {0.3, 1.1, 0.2}, alm, 1),
               parallel = rotated(layout, {0.3, 1.1, 0.2}, alm, 3);
    EXPECT_EQ(largest_difference(serial, parallel), 0);
    for (std::int64_t c = 0; c < 5; ++c) {
        Array<Complex, 2> one({1, layout.size()});
        for (std::int64_t i = 0; i < layout.size(); ++i) one(0, i) = alm(c, i);
        one = rotated(layout, {0.3, 1.1, 0.2}, one);
        // Sums of as many terms in another order.
        for (std::int64_t i = 0; i < layout.size(); ++i)
            EXPECT_LE(std::abs(one(0, i) - serial(c, i)), rotation_rounding(70));
    }
}

TEST(Rotation, OfSinglePrecisionIsRoundedOnce) {
    const AlmLayout layout(30);
    const auto alm = random_fields(layout, 1, 7);
    Array<std::complex<float>, 2> narrow({1, layout.size()});
    Array<Complex, 2> wide({1, layout.size()});
    for (std::int64_t i = 0; i < layout.size(); ++i)
        wide(0, i) = Complex(narrow(0, i) = std::complex<float>(alm(0, i)));
    rotate_alm<float>(layout, {0.3, 1.1, 0.2}, narrow.view());
    wide = rotated(layout, {0.3, 1.1, 0.2}, wide);
    for (std::int64_t i = 0; i < layout.size(); ++i)
        EXPECT_LE(std::abs(Complex(narrow(0, i)) - wide(0, i)), 0x1p-23 * std::abs(wide(0, i)) + 1e-13);
}

TEST(Rotation, StopsWhenAskedTo) {
    const AlmLayout layout(50);
    auto alm = random_fields(layout, 1, 8);
    RotationOptions options;
    options.progress = [](double) { return false; };
    EXPECT_THROW(rotate_alm<double>(layout, {0.3, 1.1, 0.2}, alm.view(), options), Cancelled);
}

/// The orders of alm above the first mmax are 0, and those above the second are left out.
TEST(Rotation, TakesAndGivesTheOrdersThatAreAskedFor) {
    for (const EulerAngles& angles :
         {EulerAngles{0.3, 1.1, 0.2}, EulerAngles{-2, 2.9, 3}, EulerAngles{0.4, 0, 0.1}})
        for (const auto& [lmax, mmax, mmax_out] : {std::array<std::int64_t, 3>{40, 40, 13},
                                                   {40, 13, 40},
                                                   {40, 0, 7},
                                                   {41, 7, 7},
                                                   {5, 0, 0},
                                                   {0, 0, 0}}) {
            const AlmLayout full(lmax), from(lmax, mmax), to(lmax, mmax_out);
            const auto alm = random_fields(from, 5, 9);  // more than are rotated at once
            Array<Complex, 2> padded({5, full.size()}), found({5, to.size()});
            for (std::int64_t c = 0; c < 5; ++c)
                copy_alm<double>(from, alm.view()[c], full, padded.view()[c]);
            padded = rotated(full, angles, padded);
            rotate_alm<double>(from, alm.view(), angles, to, found.view());
            for (std::int64_t c = 0; c < 5; ++c)
                for (std::int64_t m = 0; m <= mmax_out; ++m)
                    for (auto l = m; l <= lmax; ++l)
                        EXPECT_EQ(found(c, to.index(l, m)), padded(c, full.index(l, m)))
                            << lmax << " " << mmax << " " << mmax_out << " l " << l << " m " << m;
        }
}

TEST(Rotation, RejectsWhatItCannotRotate) {
    const AlmLayout narrow(5, 3);
    Array<Complex, 2> alm({1, narrow.size()});
    EXPECT_THROW(rotate_alm<double>(narrow, {0, 1, 0}, alm.view()), InvalidArgument);
    EXPECT_THROW(rotate_alm<double>(AlmLayout(5), {0, 1, 0}, alm.view()), InvalidArgument);
    Array<Complex, 2> full({1, AlmLayout(5).size()});
    EXPECT_THROW(rotate_alm<double>(AlmLayout(5), {0, std::nan(""), 0}, full.view()), InvalidArgument);

    const EulerAngles angles{0, 1, 0};
    Array<Complex, 2> two({2, AlmLayout(5).size()}), other({1, AlmLayout(4).size()});
    const auto refuses = [&](const AlmLayout& from, Array<Complex, 2>& given, const AlmLayout& to,
                             Array<Complex, 2>& out) {
        EXPECT_THROW(rotate_alm<double>(from, given.view(), angles, to, out.view()), InvalidArgument);
    };
    refuses(AlmLayout(5), full, AlmLayout(4), other);  // another lmax
    refuses(AlmLayout(5), full, AlmLayout(5), two);    // another number of fields
    refuses(narrow, full, AlmLayout(5), two);
    refuses(AlmLayout(5), full, narrow, full);
    Array<Complex, 2> share({1, AlmLayout(5, 5, {0, 2}).size()});
    refuses(AlmLayout(5, 5, {0, 2}), share, AlmLayout(5), full);
    const View<Complex, 2> same(full.data(), {1, narrow.size()});
    EXPECT_THROW(rotate_alm<double>(AlmLayout(5), full.view(), angles, narrow, same), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
