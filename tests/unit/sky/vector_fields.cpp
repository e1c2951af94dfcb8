#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/vector_fields.hpp"

namespace zonal::test {
namespace {

using Components = VectorComponents;
using Scalars = VectorScalars;

ShtOptions parts_of(std::int64_t lmax, SpinParts parts, std::int64_t mmax = -1) {
    auto options = options_of(lmax, 0, mmax);
    options.parts = parts;
    return options;
}

double longitude(const Ring& ring, std::int64_t k) {
    return ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(ring.n_pixels);
}

/// A map of two components of functions of cos, sin of theta and of phi.
using Function = std::function<double(double, double, double)>;
MapArray map_of(const Grid& grid, const std::vector<Function>& functions) {
    MapArray map({1, static_cast<std::int64_t>(functions.size()), grid.n_pixels()});
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k)
            for (std::size_t c = 0; c < functions.size(); ++c)
                map(0, static_cast<std::int64_t>(c), ring.first_pixel + k) =
                    functions[c](ring.cos_theta, ring.sin_theta, longitude(ring, k));
    return map;
}

/// alm of scalar functions, [1, functions, n_alm].
AlmArray alm_of(const Grid& grid, std::int64_t lmax, const std::vector<Function>& functions) {
    const ShtPlan plan(grid, options_of(lmax));
    AlmArray alm({1, static_cast<std::int64_t>(functions.size()), plan.layout().size()});
    for (std::size_t c = 0; c < functions.size(); ++c) {
        const auto one = quadrature(plan, map_of(grid, {functions[c]}));
        for (std::int64_t i = 0; i < one.size(); ++i) alm(0, static_cast<std::int64_t>(c), i) = one(0, 0, i);
    }
    return alm;
}

MapArray vectors_of(const VectorPlan& plan, const AlmArray& alm) {
    MapArray map({alm.extent(0), 2, plan.transform().grid().n_pixels()});
    plan.synthesize<double>(alm.view(), map.view());
    return map;
}

AlmArray scalars_of(const VectorPlan& plan, const MapArray& map) {
    AlmArray alm({map.extent(0), plan.transform().alm_components(), plan.transform().layout().size()});
    plan.analyze<double>(map.view(), alm.view());
    return alm;
}

const Grid small_grid = Grid::gauss_legendre(6, 12);

/// f = 2 + cos theta + sin theta cos phi + sin^2 theta sin 2 phi has the derivatives that one writes down.
double field(double c, double s, double phi) {
    return 2 + c + s * std::cos(phi) + s * s * std::sin(2 * phi);
}
double d_theta(double c, double s, double phi) {
    return -s + c * std::cos(phi) + 2 * s * c * std::sin(2 * phi);
}
double d_phi(double, double s, double phi) {
    return -std::sin(phi) + 2 * s * std::cos(2 * phi);
}

TEST(VectorField, GradientOfALowDegreeFieldIsExact) {
    const VectorPlan plan(small_grid, parts_of(4, SpinParts::gradient), {.radius = 4});
    const auto found = vectors_of(plan, alm_of(small_grid, 4, {field}));
    const auto want =
        map_of(small_grid, {[](double c, double s, double phi) { return d_theta(c, s, phi) / 4; },
                            [](double c, double s, double phi) { return d_phi(c, s, phi) / 4; }});
    EXPECT_LE(largest_difference(found, want), 20 * transform_rounding(4));
}

TEST(VectorField, CurlIsTheGradientTurnedCounterClockwise) {
    const VectorPlan plan(small_grid, parts_of(4, SpinParts::curl), {});
    const auto found = vectors_of(plan, alm_of(small_grid, 4, {field}));
    const auto want =
        map_of(small_grid, {[](double c, double s, double phi) { return -d_phi(c, s, phi); }, d_theta});
    EXPECT_LE(largest_difference(found, want), 20 * transform_rounding(4));
}

TEST(VectorField, GradientAgreesWithDifferencesOfTheField) {
    const double h = 1e-4;
    const Grid grid = grid_of({{1.1, 0.3, 5}}),
               around = grid_of({{1.1 - h, 0.3, 5}, {1.1 + h, 0.3, 5}, {1.1, 0.3 - h, 5}, {1.1, 0.3 + h, 5}});
    const VectorPlan gradient(grid, parts_of(12, SpinParts::gradient), {});
    const ShtPlan plan(around, options_of(12));
    const auto alm = random_alm(plan.layout(), 2, 1, 1);
    const auto found = vectors_of(gradient, alm), values = synthesis(plan, alm);
    // Central differences err by h^2/6 f''' ~ 1e-9 * 12^3 * rms 12.
    for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t k = 0; k < 5; ++k) {
            EXPECT_NEAR(found(b, 0, k), (values(b, 0, 5 + k) - values(b, 0, k)) / (2 * h), 1e-4);
            EXPECT_NEAR(found(b, 1, k),
                        (values(b, 0, 15 + k) - values(b, 0, 10 + k)) / (2 * h * std::sin(1.1)), 1e-4);
        }
}

