#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sht_helpers.hpp"
#include "zonal/analysis.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

AlmArray analysed(const ShtPlan& plan, const MapArray& map, const AnalysisOptions& options,
                  AnalysisReport* report = nullptr) {
    AlmArray alm({map.extent(0), plan.alm_components(), plan.layout().size()});
    const auto result = analyze<double>(plan, map.view(), alm.view(), options);
    if (report) *report = result;
    return alm;
}

AnalysisOptions iterations(int n) {
    AnalysisOptions options;
    options.iterations = n;
    return options;
}

AnalysisOptions tolerance(double value) {
    AnalysisOptions options;
    options.tolerance = value;
    return options;
}

/// Maps of nside 4 that other programs can make too: I, Q, U.
MapArray wavy_maps() {
    MapArray maps({3, 1, 192});
    for (int p = 0; p < 192; ++p) {
        const auto n = healpix::pix2vec(4, healpix::Order::ring, p);
        maps(0, 0, p) = std::cos(p * 0.37) + 2 + 0.5 * n[0] - n[2];
        maps(1, 0, p) = std::sin(p * 0.11);
        maps(2, 0, p) = std::cos(p * 0.23 + 1);
    }
    return maps;
}

double square_sum(const MapArray& map) {
    return std::inner_product(map.begin(), map.end(), map.begin(), 0.0);
}

struct Coefficient {
    std::int64_t component, l, m;
    Complex value;
};

TEST(Analysis, AgreesWithHealpyOfThreeIterations) {
    // healpy 1.20.1, map2alm(lmax=8, iter=3); 7 transforms, of sums over 192 pixels, which average
    const double close = 7 * sharp_transform_rounding(8);
    auto maps = wavy_maps();
    const ShtPlan plan(Grid::healpix(4), options_of(8)), spin_plan(Grid::healpix(4), options_of(8, 2));
    MapArray intensity({1, 1, 192}), polarisation({1, 2, 192});
    std::copy_n(maps.data(), 192, intensity.data());
    std::copy_n(maps.data() + 192, 384, polarisation.data());
    const auto t = analysed(plan, intensity, iterations(3)),
               eb = analysed(spin_plan, polarisation, iterations(3));
    const auto& layout = plan.layout();
    for (const auto& [c, l, m, value] : {Coefficient{0, 0, 0, 7.156065725149175},
                                         {0, 1, 1, {-1.2408165033094174, -0.6554515411321626}},
                                         {0, 5, 3, {0.004702927238882799, 0.03395124156034084}},
                                         {0, 8, 8, {-0.008436087613589676, 0.008174991064089941}},
                                         {0, 8, 0, 0.24874139204053003}})
        EXPECT_LE(std::abs(t(0, c, layout.index(l, m)) - value), close) << l << " " << m;
    for (const auto& [c, l, m, value] : {Coefficient{0, 2, 0, 0.008593276702955899},
                                         {0, 5, 3, {0.004648729768673818, -0.018580009943619205}},
                                         {0, 8, 8, {0.012321090793336233, -0.01667526946067986}},
                                         {1, 2, 0, 0.008330551478786195},
                                         {1, 5, 3, {0.024265721749106912, 0.009619639971537194}},
                                         {1, 8, 8, {-0.03401011640517415, -0.0319239360667969}}})
        // Of maps up to 1, whose coefficients here are some hundredths.
        EXPECT_LE(std::abs(eb(0, c, layout.index(l, m)) - value), close) << c << l << " " << m;
}

class OfSpin : public ::testing::TestWithParam<int> {};

TEST_P(OfSpin, JacobiIterationsConvergeToTheCoefficients) {
    const ShtPlan plan(Grid::healpix(8), options_of(12, GetParam()));
    const auto alm = random_spin_alm(plan.layout(), 2, plan.alm_components(), GetParam(), 1);
    AnalysisReport report;
    const auto found = analysed(plan, synthesis(plan, alm), iterations(12), &report);
    // At lmax = 1.5 nside an iteration gains a digit or more.
    EXPECT_LE(largest_difference(found, alm), 1e-12);
    EXPECT_EQ(report.iterations, 12);
    EXPECT_TRUE(report.invertible && !report.updates_grew);
    // The same, relative.
    EXPECT_LT(report.last_update, 1e-12);
    EXPECT_EQ(report.residual, 0);
    EXPECT_EQ(report.note, "");
}

