#include <gtest/gtest.h>

#include <functional>
#include <numbers>

#include "sht_helpers.hpp"

// The transform and its plain reference against harmonics written out by hand, so that both cannot share a
// wrong sign or factor.
namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

/// A harmonic of order m: its values at theta; the dependence on phi is exp(i m phi).
struct Harmonic {
    int l, m;
    std::function<double(double theta)> value;
};

// Jackson, Classical Electrodynamics (3rd ed.), section 3.5: Condon-Shortley phase.
const Harmonic scalar_harmonics[] = {
    {0, 0, [](double) { return std::sqrt(1 / (4 * pi)); }},
    {1, 0, [](double t) { return std::sqrt(3 / (4 * pi)) * std::cos(t); }},
    {1, 1, [](double t) { return -std::sqrt(3 / (8 * pi)) * std::sin(t); }},
    {2, 0, [](double t) { return std::sqrt(5 / (4 * pi)) * (1.5 * std::cos(t) * std::cos(t) - 0.5); }},
    {2, 1, [](double t) { return -std::sqrt(15 / (8 * pi)) * std::sin(t) * std::cos(t); }},
    {2, 2, [](double t) { return std::sqrt(15 / (32 * pi)) * std::sin(t) * std::sin(t); }},
    {3, 3, [](double t) { return -std::sqrt(35 / (64 * pi)) * std::pow(std::sin(t), 3); }},
};

const Grid& grid() {
    static const Grid rings = grid_of({{0, 0, 3}, {0.05, 1, 4}, {0.7, 0.3, 8}, {1.57, 0, 9}, {2.9, 2, 10}});
    return rings;
}

/// Value of the field of the alm (a at l, m; component c) at every pixel, by the fast transform and by the
/// reference, against expected(theta, phi) per component.
void expect_field(int spin, int l, int m, int component, Complex a,
                  const std::function<double(int, double, double)>& expected) {
    SCOPED_TRACE(::testing::Message() << "spin " << spin << ", l " << l << ", m " << m << ", " << component);
    const ShtPlan plan(grid(), options_of(3, spin));
    AlmArray alm({1, plan.alm_components(), plan.layout().size()});
    alm(0, component, plan.layout().index(l, m)) = a;
    const MapArray fast = synthesis(plan, alm);
    const MapArray plain = reference_synthesis(grid(), plan.layout(), spin, alm);
    for (int c = 0; c < plan.map_components(); ++c)
        for (const Ring& ring : grid().rings())
            for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
                const double phi = ring.phi_0 + 2 * pi * static_cast<double>(k) / double(ring.n_pixels);
                const double value = expected(c, ring.theta, phi);
                EXPECT_NEAR(fast(0, c, ring.first_pixel + k), value, 16 * eps);
                EXPECT_NEAR(plain(0, c, ring.first_pixel + k), value, 16 * eps);
            }
}

TEST(Sht, ScalarHarmonicsAreThoseOfTheTextbook) {
    for (const Harmonic& y : scalar_harmonics)
        for (const Complex a : {Complex(1, 0), Complex(0, 1)}) {
            if (y.m == 0 && a.imag() != 0) continue;
            // a Y + conj for m > 0: a real field has a_{l,-m} = (-1)^m conj(a_lm).
            expect_field(0, y.l, y.m, 0, a, [&](int, double theta, double phi) {
                const double once = (a * y.value(theta) * std::polar(1.0, y.m * phi)).real();
                return y.m == 0 ? once : 2 * once;
            });
        }
}

// Zaldarriaga & Seljak (1997), eq. 5 with Goldberg et al. (1967): 2Y_20 = sqrt(15/32pi) sin^2,
// 2Y_{2,+-2} = sqrt(5/64pi) (1 -+ cos)^2 e^{+-2 i phi}; Q + iU = - sum (E + iB) 2Y.
TEST(Sht, SpinTwoHarmonicsAreThoseOfTheTextbook) {
    for (const int component : {0, 1}) {
        const Complex unit = component == 0 ? Complex(1, 0) : Complex(0, 1);
        expect_field(2, 2, 0, component, 1, [&](int c, double theta, double) {
            const Complex p = -unit * std::sqrt(15 / (32 * pi)) * std::sin(theta) * std::sin(theta);
            return c == 0 ? p.real() : p.imag();
        });
        for (const Complex a : {Complex(1, 0), Complex(0, 1)})
            expect_field(2, 2, 2, component, a, [&](int c, double theta, double phi) {
                const double norm = std::sqrt(5 / (64 * pi)), x = std::cos(theta);
                const Complex p = -unit * (a * std::polar(norm * (1 - x) * (1 - x), 2 * phi) +
                                           std::conj(a) * std::polar(norm * (1 + x) * (1 + x), -2 * phi));
                return c == 0 ? p.real() : p.imag();
            });
    }
}

// With E = sqrt(l(l+1)) a, B = 0 of spin 1: Q = df/dtheta, U = df/dphi / sin theta.
TEST(Sht, SpinOneGradientIsTheDerivative) {
    const double norm = -std::sqrt(15 / (8 * pi));  // of Y_21
    expect_field(1, 2, 1, 0, std::sqrt(6.0), [&](int c, double theta, double phi) {
        return c == 0 ? 2 * norm * std::cos(2 * theta) * std::cos(phi)
                      : -2 * norm * std::cos(theta) * std::sin(phi);
    });
}

}  // namespace
}  // namespace zonal::test