/// u = U cos(latitude) has vorticity 2 U / R sin(latitude), no divergence, stream function -U R
/// sin(latitude).
TEST(VectorField, SolidBodyRotationHasItsVorticity) {
    const double speed = 30, radius = 6371e3;
    const auto wind = map_of(small_grid, {[&](double, double s, double) { return speed * s; },
                                          [](double, double, double) { return 0.; }});
    const auto zero = [](double, double, double) { return 0.; };
    const auto expect = [&](Scalars scalars, double of_radius, const Function& second) {
        const VectorPlan plan(small_grid, options_of(4), {scalars, Components::east_north, of_radius});
        const auto found = scalars_of(plan, wind), want = alm_of(small_grid, 4, {zero, second});
        double largest = 0;
        for (const auto& a : want) largest = std::max(largest, std::abs(a));
        EXPECT_LE(largest_difference(found, want), 20 * transform_rounding(4) * largest);
        const double off = largest_difference(vectors_of(plan, want), wind);
        EXPECT_LE(off, 20 * transform_rounding(4) * speed);
    };
    expect(Scalars::divergence_vorticity, radius,
           [&](double c, double, double) { return 2 * speed / radius * c; });
    expect(Scalars::potentials, radius, [&](double c, double, double) { return -speed * radius * c; });
    // SHTns: v_phi = -dT/dtheta
    expect(Scalars::spheroidal_toroidal, 1, [&](double c, double, double) { return speed * c; });
}

/// v = (sin theta, 0) southwards has divergence 2 cos theta / R and potential -R cos theta.
TEST(VectorField, FlowTowardsTheSouthHasItsDivergence) {
    const double radius = 3;
    const auto zero = [](double, double, double) { return 0.; };
    const auto flow = map_of(small_grid, {[](double, double s, double) { return s; }, zero});
    const auto found =
        scalars_of({small_grid, options_of(4), {Scalars::divergence_vorticity, {}, radius}}, flow);
    const auto want = alm_of(small_grid, 4, {[&](double c, double, double) { return 2 * c / radius; }, zero});
    EXPECT_LE(largest_difference(found, want), 20 * transform_rounding(4));
    const auto potentials = scalars_of({small_grid, options_of(4), {Scalars::potentials, {}, radius}}, flow);
    const auto chi = alm_of(small_grid, 4, {[&](double c, double, double) { return -radius * c; }, zero});
    EXPECT_LE(largest_difference(potentials, chi), 20 * radius * transform_rounding(4));
}

struct Case {
    Scalars scalars;
    Components components;
    double radius;
};

class VectorFieldOf : public ::testing::TestWithParam<Case> {};

TEST_P(VectorFieldOf, IsWhatItsScalarsAreMadeOf) {
    const auto [scalars, components, radius] = GetParam();
    const std::int64_t lmax = 30;
    const Grid grid = Grid::gauss_legendre(lmax + 1, 2 * lmax + 2, 0.2);
    for (const std::int64_t mmax : {lmax, std::int64_t{7}}) {
        const VectorPlan plan(grid, options_of(lmax, 0, mmax), {scalars, components, radius});
        auto alm = random_alm(plan.transform().layout(), 2, 2, 3);
        for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t c = 0; c < 2; ++c) alm(b, c, 0) = 0;
        // Coefficients of order 1 become fields with a factor up to l / R or R, which the way back takes off.
        EXPECT_LE(largest_difference(scalars_of(plan, vectors_of(plan, alm)), alm),
                  lmax * transform_rounding(lmax, 1));
    }
}

/// (u, v) = (v_phi, -v_theta), for both scalars and for each alone.
TEST_P(VectorFieldOf, HasItsComponentsTowardsEastAndNorth) {
    const auto [scalars, components, radius] = GetParam();
    const Grid grid = Grid::healpix(4);
    for (const SpinParts parts : {SpinParts::both, SpinParts::gradient, SpinParts::curl}) {
        const VectorPlan south(grid, parts_of(9, parts), {scalars, Components::theta_phi, radius}),
            east(grid, parts_of(9, parts), {scalars, Components::east_north, radius});
        const auto alm = random_alm(AlmLayout(9), 1, parts == SpinParts::both ? 2 : 1, 4);
        const auto found = vectors_of(south, alm), turned = vectors_of(east, alm);
        double largest = 0;
        for (const double v : found) largest = std::max(largest, std::abs(v));
        for (std::int64_t p = 0; p < grid.n_pixels(); ++p) {
            EXPECT_NEAR(turned(0, 0, p), found(0, 1, p), 20 * eps * largest);
            EXPECT_NEAR(turned(0, 1, p), -found(0, 0, p), 20 * eps * largest);
        }
    }
}

TEST_P(VectorFieldOf, IsTheSumOfItsParts) {
    const auto [scalars, components, radius] = GetParam();
    const Grid grid = Grid::healpix(4);
    const auto alm = random_alm(AlmLayout(9), 1, 2, 5);
    const auto both = vectors_of({grid, options_of(9), {scalars, components, radius}}, alm);
    MapArray sum(both.extents());
    for (const SpinParts parts : {SpinParts::gradient, SpinParts::curl}) {
        const std::int64_t c = parts == SpinParts::gradient ? 0 : 1;
        AlmArray one({1, 1, alm.extent(2)});
        for (std::int64_t i = 0; i < one.size(); ++i) one(0, 0, i) = alm(0, c, i);
        const VectorPlan plan(grid, parts_of(9, parts), {scalars, components, radius});
        const auto part = vectors_of(plan, one);
        for (std::int64_t i = 0; i < 2; ++i)
            for (std::int64_t p = 0; p < grid.n_pixels(); ++p) sum(0, i, p) += part(0, i, p);
    }
    EXPECT_LE(scaled_difference(both, sum), 4 * transform_rounding(9, 1));
}

INSTANTIATE_TEST_SUITE_P(Kinds, VectorFieldOf,
                         ::testing::Values(Case{Scalars::potentials, Components::theta_phi, 1},
                                           Case{Scalars::potentials, Components::east_north, 2.5},
                                           Case{Scalars::divergence_vorticity, Components::theta_phi, 0.5},
                                           Case{Scalars::divergence_vorticity, Components::east_north, 1},
                                           Case{Scalars::spheroidal_toroidal, Components::theta_phi, 1},
                                           Case{Scalars::spheroidal_toroidal, Components::east_north, 1}));