TEST_P(OfSpin, SolverReachesItsTolerance) {
    const ShtPlan plan(Grid::healpix(8), options_of(20, GetParam()));
    const auto alm = random_spin_alm(plan.layout(), 2, plan.alm_components(), GetParam(), 2);
    AnalysisReport report;
    const auto found = analysed(plan, synthesis(plan, alm), tolerance(1e-12), &report);
    EXPECT_TRUE(report.reached_tolerance) << report.note;
    EXPECT_LE(report.residual, 1e-12);
    EXPECT_LE(report.iterations, 60);
    // |delta a| <= |N^-1| |delta r|; at lmax = 2.5 nside N = S^T W S has no eigenvalue below 0.1 (and
    // coefficients of 5).
    EXPECT_LE(largest_difference(found, alm), 1e-12 * 10 * std::sqrt(2.0 * static_cast<double>(alm.size())));
}

TEST_P(OfSpin, SolverMinimisesTheWeightedResidual) {
    const ShtPlan plan(Grid::healpix(4), options_of(8, GetParam()));
    const auto map = random_map(plan.grid(), 1, plan.map_components(), 3);  // not band-limited
    const auto found = analysed(plan, map, tolerance(1e-13));
    MapArray residual = synthesis(plan, found);
    for (std::int64_t i = 0; i < map.size(); ++i) residual.data()[i] = map.data()[i] - residual.data()[i];
    EXPECT_LE(largest(quadrature(plan, residual)), 1e-12 * largest(quadrature(plan, map)));
}

TEST_P(OfSpin, ExactGridsNeedNoIterations) {
    for (const Grid& grid :
         {Grid::gauss_legendre(16, 32), Grid::clenshaw_curtis(31, 32), Grid::fejer1(31, 31)}) {
        const ShtPlan plan(grid, options_of(15, GetParam()));
        const auto alm = random_spin_alm(plan.layout(), 1, plan.alm_components(), GetParam(), 4);
        const auto found = analysed(plan, synthesis(plan, alm), {});
        EXPECT_LE(largest_difference(found, alm), 8 * transform_rounding(15) * largest(alm)) << grid.name();
    }
}

INSTANTIATE_TEST_SUITE_P(Spins, OfSpin, ::testing::Values(0, 1, 2, 3));

TEST(Analysis, OfOnePartOfASpinFieldAgrees) {
    auto options = options_of(10, 2);
    options.parts = SpinParts::gradient;
    const ShtPlan plan(Grid::healpix(8), options);
    const auto alm = random_spin_alm(plan.layout(), 1, 1, 2, 4);
    // At lmax = 1.25 nside N is near 1: the residual is what is wrong with the coefficients, of order 1.
    EXPECT_LE(largest_difference(analysed(plan, synthesis(plan, alm), tolerance(1e-13)), alm), 1e-13);
}

TEST(Analysis, OfSinglePrecisionReachesItsRounding) {
    const ShtPlan plan(Grid::healpix(8), options_of(16));
    const auto alm = random_alm(plan.layout(), 1, 1, 5);
    const auto map = synthesis(plan, alm);
    Array<float, 3> narrow(map.extents());
    for (std::int64_t i = 0; i < map.size(); ++i) narrow.data()[i] = static_cast<float>(map.data()[i]);
    Array<std::complex<float>, 3> found(alm.extents());
    const auto report = analyze<float>(plan, std::as_const(narrow).view(), found.view(), tolerance(1e-5));
    EXPECT_TRUE(report.reached_tolerance);
    // At lmax = 2 nside N is nearer to 1 than above.
    EXPECT_LE(largest_difference(found, alm), 1e-5 * 2 * std::sqrt(static_cast<double>(alm.size())));
    const auto stopped = analyze<float>(plan, std::as_const(narrow).view(), found.view(), tolerance(1e-13));
    EXPECT_FALSE(stopped.reached_tolerance);
    EXPECT_THAT(stopped.note, HasSubstr("rounding"));
}

