#include <gtest/gtest.h>

#include <numbers>

#include "sht_helpers.hpp"

namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

/// C_l of one map and component.
std::vector<double> spectrum(const AlmLayout& layout, const AlmArray& alm, std::int64_t c) {
    std::vector<double> c_l(layout.lmax() + 1, 0.0);
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        for (std::int64_t l = m; l <= layout.lmax(); ++l)
            c_l[l] +=
                (m == 0 ? 1 : 2) * std::norm(alm(0, c, layout.index(l, m))) / static_cast<double>(2 * l + 1);
    return c_l;
}

/// Turning the sky by a whole number of pixels moves the map along its rings and keeps C_l.
TEST(ShtSymmetry, RotationAboutTheAxisKeepsSpectra) {
    const std::int64_t n_phi = 66, shift = 17, lmax = 32;
    const Grid grid = Grid::gauss_legendre(33, n_phi);
    for (const int spin : {0, 1, 2, 3}) {
        const ShtPlan plan(grid, options_of(lmax, spin));
        AlmArray alm = random_spin_alm(plan.layout(), 1, plan.alm_components(), spin, 1);
        const MapArray map = synthesis(plan, alm);
        MapArray turned(map.extents());
        for (std::int64_t c = 0; c < map.extent(1); ++c)
            for (const Ring& ring : grid.rings())
                for (std::int64_t k = 0; k < n_phi; ++k)
                    turned(0, c, ring.first_pixel + (k + shift) % n_phi) = map(0, c, ring.first_pixel + k);
        const AlmArray turned_alm = quadrature(plan, turned);
        for (std::int64_t c = 0; c < alm.extent(1); ++c) {
            const auto before = spectrum(plan.layout(), alm, c),
                       after = spectrum(plan.layout(), turned_alm, c);
            EXPECT_LE(scaled_difference(after, before), transform_rounding(lmax, spin));
        }
        // a_lm exp(-i m angle)
        const double angle = 2 * pi * static_cast<double>(shift) / static_cast<double>(n_phi);
        for (std::int64_t c = 0; c < alm.extent(1); ++c)
            for (std::int64_t m = 0; m <= lmax; ++m)
                for (std::int64_t l = m; l <= lmax; ++l)
                    alm(0, c, plan.layout().index(l, m)) *= std::polar(1.0, -static_cast<double>(m) * angle);
        EXPECT_LE(scaled_difference(turned_alm, alm), transform_rounding(lmax, spin));
    }
}

/// Turned by any angle, as first longitudes have it.
TEST(ShtSymmetry, FirstLongitudeTurnsTheSky) {
    const std::int64_t lmax = 20;
    const double angle = 1.234;
    for (const int spin : {0, 2}) {
        const ShtPlan plain(Grid::gauss_legendre(21, 42), options_of(lmax, spin)),
            turned(Grid::gauss_legendre(21, 42, angle), options_of(lmax, spin));
        AlmArray alm = random_alm(plain.layout(), 1, plain.alm_components(), 2);
        const MapArray expected = synthesis(turned, alm);
        for (std::int64_t c = 0; c < alm.extent(1); ++c)
            for (std::int64_t m = 0; m <= lmax; ++m)
                for (std::int64_t l = m; l <= lmax; ++l)
                    alm(0, c, plain.layout().index(l, m)) *= std::polar(1.0, static_cast<double>(m) * angle);
        EXPECT_LE(scaled_difference(synthesis(plain, alm), expected), transform_rounding(lmax, spin));
    }
}

/// Y_lm(pi - theta) = (-1)^(l+m) Y_lm(theta), and for spin s the same with Q, U of sign (-1)^s, E and B of
/// opposite parity: the sky seen in a mirror in the equator.
TEST(ShtSymmetry, MirrorInTheEquatorIsTheParityOfCoefficients) {
    const std::int64_t lmax = 20;
    const Grid grid = Grid::gauss_legendre(31, 42);
    for (const int spin : {0, 1, 2, 3}) {
        const ShtPlan plan(grid, options_of(lmax, spin));
        AlmArray alm = random_alm(plan.layout(), 1, plan.alm_components(), 3);
        const MapArray map = synthesis(plan, alm);
        for (std::int64_t c = 0; c < alm.extent(1); ++c)
            for (std::int64_t m = 0; m <= lmax; ++m)
                for (std::int64_t l = m; l <= lmax; ++l)
                    if ((l + m + spin + c) % 2 != 0) alm(0, c, plan.layout().index(l, m)) *= -1;
        MapArray mirror = synthesis(plan, alm);
        // The recurrences are the same; the sums and FFTs round anew.
        const double rounding = sharp_transform_rounding(lmax) * largest(map);
        for (std::int64_t c = 0; c < map.extent(1); ++c)
            for (std::size_t r = 0; r < grid.rings().size(); ++r) {
                const Ring &north = grid.rings()[r], &south = grid.rings()[grid.rings().size() - 1 - r];
                for (std::int64_t k = 0; k < north.n_pixels; ++k)
                    EXPECT_NEAR(mirror(0, c, south.first_pixel + k),
                                (c == 0 ? 1 : -1) * map(0, c, north.first_pixel + k), rounding);
            }
    }
}

