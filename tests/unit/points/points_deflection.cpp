#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/points/deflection.hpp"

// Where a tangent field takes points, beside vectors that are turned.
namespace zonal {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector along_theta(double theta, double phi) {
    return {std::cos(theta) * std::cos(phi), std::cos(theta) * std::sin(phi), -std::sin(theta)};
}
Vector along_phi(double phi) {
    return {-std::sin(phi), std::cos(phi), 0};
}
Vector outwards(double theta, double phi) {
    return {std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)};
}

TEST(Deflection, EndsWhereTheGreatCircleDoes) {
    for (const double theta : {0.02, 0.9, std::numbers::pi / 2, 3.1})
        for (const double phi : {0.0, 2.0, 6.0})
            for (const double length : {1e-7, 0.01, 0.7, 2.5})
                for (const double angle : {0.0, 0.4, 2.0, 3.1, 4.0}) {
                    const double d_theta = length * std::cos(angle), d_phi = length * std::sin(angle);
                    const auto end = deflect(theta, phi, d_theta, d_phi);
                    const Vector n = outwards(theta, phi), east = along_phi(phi),
                                 south = along_theta(theta, phi);
                    Vector expected, direction, arrived;
                    for (int i = 0; i < 3; ++i) {
                        direction[i] = std::cos(angle) * south[i] + std::sin(angle) * east[i];
                        expected[i] = std::cos(length) * n[i] + std::sin(length) * direction[i];
                        arrived[i] = std::cos(length) * direction[i] - std::sin(length) * n[i];
                    }
                    const Vector found = outwards(end.theta, end.phi);
                    for (int i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 2e-15);
                    EXPECT_GE(end.phi, 0);
                    EXPECT_LT(end.phi, 2 * std::numbers::pi);
                    // psi - psi', the directions of the way against e_theta at its ends.
                    const double psi = std::atan2(dot(arrived, along_phi(end.phi)),
                                                  dot(arrived, along_theta(end.theta, end.phi)));
                    // An angle at the end is known to eps / sin(theta').
                    const double within = 8e-15 / std::max(1e-3, std::sin(end.theta));
                    EXPECT_NEAR(std::abs(std::polar(1.0, angle - psi) - std::polar(1.0, end.rotation)), 0,
                                within);
                }
}

TEST(Deflection, ReferenceValues) {
    // The reference of the field that lenses the test coefficients (spherical harmonics up to l = 8, mpmath).
    const auto end = deflect(0.3, 1, -0.01583236407181491, 0.01070649257482849);
    EXPECT_NEAR(end.theta, 0.2843631813976234, 1e-15);
    EXPECT_NEAR(end.phi, 1.038169964138723, 3e-15);
    EXPECT_NEAR(end.rotation, 0.03655372089645032, 3e-15);
}

TEST(Deflection, OfNothingIsNothing) {
    for (const double theta : {0.0, 0.5, std::numbers::pi}) {
        const auto end = deflect(theta, 1, 0, 0);
        EXPECT_EQ(end.theta, theta);
        EXPECT_NEAR(end.phi, 1, 3e-16);
        EXPECT_EQ(end.rotation, 0);
    }
}

TEST(Deflection, OfAGridIsThatOfItsPixels) {
    const Grid grid = Grid::healpix(4).subset({0, 3, 9, 14});
    Array<double, 2> ways({grid.n_pixels(), 2}), found({grid.n_pixels(), 3});
    for (std::int64_t p = 0; p < grid.n_pixels(); ++p) {
        ways(p, 0) = 0.1 * std::sin(double(p));
        ways(p, 1) = 0.2 * std::cos(3.0 * double(p));
        found(p, 0) = -5;
    }
    deflect<double>(grid, {}, ways.view(), found.view(), 3);
    std::int64_t seen = 0;
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k, ++seen) {
            const std::int64_t p = ring.first_pixel + k;
            const double phi = ring.phi_0 + double(k) * (2 * std::numbers::pi / double(ring.n_pixels));
            const auto end = deflect(ring.theta, phi, ways(p, 0), ways(p, 1));
            EXPECT_NEAR(found(p, 0), end.theta, 2e-15);
            EXPECT_NEAR(std::abs(std::polar(1.0, found(p, 1)) - std::polar(1.0, end.phi)), 0, 1e-14);
            EXPECT_NEAR(found(p, 2), end.rotation, 1e-14);
            found(p, 0) = -5;
        }
    EXPECT_LT(seen, grid.n_pixels());
    for (std::int64_t p = 0; p < grid.n_pixels(); ++p) EXPECT_EQ(found(p, 0), -5);  // all others stayed
}

TEST(Deflection, ValuesTurnByTheSpin) {
    const std::vector<double> rotation{0.0, 0.5, -2.0};
    std::vector<std::complex<double>> values{{1, 2}, {1, 0}, {0, 1}};
    const auto before = values;
    turn<double>(-3, {rotation.data(), {3}}, {values.data(), {3}}, 1);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(std::abs(values[i] - before[i] * std::polar(1.0, -3 * rotation[i])), 0, 1e-15);
}

TEST(Deflection, RejectsShapesThatDoNotFit) {
    const Grid grid = Grid::healpix(1);
    const Array<double, 2> ways({12, 2}), wide({12, 3});
    Array<double, 2> found({12, 2}), four({12, 4}), few({11, 2});
    EXPECT_THROW(deflect<double>(grid, {}, wide.view(), found.view()), InvalidArgument);
    EXPECT_THROW(deflect<double>(grid, {}, ways.view(), four.view()), InvalidArgument);
    EXPECT_THROW(deflect<double>(grid, {}, ways.view(), few.view()), InvalidArgument);
    const std::vector<double> step(2);
    EXPECT_THROW(deflect<double>(grid, {step.data(), {2}}, ways.view(), found.view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal
