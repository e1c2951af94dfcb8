#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lensing_helpers.hpp"
#include "points/lensing/displacement_math.hpp"
#include "points/lensing/lensing.hpp"

namespace zonal::test {
namespace {

/// <values, lensed sky>
double loss(const Points& points, bool on_grid, const AlmLayout& layout, const PotentialArray& potentials,
            const AlmArray& sky, const MapArray& values, double error) {
    const auto options = lensing_options(16, static_cast<int>(sky.extent(1)), error);
    const auto of = potentials_of(layout, potentials);
    const auto lensing = on_grid ? Lensing(points.grid(), of, options)
                                 : Lensing(points.theta_view(), points.phi_view(), of, options);
    return dot(values, lensed(lensing, sky));
}

PotentialArray moved(const PotentialArray& from, const PotentialArray& way, double by) {
    auto result = from;
    for (std::int64_t i = 0; i < from.size(); ++i) result.data()[i] += by * way.data()[i];
    return result;
}

TEST(LensingGradient, IsThatOfDifferences) {
    const AlmLayout layout(16), of_potential(10);
    const Points points = points_and_poles(60, 4);
    for (const int components : {1, 2, 3})
        for (const std::int64_t rows : {1, 2})
            for (const bool on_grid : {true, false}) {
                const auto potentials = random_potentials(of_potential, rows, 0.1, 3),
                           way = random_potentials(of_potential, rows, 1, 5);
                const AlmArray sky = random_sky(layout, 2, components, 7);
                const MapArray values = random_values(2, components, points.size(), 9);
                constexpr double error = 3e-13;
                const auto at = [&](double h) {
                    return loss(points, on_grid, of_potential, moved(potentials, way, h), sky, values, error);
                };
                // Errors of differences over five points: rounding 3e-13 size / h, and h^4 lmax^5 / 30, both
                // 1e-9 to 1e-8 of the gradient at h = 3e-4.
                constexpr double h = 3e-4;
                const double wanted = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
                const Lensing lensing = on_grid
                                            ? Lensing(points.grid(), potentials_of(of_potential, potentials),
                                                      lensing_options(16, components, error))
                                            : Lensing(points.theta_view(), points.phi_view(),
                                                      potentials_of(of_potential, potentials),
                                                      lensing_options(16, components, error));
                PotentialArray gradient({rows, of_potential.size()});
                lensing.differentiate<double>(sky.view(), values.view(), gradient.view());
                double made = 0, size = 0;
                for (std::int64_t row = 0; row < rows; ++row)
                    for (std::int64_t i = 0; i < of_potential.size(); ++i) {
                        const double term = (i <= of_potential.lmax() ? 1 : 2) *
                                            (std::conj(gradient(row, i)) * way(row, i)).real();
                        made += term;
                        size += std::abs(term);
                    }
                // What differences err by, see above: 1e-9 to 1e-8.
                EXPECT_NEAR(made, wanted, 1e-8 * size)
                    << components << " components, " << rows << " potentials, grid " << on_grid;
                for (std::int64_t row = 0; row < rows; ++row) EXPECT_EQ(gradient(row, 0), Complex(0));
            }
}

/// The formulas alone, for each spin: fields by direct sums, so that differences are right to 1e-11.
TEST(DeflectionSlopes, AreThoseOfDifferences) {
    const AlmLayout layout(12);
    const Points points = random_points(40, 4);
    for (const int spin : {0, 1, 2, 3}) {
        const std::int64_t components = spin == 0 ? 1 : 2;
        const AlmArray sky = random_spin_alm(layout, 1, components, spin, 7);
        const auto at = [&](double dt, double dp) {
            Points moved;
            std::vector<Complex> turns;
            for (std::size_t i = 0; i < points.theta.size(); ++i) {
                // Some of no deflection at all.
                const double size = i % 8 == 0 ? 0 : 0.1;
                const auto to = points::displaced(points.theta[i], points.phi[i],
                                                  size * std::cos(static_cast<double>(i)) + dt,
                                                  size * std::sin(static_cast<double>(i)) + dp);
                moved.add(to.theta, to.phi);
                turns.emplace_back(to.cos_gamma, to.sin_gamma);
            }
            const MapArray field = direct_values(moved, layout, spin, sky);
            std::vector<Complex> values;
            for (std::int64_t i = 0; i < moved.size(); ++i)
                values.push_back(Complex(field(0, 0, i), spin == 0 ? 0 : field(0, 1, i)) *
                                 std::pow(turns[static_cast<std::size_t>(i)], spin));
            return std::tuple(values, moved, turns);
        };
        const auto [lensed, moved, turns] = at(0, 0);
        const points::EthFields fields(layout, spin, sky.view(), 1e-13, moved.theta_view(), moved.phi_view(),
                                       1, Device::cpu());
        const points::EthValues eth = fields.values();
        constexpr double h = 1e-3;
        const auto difference = [&](bool by_phi) {
            const auto value = [&](double step) { return std::get<0>(by_phi ? at(0, step) : at(step, 0)); };
            const auto a = value(h), b = value(-h), c = value(2 * h), d = value(-2 * h);
            std::vector<Complex> slopes;
            for (std::size_t i = 0; i < a.size(); ++i)
                slopes.push_back((8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h));
            return slopes;
        };
        const auto by_theta = difference(false), by_phi = difference(true);
        double most = 0;
        for (const Complex& value : lensed) most = larger(most, std::abs(value));
        for (std::size_t i = 0; i < lensed.size(); ++i) {
            const double size = i % 8 == 0 ? 0 : 0.1, angle = static_cast<double>(i);
            const auto k = static_cast<std::int64_t>(i);
            const auto made = points::slopes_by_deflection(
                spin, {lensed[i].real(), lensed[i].imag()}, eth.along_theta(k), eth.along_phi(k),
                size * std::cos(angle), size * std::sin(angle), {turns[i].real(), turns[i].imag()});
            // h^4 / 30 times a fifth derivative, at most lmax^5 max |f|: 8e-9; rounding 1e-15 / h is less.
            EXPECT_LT(std::abs(Complex(made.by_theta.re, made.by_theta.im) - by_theta[i]), 1e-8 * most)
                << spin << ", " << i;
            EXPECT_LT(std::abs(Complex(made.by_phi.re, made.by_phi.im) - by_phi[i]), 1e-8 * most)
                << spin << ", " << i;
        }
    }
}

}  // namespace
}  // namespace zonal::test
