#include <gtest/gtest.h>

#include <cmath>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/derivatives.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::test {
namespace {

ShtOptions gradient_options(std::int64_t lmax) {
    auto options = options_of(lmax, 1);
    options.parts = SpinParts::gradient;
    return options;
}

/// f = 2 + cos theta + sin theta cos phi + sin^2 theta sin 2 phi has the derivatives that one writes down.
TEST(Gradient, OfALowDegreeFieldIsExact) {
    const Grid grid = Grid::gauss_legendre(6, 12);
    const ShtPlan plan(grid, options_of(4)), gradient(grid, gradient_options(4));
    MapArray field({1, 1, grid.n_pixels()}), want({1, 2, grid.n_pixels()}), found(want.extents());
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const auto p = ring.first_pixel + k;
            const double phi = ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                static_cast<double>(ring.n_pixels);
            const double s = ring.sin_theta, c = ring.cos_theta;
            field(0, 0, p) = 2 + c + s * std::cos(phi) + s * s * std::sin(2 * phi);
            want(0, 0, p) = -s + c * std::cos(phi) + 2 * s * c * std::sin(2 * phi);
            want(0, 1, p) = -std::sin(phi) + 2 * s * std::cos(2 * phi);
        }
    const auto alm = quadrature(plan, field);
    synthesize_gradient<double>(gradient, alm.view(), found.view());
    EXPECT_LE(largest_difference(found, want), 20 * transform_rounding(4));
}

TEST(Gradient, AgreesWithDifferencesOfTheField) {
    const double h = 1e-4;
    const Grid grid = grid_of({{1.1, 0.3, 5}}),
               around = grid_of({{1.1 - h, 0.3, 5}, {1.1 + h, 0.3, 5}, {1.1, 0.3 - h, 5}, {1.1, 0.3 + h, 5}});
    const ShtPlan gradient(grid, gradient_options(12)), plan(around, options_of(12));
    const auto alm = random_alm(plan.layout(), 2, 1, 1);
    MapArray found({2, 2, 5});
    synthesize_gradient<double>(gradient, alm.view(), found.view());
    const auto field = synthesis(plan, alm);
    // Central differences err by h^2/6 f''' ~ 1e-9 * 12^3 * rms 12.
    for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t k = 0; k < 5; ++k) {
            EXPECT_NEAR(found(b, 0, k), (field(b, 0, 5 + k) - field(b, 0, k)) / (2 * h), 1e-4);
            EXPECT_NEAR(found(b, 1, k), (field(b, 0, 15 + k) - field(b, 0, 10 + k)) / (2 * h * std::sin(1.1)),
                        1e-4);
        }
}

TEST(Gradient, RejectsOtherPlans) {
    const Grid grid = Grid::healpix(2);
    const ShtPlan plan(grid, options_of(4)), both(grid, options_of(4, 1)),
        gradient(grid, gradient_options(4));
    const AlmArray alm({1, 1, 15});
    MapArray map({1, 2, 48});
    EXPECT_THROW(synthesize_gradient<double>(plan, alm.view(), map.view()), InvalidArgument);
    EXPECT_THROW(synthesize_gradient<double>(both, alm.view(), map.view()), InvalidArgument);
    MapArray wrong({1, 1, 48});
    EXPECT_THROW(synthesize_gradient<double>(gradient, alm.view(), wrong.view()), InvalidArgument);
}

TEST(Gradient, RejectsCoefficientsInDeviceMemory) {
    const ShtPlan gradient(Grid::healpix(2), gradient_options(4));
    const AlmArray alm({1, 1, 15});
    MapArray map({1, 2, 48});
    const ConstView<std::complex<double>, 3> on_device(alm.data(), alm.extents(), MemorySpace::cuda);
    try {
        synthesize_gradient<double>(gradient, on_device, map.view());
        FAIL() << "took device memory";
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ("alm: is in device memory: must be in host memory, where it is multiplied",
                     error.what());
    }
}

}  // namespace
}  // namespace zonal::test