TEST(Analysis, UsesOnlyTheRingsOfTheGrid) {
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 3; i < 28; ++i) indices.push_back(i);
    const ShtPlan plan(Grid::healpix(8).subset(indices), options_of(6));
    const auto alm = random_alm(plan.layout(), 1, 1, 6);
    auto map = synthesis(plan, alm);
    const auto found = analysed(plan, map, tolerance(1e-13));
    for (std::int64_t p = 0; p < 12; ++p) map(0, 0, p) = std::nan("");
    const auto same = analysed(plan, map, tolerance(1e-13));
    EXPECT_EQ(largest_difference(found, same), 0);
    EXPECT_LE(largest_difference(found, alm), 10 * 1e-13);  // nearly the whole sphere to a low degree
}

TEST(Analysis, WeightsMultiplyThoseOfTheGrid) {
    const Grid grid = Grid::healpix(4);
    const ShtPlan plan(grid, options_of(8));
    const auto map = random_map(grid, 1, 1, 7);
    AnalysisOptions options;
    for (std::int64_t i = 0; i < grid.n_rings(); ++i)
        options.ring_weights.push_back(1 + 0.01 * static_cast<double>(i));
    std::vector<double> pixel_weights;
    for (int p = 0; p < 192; ++p) pixel_weights.push_back(1 + 0.2 * std::sin(p));
    options.pixel_weights = View<const double, 1>(pixel_weights.data(), {192});
    MapArray weighted = map;
    for (std::int64_t i = 0; i < grid.n_rings(); ++i)
        for (std::int64_t k = 0; k < grid.rings()[i].n_pixels; ++k) {
            const auto p = grid.rings()[i].first_pixel + k;
            weighted(0, 0, p) *= options.ring_weights[i] * pixel_weights[p];
        }
    EXPECT_LE(scaled_difference(analysed(plan, map, options), quadrature(plan, weighted)), 4 * eps);
    options.tolerance = 1e-13;
    EXPECT_LE(
        largest_difference(
            synthesis(plan, analysed(plan, synthesis(plan, random_alm(plan.layout(), 1, 1, 8)), options)),
            synthesis(plan, random_alm(plan.layout(), 1, 1, 8))),
        4 * 9 * 1e-13);  // of 9^2 coefficients, in the worst of 192 pixels
}

TEST(Analysis, DoesNotDependOnThreads) {
    const auto map = random_map(Grid::healpix(8), 2, 2, 9);
    const ShtPlan one(Grid::healpix(8), options_of(16, 2, 16, 1)),
        three(Grid::healpix(8), options_of(16, 2, 16, 3));
    EXPECT_EQ(largest_difference(analysed(one, map, tolerance(1e-8)), analysed(three, map, tolerance(1e-8))),
              0);
    EXPECT_EQ(largest_difference(analysed(one, map, iterations(2)), analysed(three, map, iterations(2))), 0);
}

TEST(Analysis, SaysWhenLmaxIsTooHighForTheGrid) {
    const Grid grid = Grid::healpix(4);
    const auto limit = invertible_lmax(grid);
    EXPECT_EQ(limit, 12);  // 13^2 = 169 <= 192 pixels < 14^2
    const auto map = random_map(grid, 1, 1, 10);
    AnalysisReport report;
    analysed(ShtPlan(grid, options_of(limit)), map, iterations(0), &report);
    EXPECT_TRUE(report.invertible);
    analysed(ShtPlan(grid, options_of(limit + 1)), map, iterations(0), &report);
    EXPECT_FALSE(report.invertible);
    EXPECT_THAT(report.note, HasSubstr("lmax = 13 is too high for the grid (healpix nside=4"));
    EXPECT_EQ(invertible_lmax(Grid::gauss_legendre(10, 20)), 9);
}

TEST(Analysis, SaysWhenIterationsDiverge) {
    const Grid grid = Grid::healpix(4);
    const auto map = random_map(grid, 1, 1, 11);
    AnalysisReport report;
    analysed(ShtPlan(grid, options_of(40)), map, iterations(6), &report);
    EXPECT_TRUE(report.updates_grew);
    EXPECT_GT(report.last_update, 0.01);
    EXPECT_THAT(report.note, HasSubstr("more iterations do not help"));
}

TEST(Analysis, SaysWhenTheSolverRunsOutOfIterations) {
    const Grid grid = Grid::healpix(4);
    auto options = tolerance(1e-12);
    options.max_iterations = 2;
    AnalysisReport report;
    analysed(ShtPlan(grid, options_of(8)), random_map(grid, 1, 1, 12), options, &report);
    EXPECT_FALSE(report.reached_tolerance);
    EXPECT_EQ(report.iterations, 2);
    EXPECT_THAT(report.note, HasSubstr("after 2 iterations"));
}