/// SHTns: v_theta = dS/dtheta + (1/sin theta) dT/dphi, v_phi = (1/sin theta) dS/dphi - dT/dtheta.
TEST(VectorField, OfSpheroidalAndToroidalPartsIsThatOfSHTns) {
    const VectorPlan plan(small_grid, options_of(4), {.scalars = Scalars::spheroidal_toroidal});
    const auto z = [](double c, double, double) { return c * c; };
    const auto found = vectors_of(plan, alm_of(small_grid, 4, {z, field}));
    const auto want =
        map_of(small_grid, {[](double c, double s, double phi) { return -2 * c * s + d_phi(c, s, phi); },
                            [](double c, double s, double phi) { return -d_theta(c, s, phi); }});
    EXPECT_LE(largest_difference(found, want), 20 * transform_rounding(4));
}

TEST(VectorField, LeavesOutTheMeanOfItsScalars) {
    AlmArray alm({1, 2, AlmLayout(3).size()});
    alm(0, 0, 0) = alm(0, 1, 0) = 5;
    for (const Scalars scalars :
         {Scalars::potentials, Scalars::divergence_vorticity, Scalars::spheroidal_toroidal})
        for (const double v : vectors_of({Grid::healpix(2), options_of(3), {.scalars = scalars}}, alm))
            EXPECT_EQ(v, 0);
}

TEST(VectorField, OfSinglePrecisionIsRoundedOnce) {
    const VectorPlan plan(Grid::healpix(2), options_of(5), {.scalars = Scalars::divergence_vorticity});
    const auto alm = random_alm(AlmLayout(5), 1, 2, 6);
    Array<std::complex<float>, 3> narrow(alm.extents());
    AlmArray wide(alm.extents());
    for (std::int64_t c = 0; c < 2; ++c)
        for (std::int64_t i = 0; i < alm.extent(2); ++i)
            wide(0, c, i) = Complex(narrow(0, c, i) = std::complex<float>(alm(0, c, i)));
    Array<float, 3> found({1, 2, 48});
    plan.synthesize<float>(narrow.view(), found.view());
    const auto want = vectors_of(plan, wide);
    // Coefficients and pixels are rounded, by half a unit each; 42 coefficients of order 1.
    for (std::int64_t c = 0; c < 2; ++c)
        for (std::int64_t p = 0; p < 48; ++p) EXPECT_NEAR(found(0, c, p), want(0, c, p), 42 * 0x1p-23);
}

template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "nothing";
}

TEST(VectorField, RejectsWhatItCannotDo) {
    const Grid grid = Grid::healpix(2);
    EXPECT_EQ(refusal([&] { VectorPlan(grid, options_of(4, 2), {}); }),
              "spin = 2: must be 1 for vectors, or 0, which stands for it");
    EXPECT_EQ(refusal([&] { VectorPlan(grid, options_of(0), {}); }),
              "lmax = 0: must be 1 or more for vectors, whose degrees begin at 1");
    for (const double radius : {0., -1., std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_THROW(VectorPlan(grid, options_of(4), {.radius = radius}), InvalidArgument);
    EXPECT_EQ(refusal([&] {
                  VectorPlan(grid, options_of(4), {Scalars::spheroidal_toroidal, {}, 2});
              }),
              "radius = 2: must be 1 for spheroidal and toroidal parts, which are those of the unit sphere");
    const VectorPlan both(grid, options_of(4), {}), gradient(grid, parts_of(4, SpinParts::gradient), {});
    const AlmArray one({1, 1, 15}), two({1, 2, 15});
    MapArray map({1, 2, 48}), wrong({1, 1, 48});
    EXPECT_THROW(both.synthesize<double>(one.view(), map.view()), InvalidArgument);
    EXPECT_THROW(gradient.synthesize<double>(two.view(), map.view()), InvalidArgument);
    EXPECT_THROW(gradient.synthesize<double>(one.view(), wrong.view()), InvalidArgument);
    const ConstView<Complex, 3> on_device(one.data(), one.extents(), MemorySpace::cuda);
    EXPECT_EQ(refusal([&] { gradient.synthesize<double>(on_device, map.view()); }),
              "alm: is in device memory: must be in host memory");
}

}  // namespace
}  // namespace zonal::test