/// A delta function at the pole has a_l0 = Y_l0 = sqrt((2l+1)/4pi) and nothing else; its synthesis is
/// sum_l (2l+1)/4pi P_l, which is ((lmax+1)^2)/4pi at the pole.
TEST(ShtSymmetry, DeltaFunctionAtThePoleHasOnlyZonalCoefficients) {
    const std::int64_t lmax = 64;
    const Grid pole = grid_of({{0, 0.3, 1}});
    const ShtPlan plan(pole, options_of(lmax));
    MapArray delta({1, 1, 1});
    delta(0, 0, 0) = 1;
    const AlmArray alm = adjoint(plan, delta);
    for (std::int64_t m = 0; m <= lmax; ++m)
        for (std::int64_t l = m; l <= lmax; ++l)
            EXPECT_NEAR(std::abs(alm(0, 0, plan.layout().index(l, m)) -
                                 (m == 0 ? std::sqrt(static_cast<double>(2 * l + 1) / (4 * pi)) : 0.0)),
                        0, sharp_transform_rounding(lmax) * 4);
    const double peak = static_cast<double>((lmax + 1) * (lmax + 1)) / (4 * pi);
    EXPECT_NEAR(synthesis(plan, alm)(0, 0, 0) / peak, 1, sharp_transform_rounding(lmax));
}

/// Anywhere, the delta function's synthesis at its own place is sum_l (2l+1)/4pi (the addition theorem), for
/// the trace over both components of a spin field without the degrees below the spin.
TEST(ShtSymmetry, DeltaFunctionsObeyTheAdditionTheorem) {
    const std::int64_t lmax = 50;
    for (const double theta : {1e-6, 0.05, 0.3, 1.2, pi / 2, 2.8})
        for (const int spin : {0, 1, 2, 3, 9}) {
            const ShtPlan plan(grid_of({{theta, 0.3, 1}}), options_of(lmax, spin));
            double trace = 0;
            for (std::int64_t c = 0; c < plan.map_components(); ++c) {
                MapArray delta({1, plan.map_components(), 1});
                delta(0, c, 0) = 1;
                trace += synthesis(plan, adjoint(plan, delta))(0, c, 0);
            }
            const double degrees = static_cast<double>((lmax + 1) * (lmax + 1) - spin * spin);
            EXPECT_NEAR(trace / (degrees * plan.map_components() / (4 * pi)), 1,
                        transform_rounding(lmax, spin))
                << "theta " << theta << " spin " << spin;
        }
}

TEST(ShtSymmetry, TransformsAreLinear) {
    const Grid grid = Grid::healpix(8);
    for (const int spin : {0, 2, 3}) {
        const ShtPlan plan(grid, options_of(20, spin));
        const AlmArray a = random_alm(plan.layout(), 1, plan.alm_components(), 1),
                       b = random_alm(plan.layout(), 1, plan.alm_components(), 2);
        AlmArray sum = a;
        for (std::int64_t k = 0; k < a.size(); ++k) sum.data()[k] = 3.0 * a.data()[k] - 0.5 * b.data()[k];
        const MapArray of_a = synthesis(plan, a), of_b = synthesis(plan, b);
        MapArray expected = of_a;
        for (std::int64_t k = 0; k < of_a.size(); ++k)
            expected.data()[k] = 3.0 * of_a.data()[k] - 0.5 * of_b.data()[k];
        EXPECT_LE(scaled_difference(synthesis(plan, sum), expected), transform_rounding(20, spin));

        const AlmArray back_a = adjoint(plan, of_a), back_b = adjoint(plan, of_b);
        for (std::int64_t k = 0; k < sum.size(); ++k)
            sum.data()[k] = 3.0 * back_a.data()[k] - 0.5 * back_b.data()[k];
        EXPECT_LE(scaled_difference(adjoint(plan, expected), sum), transform_rounding(20, spin));
        // Powers of two scale without rounding.
        AlmArray doubled = a;
        for (Complex& value : doubled) value *= 2;
        MapArray twice = of_a;
        for (double& value : twice) value *= 2;
        EXPECT_EQ(largest_difference(synthesis(plan, doubled), twice), 0);
        for (Complex& value : doubled) value = 0;
        EXPECT_EQ(largest(synthesis(plan, doubled)), 0);
    }
}

/// A subset of a grid's rings: what a ring holds does not depend on the others, but the block of rings that
/// it is computed with may take another recurrence.
TEST(ShtSymmetry, RingSubsetEqualsTheFullTransformsRings) {
    const Grid full = Grid::healpix(16);
    for (const int spin : {0, 1, 2, 3}) {
        const ShtPlan whole(full, options_of(40, spin));
        const AlmArray alm = random_alm(whole.layout(), 1, whole.alm_components(), 4);
        const MapArray map = synthesis(whole, alm);
        const MapArray noise = random_map(full, 1, whole.map_components(), 5);
        AlmArray sum(alm.extents());
        for (const auto& indices : {std::vector<std::int64_t>{40, 3, 62, 0, 31}, {5}, {30, 31, 32}}) {
            const Grid part = full.subset(indices);
            const ShtPlan plan(part, options_of(40, spin));
            const MapArray partial = synthesis(plan, alm);
            for (const Ring& ring : part.rings())
                for (std::int64_t c = 0; c < map.extent(1); ++c)
                    for (std::int64_t k = ring.first_pixel; k < ring.first_pixel + ring.n_pixels; ++k)
                        EXPECT_NEAR(partial(0, c, k), map(0, c, k),
                                    transform_rounding(40, spin) * largest(map));
        }
        // The adjoint of the whole is the sum over the parts.
        std::vector<std::int64_t> even, odd;
        for (std::int64_t r = 0; r < full.n_rings(); ++r) (r % 2 == 0 ? even : odd).push_back(r);
        for (const auto& indices : {even, odd}) {
            const AlmArray part = adjoint(ShtPlan(full.subset(indices), options_of(40, spin)), noise);
            for (std::int64_t k = 0; k < sum.size(); ++k) sum.data()[k] += part.data()[k];
        }
        EXPECT_LE(scaled_difference(adjoint(whole, noise), sum), transform_rounding(40, spin));
    }
}

}  // namespace
}  // namespace zonal::test
