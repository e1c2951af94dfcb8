#include <gtest/gtest.h>

#include <cmath>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/derivatives.hpp"

namespace zonal::test {
namespace {

MapArray hessian_of(const HessianPlan& plan, const AlmArray& alm) {
    MapArray map({alm.extent(0), 3, plan.transform().grid().n_pixels()});
    plan.synthesize<double>(alm.view(), map.view());
    return map;
}

/// f = cos theta + sin^2 theta sin 2 phi: its second derivatives, written down.
TEST(Hessian, OfALowDegreeFieldIsExact) {
    const Grid grid = Grid::gauss_legendre(6, 12);
    const ShtPlan plan(grid, options_of(4));
    const double radius = 2;
    MapArray field({1, 1, grid.n_pixels()}), want({1, 3, grid.n_pixels()});
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const auto p = ring.first_pixel + k;
            const double phi = ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                static_cast<double>(ring.n_pixels);
            const double s = ring.sin_theta, c = ring.cos_theta, sine = std::sin(2 * phi),
                         cosine = std::cos(2 * phi);
            field(0, 0, p) = c + s * s * sine;
            const double d_theta = -s + 2 * s * c * sine;
            want(0, 0, p) = (-c + 2 * (c * c - s * s) * sine) / (radius * radius);
            // (d_t d_p f - cot d_p f) / s, d_p f = 2 s^2 cos 2 phi, d_t d_p f = 4 s c cos 2 phi
            want(0, 1, p) = 2 * c * cosine / (radius * radius);
            want(0, 2, p) = (-4 * sine + c / s * d_theta) / (radius * radius);
        }
    const auto alm = quadrature(plan, field);
    EXPECT_LE(
        largest_difference(hessian_of({grid, options_of(4), VectorComponents::theta_phi, radius}, alm), want),
        20 * transform_rounding(4, 2));
    const auto turned = hessian_of({grid, options_of(4), VectorComponents::east_north, radius}, alm);
    for (std::int64_t p = 0; p < grid.n_pixels(); ++p) {
        EXPECT_NEAR(turned(0, 0, p), want(0, 2, p), 20 * transform_rounding(4, 2));
        EXPECT_NEAR(turned(0, 1, p), -want(0, 1, p), 20 * transform_rounding(4, 2));
        EXPECT_NEAR(turned(0, 2, p), want(0, 0, p), 20 * transform_rounding(4, 2));
    }
}

TEST(Hessian, HasTheLaplacianAsItsTrace) {
    for (const std::int64_t lmax : {0, 1, 2, 20}) {
        const Grid grid = Grid::healpix(8);
        const std::int64_t mmax = std::min<std::int64_t>(lmax, 6);
        const ShtPlan plan(grid, options_of(lmax, 0, mmax));
        auto alm = random_alm(plan.layout(), 2, 1, 1);
        const auto second =
            hessian_of({grid, options_of(lmax, 0, mmax), VectorComponents::theta_phi, 3}, alm);
        for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t m = 0; m <= mmax; ++m)
                for (auto l = m; l <= lmax; ++l)
                    alm(b, 0, plan.layout().index(l, m)) *= -static_cast<double>(l * (l + 1)) / 9;
        const auto laplacian = synthesis(plan, alm);
        const double size = static_cast<double>(lmax * (lmax + 1)) / 9;
        for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t p = 0; p < grid.n_pixels(); ++p)
                EXPECT_NEAR(second(b, 0, p) + second(b, 2, p), laplacian(b, 0, p),
                            20 * size * transform_rounding(lmax) + 1e-300);
    }
}

TEST(Hessian, AgreesWithDifferencesOfTheGradient) {
    const double h = 1e-4, theta = 1.1;
    const Grid grid = grid_of({{theta, 0.3, 5}}),
               around = grid_of(
                   {{theta - h, 0.3, 5}, {theta + h, 0.3, 5}, {theta, 0.3 - h, 5}, {theta, 0.3 + h, 5}});
    auto options = options_of(12);
    const HessianPlan plan(grid, options);
    options.parts = SpinParts::gradient;
    const VectorPlan gradient(around, options, {}), here(grid, options, {});
    const auto alm = random_alm(AlmLayout(12), 1, 1, 1);
    MapArray slopes({1, 2, 20}), own({1, 2, 5});
    gradient.synthesize<double>(alm.view(), slopes.view());
    here.synthesize<double>(alm.view(), own.view());
    const auto found = hessian_of(plan, alm);
    // Central differences err by h^2/6 f'''' ~ 1e-9 * 12^4 * rms 12.
    for (std::int64_t k = 0; k < 5; ++k) {
        const auto by_theta = [&](int c) { return (slopes(0, c, 5 + k) - slopes(0, c, k)) / (2 * h); };
        const auto by_phi = [&](int c) { return (slopes(0, c, 15 + k) - slopes(0, c, 10 + k)) / (2 * h); };
        EXPECT_NEAR(found(0, 0, k), by_theta(0), 1e-3);
        EXPECT_NEAR(found(0, 1, k), by_theta(1), 1e-3);  // e_phi does not turn along theta
        const double cot = std::cos(theta) / std::sin(theta);
        EXPECT_NEAR(found(0, 1, k), by_phi(0) / std::sin(theta) - cot * own(0, 1, k), 1e-3);
        EXPECT_NEAR(found(0, 2, k), by_phi(1) / std::sin(theta) + cot * own(0, 0, k), 1e-3);
    }
}

TEST(Hessian, LeavesOtherPixelsAsTheyAre) {
    const Grid part = Grid::healpix(4).subset({2, 3});
    const auto alm = random_alm(AlmLayout(5), 1, 1, 2);
    MapArray map({1, 3, part.n_pixels()});
    for (double& value : map) value = 7;
    HessianPlan(part, options_of(5)).synthesize<double>(alm.view(), map.view());
    for (std::int64_t c = 0; c < 3; ++c) {
        EXPECT_EQ(map(0, c, 0), 7);
        EXPECT_NE(map(0, c, part.rings()[0].first_pixel), 7);
        EXPECT_EQ(map(0, c, part.n_pixels() - 1), 7);
    }
}

TEST(Hessian, RejectsWhatItCannotDo) {
    const Grid grid = Grid::healpix(2);
    EXPECT_THROW(HessianPlan(grid, options_of(4, 1)), InvalidArgument);
    EXPECT_THROW(HessianPlan(grid, options_of(4), VectorComponents::theta_phi, 0), InvalidArgument);
    const HessianPlan plan(grid, options_of(4));
    const AlmArray alm({1, 1, 15}), two({1, 2, 15});
    MapArray map({1, 3, 48}), wrong({1, 2, 48}), short_map({1, 3, 47}), many({2, 3, 48});
    EXPECT_THROW(plan.synthesize<double>(two.view(), map.view()), InvalidArgument);
    for (auto* bad : {&wrong, &short_map, &many})
        EXPECT_THROW(plan.synthesize<double>(alm.view(), bad->view()), InvalidArgument);
    const ConstView<Complex, 3> on_device(alm.data(), alm.extents(), MemorySpace::cuda);
    EXPECT_THROW(plan.synthesize<double>(on_device, map.view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