TEST(Analysis, KeepsTheBestThatADivergingSolverSaw) {
    // Above 2 nside random pixels hardly determine the alm; past their rounding the solver divides by it.
    const ShtPlan plan(Grid::healpix(16), options_of(47));
    AnalysisReport report;
    const auto map = random_map(plan.grid(), 1, 1, 14);
    const auto found = analysed(plan, map, tolerance(1e-16), &report);
    EXPECT_FALSE(report.reached_tolerance);
    AnalysisReport reachable;
    analysed(plan, map, tolerance(1e-10), &reachable);
    // What a tolerance within reach leaves: a diverging solver that kept its last step would leave far more.
    EXPECT_LE(report.residual, 2 * reachable.residual);
    MapArray rest = synthesis(plan, found);
    for (std::int64_t i = 0; i < map.size(); ++i) rest.data()[i] = map.data()[i] - rest.data()[i];
    // Every step of conjugate gradients makes the sum of squares smaller.
    EXPECT_LE(square_sum(rest), square_sum(map));
}

TEST(Analysis, TheSolverNeverEndsWorseThanWhereItWas) {
    // Residuals of conjugate gradients swing; the best alm are kept, to a factor of 2. Each run is as long as
    // the one before it and a step.
    const ShtPlan plan(Grid::healpix(4), options_of(12));
    const auto map = random_map(plan.grid(), 1, 1, 14);
    double best = 1;
    for (int n = 1; n <= 80; ++n) {
        auto options = tolerance(1e-16);
        options.max_iterations = n;
        AnalysisReport report;
        analysed(plan, map, options, &report);
        EXPECT_LE(report.residual, 2 * best * (1 + 1e-6)) << n;
        best = std::min(best, report.residual);
    }
}

TEST(Analysis, OfNothingIsNothing) {
    const ShtPlan plan(Grid::healpix(2), options_of(4));
    AnalysisReport report;
    EXPECT_EQ(largest(analysed(plan, MapArray({1, 1, 48}), tolerance(1e-10), &report)), 0);
    EXPECT_TRUE(report.reached_tolerance);
    EXPECT_EQ(analysed(plan, MapArray({0, 1, 48}), iterations(2), &report).size(), 0);
    EXPECT_TRUE(report.reached_tolerance);
}

TEST(Analysis, RejectsOptionsThatContradict) {
    const ShtPlan plan(Grid::healpix(2), options_of(4));
    const auto map = random_map(plan.grid(), 1, 1, 13);
    auto options = tolerance(1e-10);
    options.iterations = 3;
    EXPECT_THROW(analysed(plan, map, options), InvalidArgument);
    EXPECT_THROW(analysed(plan, map, iterations(-1)), InvalidArgument);
    EXPECT_THROW(analysed(plan, map, tolerance(1)), InvalidArgument);
    EXPECT_THROW(analysed(plan, map, tolerance(std::nan(""))), InvalidArgument);
    options = tolerance(1e-10);
    options.max_iterations = 0;
    EXPECT_THROW(analysed(plan, map, options), InvalidArgument);
    options = {};
    options.ring_weights = {1, 2};
    EXPECT_THROW(analysed(plan, map, options), InvalidArgument);
    options.ring_weights.assign(7, -1);
    EXPECT_THAT([&] { analysed(plan, map, options); },
                ThrowsMessage<InvalidArgument>(HasSubstr("ring_weights[0] = -1")));
}

TEST(Analysis, ReportsProgressAndStops) {
    const ShtPlan plan(Grid::healpix(4), options_of(8));
    const auto map = random_map(plan.grid(), 1, 1, 14);
    for (auto options : {iterations(2), tolerance(1e-8)}) {
        double last = 0;
        options.progress = [&](double done) {
            EXPECT_GE(done, last);
            EXPECT_LE(done, 1);
            last = done;
            return true;
        };
        analysed(plan, map, options);
        EXPECT_GT(last, 0.3);
        options.progress = [](double) { return false; };
        EXPECT_THROW(analysed(plan, map, options), Cancelled);
    }
}

}  // namespace
}  // namespace zonal::test
