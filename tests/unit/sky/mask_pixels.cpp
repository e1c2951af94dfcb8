#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(BadPixels, AreCountedWithTheirFirstPosition) {
    const std::vector<double> map{
        1, -1.6375e30, HUGE_VAL, std::nan(""), static_cast<float>(-1.6375e30), std::nan("")};
    const auto bad = count_bad_pixels<double>(View<const double, 1>(map.data(), {6}));
    EXPECT_EQ(bad.nan, 2);
    EXPECT_EQ(bad.first_nan, 3);
    EXPECT_EQ(bad.infinite, 1);
    EXPECT_EQ(bad.first_infinite, 2);
    EXPECT_EQ(bad.unseen, 2);
    EXPECT_EQ(bad.first_unseen, 1);
    EXPECT_THAT([&] { require_finite(bad, "map I"); },
                ThrowsMessage<InvalidArgument>(HasSubstr("map I: 2 pixels are NaN, the first is pixel 3")));
}

TEST(BadPixels, OfSinglePrecisionAreTheSame) {
    const std::vector<float> map{static_cast<float>(-1.6375e30), std::nanf(""), 0};
    const auto bad = count_bad_pixels<float>(View<const float, 1>(map.data(), {3}));
    EXPECT_EQ(bad.unseen, 1);
    EXPECT_EQ(bad.nan, 1);
    EXPECT_EQ(bad.infinite, 0);
    EXPECT_EQ(bad.first_infinite, -1);
}

TEST(BadPixels, OutsideTheRingsDoNotCount) {
    const Grid grid = Grid::healpix(2).subset({3});
    std::vector<double> map(48, std::nan(""));
    const auto& ring = grid.rings()[0];
    for (std::int64_t k = 0; k < ring.n_pixels; ++k) map[ring.first_pixel + k] = 0;
    map[ring.first_pixel + 2] = unseen_value;
    const auto bad = count_bad_pixels<double>(grid, View<const double, 1>(map.data(), {48}));
    EXPECT_EQ(bad.nan, 0);
    EXPECT_EQ(bad.first_unseen, ring.first_pixel + 2);
}

/// A map of nside 4 that other programs can make too, UNSEEN in pixels 50 to 79.
std::vector<double> wavy_map() {
    std::vector<double> map(192);
    for (int p = 0; p < 192; ++p) {
        const auto n = healpix::pix2vec(4, healpix::Order::ring, p);
        map[p] = p >= 50 && p < 80 ? unseen_value : std::cos(p * 0.37) + 2 + 0.5 * n[0] - n[2];
    }
    return map;
}

TEST(MonopoleDipole, AgreesWithHealpy) {
    const auto map = wavy_map();
    const View<const double, 1> view(map.data(), {192});
    const Grid grid = Grid::healpix(4);
    // healpy 1.20.1, fit_dipole and fit_monopole; sums of 162 numbers of order 1, which round as in a random
    // walk
    const double tolerance = std::sqrt(162.0) * eps;
    const auto fit = fit_monopole_dipole<double>(grid, view, {}, FitTerms::monopole_and_dipole);
    EXPECT_NEAR(fit.monopole, 2.0285691563990556, tolerance);
    EXPECT_NEAR(fit.dipole[0], 0.932969449407143, tolerance);
    EXPECT_NEAR(fit.dipole[1], -0.2836825854624959, tolerance);
    EXPECT_NEAR(fit.dipole[2], -1.015016178535861, tolerance);
    EXPECT_NEAR(fit.used_fraction, 162.0 / 192, tolerance);
    const auto mean = fit_monopole_dipole<double>(grid, view, {}, FitTerms::monopole);
    EXPECT_NEAR(mean.monopole, 2.0804862565142415, tolerance);
}

TEST(MonopoleDipole, IsRemovedExactlyOutsideAnyMask) {
    const Grid grid = Grid::gauss_legendre(12, 25);
    std::vector<double> map(grid.n_pixels()), mask(grid.n_pixels());
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const auto p = ring.first_pixel + k;
            const double phi = ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                static_cast<double>(ring.n_pixels);
            map[p] = 3 + 0.2 * ring.cos_theta - 0.7 * ring.sin_theta * std::sin(phi);
            mask[p] = p % 3 == 0 ? 0 : 0.5;
        }
    map[0] = 1e10;  // masked
    map[4] = unseen_value;
    const View<const double, 1> view(map.data(), {grid.n_pixels()}),
        mask_view(mask.data(), {grid.n_pixels()});
    const auto fit = fit_monopole_dipole<double>(grid, view, mask_view, FitTerms::monopole_and_dipole);
    subtract_monopole_dipole<double>(grid, fit, View<double, 1>(map.data(), {grid.n_pixels()}));
    EXPECT_EQ(map[4], unseen_value);
    // Sums of 300 numbers of order 3, as in a random walk, with a well-conditioned 4 x 4 matrix.
    for (std::int64_t p = 5; p < grid.n_pixels(); ++p)
        EXPECT_NEAR(map[p], 0, 3 * 2 * std::sqrt(300.0) * eps) << p;
}

TEST(MonopoleDipole, RejectsWhatPixelsDoNotDetermine) {
    const Grid grid = Grid::healpix(1);
    std::vector<double> map(12, unseen_value);
    const View<const double, 1> view(map.data(), {12});
    EXPECT_THROW(fit_monopole_dipole<double>(grid, view, {}, FitTerms::monopole), InvalidArgument);
    map[3] = map[4] = 1;
    EXPECT_NO_THROW(fit_monopole_dipole<double>(grid, view, {}, FitTerms::monopole));
    EXPECT_THROW(fit_monopole_dipole<double>(grid, view, {}, FitTerms::monopole_and_dipole), InvalidArgument);
    const std::vector<double> mask(12, -1.0);
    EXPECT_THROW(
        fit_monopole_dipole<double>(grid, view, View<const double, 1>(mask.data(), {12}), FitTerms::monopole),
        InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
