// What the solver reaches: reference values, convergence, agreement of its methods, estimates, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "compare.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/error.hpp"
#include "zonal/gwrm/library.hpp"
#include "zonal/interruption.hpp"

namespace zonal::gwrm {
namespace {

using testing::HasSubstr;

constexpr double eps = std::numeric_limits<double>::epsilon();
/// An estimated error is at least the true one, divided by this.
constexpr double promise = 1.5;

struct Case {
    std::string problem;
    std::map<std::string, double> settings;
    std::vector<std::int64_t> modes;
    int subdomains = 1;
    SolveOptions options{};

    Solution solve() const {
        auto setup = make_library_problem(problem, settings, modes, subdomains);
        auto with = options;
        with.t0 = setup.options.t0;
        with.t1 = setup.options.t1;
        with.time_modes = setup.options.time_modes;
        return gwrm::solve(setup.problem, with);
    }
};

/// Burgers' equation at x = 1/4, 1/2, 3/4 and t1; the largest error.
double burgers_error(const Solution& solution, const std::array<double, 3>& exact) {
    double error = 0;
    for (std::size_t i = 0; i < 3; ++i)
        error = test::larger(
            error,
            std::abs(solution(0, {solution.t1(), 0.25 * static_cast<double>(i + 1), 0}) - exact.at(i)));
    return error;
}

// u0 = sin(pi x), t = 1, by the Cole-Hopf transform in 30 digits.
constexpr std::array viscous{.16256485711067047, .29191595712583554, .28747440591697595};  // nu = 0.1
constexpr std::array steep{.18819396139673786, .37442003764468676, .55605070447072075};    // nu = 0.01
// u0 = x (1 - x), nu = 0.01
constexpr std::array parabola_1{.10962678769636525, .19672676764534158, .22738488911308099};      // t = 1
constexpr std::array parabola_10{.021766405055764021, .041789977736069036, .048165966131742051};  // t = 10

TEST(GwrmReference, BurgersReachesTwelveDigits) {
    // Twelve digits are what a tolerance of 1e-12 promises; the smooth first solution is right to rounding.
    EXPECT_LT(burgers_error(Case{"burgers", {{"nu", 0.1}}, {}}.solve(), viscous), 1e-12 * viscous[0]);
    EXPECT_LT(burgers_error(Case{"burgers", {{"nu", 0.01}}, {12, 110}, 1, {.estimate_error = false}}.solve(),
                            steep),
              1e-12 * steep[0]);
    EXPECT_LT(burgers_error(Case{"burgers", {{"nu", 0.01}, {"parabola", 1}}, {12, 52}}.solve(), parabola_1),
              1e-12 * parabola_1[0]);
    EXPECT_LT(burgers_error(Case{"burgers", {{"nu", 0.01}, {"parabola", 1}, {"t1", 10}}, {12, 44}}.solve(),
                            parabola_10),
              1e-12 * parabola_10[0]);
}

TEST(GwrmReference, LorenzReachesTwelveDigits) {
    const auto solution = Case{"lorenz63", {}, {}, 1, {.tolerance = 1e-13}}.solve();
    constexpr std::array exact{-4.90268754113464573, -3.74387292180291962, 24.6908581027905555};
    for (int field = 0; field < 3; ++field)
        EXPECT_NEAR(solution(field, {10, 0, 0}) / exact.at(static_cast<std::size_t>(field)), 1, 1e-12);
}

TEST(GwrmReference, BrusselatorReachesTwelveDigits) {
    const auto solution = Case{"brusselator", {}, {}}.solve();
    constexpr std::array exact{.498637071268347849, 4.59678034945201118};
    for (int field = 0; field < 2; ++field)
        // What a tolerance of 1e-12 promises. The limit cycle, which attracts, lets errors before it decay.
        EXPECT_NEAR(solution(field, {20, 0, 0}) / exact.at(static_cast<std::size_t>(field)), 1, 1e-12);
}

TEST(GwrmReference, OneBoxOfBurgersNeedsFiveStepsAndReachesItsOrder) {
    // Of a plain implementation of the method; half of projection's error is missing with tau.
    for (const auto& [mode, bound] : {std::pair{HighestMode::projection, 6e-8}, {HighestMode::tau, 1.2e-8}})
        for (const auto solver : {Solver::newton, Solver::newton_krylov}) {
            const auto solution =
                Case{"burgers",
                     {},
                     {18, 24},
                     1,
                     {.interval = 1, .tolerance = 1e-10, .highest_mode = mode, .solver = solver}}
                    .solve();
            EXPECT_LE(burgers_error(solution, viscous), bound);
            EXPECT_LE(solution.report().iterations, 5);
        }
}

TEST(GwrmLibrary, HeatAndWaveAreExact) {
    const auto heat = Case{"heat", {{"nu", 0.5}}, {}}.solve();
    constexpr double pi = std::numbers::pi;
    // What is rounded decays as the solution does.
    EXPECT_NEAR(heat(0, {1, 0.5, 0}), std::exp(-0.5 * pi * pi), 32 * eps * std::exp(-0.5 * pi * pi));
    const auto wave = Case{"wave", {{"c", 2}}, {}}.solve();
    // Its 20 modes leave 2 (pi / 4)^21 / 21! = 2e-22. Second derivatives raise rounding, and the inverse of
    // the same derivatives takes it back. Of a velocity the first derivative's 20^2 is left.
    for (const double t : {0.3, 0.77, 1.0})
        EXPECT_NEAR(wave(0, {t, 0.5, 0}), std::cos(2 * pi * t), 2 * 20 * eps);
    EXPECT_NEAR(wave(1, {0.3, 0.5, 0}), -2 * pi * std::sin(0.6 * pi), 20 * 20 * eps * 2 * pi);
}

TEST(GwrmLibrary, SolitonKeepsItsShape) {
    for (const auto& [modes, subdomains] :
         {std::pair<std::vector<std::int64_t>, int>{{16, 96}, 1}, {{16, 36}, 4}}) {
        const auto solution =
            Case{"kdv", {}, modes, subdomains, {.tolerance = 1e-9, .estimate_error = false}}.solve();
        for (const double x : {-4.0, -1.0, 0.5, 3.0}) {
            const double cosine = std::cosh((x - 1 + 2) / 2);
            // The series in x falls like e^(-96 pi / 10) = 8e-14, times 96^3 / 10^3 for the third derivative.
            EXPECT_NEAR(solution(0, {1, x, 0}), 0.5 / (cosine * cosine), 8e-14 * std::pow(9.6, 3)) << x;
        }
    }
}

TEST(GwrmLibrary, AdvectedGaussianIsExact) {
    const auto solution = Case{"advection-diffusion",
                               {{"t1", 0.5}},
                               {10, 16, 16},
                               1,
                               {.tolerance = 1e-7, .estimate_error = false}}
                              .solve();
    const double t = 0.5, spread = 0.25 + 0.4 * t, x = 0.2 - 0.5 * t, y = -0.4 - 0.25 * t;
    // The Gaussian of width 1/2 in 16 modes: 2 I_9(2) e^-2 = 1e-6 of coefficient T_18.
    EXPECT_NEAR(solution(0, {t, 0.2, -0.4}), 0.25 / spread * std::exp(-(x * x + y * y) / spread), 2e-6);
}

TEST(GwrmLibrary, ViscosityAsDimensionAgreesWithSingleViscosities) {
    const auto all =
        Case{"burgers-viscosity", {{"force", 0}, {"t1", 0.4}}, {8, 18, 6}, 1, {.tolerance = 1e-8}}.solve();
    for (const double nu : {0.2, 0.27, 0.4}) {
        const auto one = Case{"burgers", {{"nu", nu}, {"t1", 0.4}}, {10, 24}}.solve();
        EXPECT_NEAR(all(0, {0.4, 0.6, nu}), one(0, {0.4, 0.6, 0}), promise * all.error(0));
    }
    EXPECT_LT(all.error(0), 1e-5);
}

TEST(GwrmLibrary, StiffVanDerPolJumps) {
    const auto solution = Case{"vanderpol", {{"mu", 100}, {"t1", 100}}, {}, 1, {.tolerance = 1e-9}}.solve();
    // x falls from 2 to 1 in mu int_1^2 (x - 1/x) dx = (3/2 - ln 2) mu = 80.7 and a little, jumps to -2 and
    // rises slowly.
    EXPECT_GT(solution(0, {79, 0, 0}), 1);
    EXPECT_NEAR(solution(0, {83, 0, 0}), -2, 0.03);
    EXPECT_LT(solution.error(0), 1e-9);  // the tolerance, where the solution is slow and errors decay
}

TEST(GwrmLibrary, Lorenz84AgreesBetweenOrders) {
    const auto coarse = Case{"lorenz84", {}, {12}, 1, {.tolerance = 1e-9}}.solve();
    const auto fine = Case{"lorenz84", {}, {24}, 1, {.tolerance = 1e-13}}.solve();
    for (int field = 0; field < 3; ++field)
        EXPECT_NEAR(coarse(field, {10, 0, 0}), fine(field, {10, 0, 0}), promise * coarse.error(field));
}

TEST(GwrmLibrary, SaysWhatIsWrong) {
    const auto refused = [](const std::string& name, const std::map<std::string, double>& settings,
                            const std::vector<std::int64_t>& modes, int subdomains) -> std::string {
        try {
            make_library_problem(name, settings, modes, subdomains);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refused("flow", {}, {}, 1), HasSubstr("problem = flow: must be one of lorenz63"));
    EXPECT_THAT(refused("heat", {{"mu", 1}}, {}, 1),
                HasSubstr("mu: is no setting of heat, which has nu, t0, t1"));
    EXPECT_THAT(refused("heat", {{"nu", -1}}, {}, 1), HasSubstr("nu = -1: must be from"));
    EXPECT_THAT(refused("heat", {}, {3}, 1), HasSubstr("modes = 3: heat takes 2"));
    EXPECT_THAT(refused("lorenz63", {}, {}, 2), HasSubstr("subdomains = 2: must be 1"));
}

/// Error of e^{-t} by one interval of K modes.
double decay_error(std::int64_t modes, HighestMode mode) {
    Problem problem;
    const auto u = problem.unknown("u", [](const Point&) { return 1.0; });
    problem.evolve(u, -u);
    const auto solution = solve(problem, {.time_modes = modes, .interval = 1, .highest_mode = mode});
    return std::abs(solution(0, {1, 0, 0}) - std::exp(-1.0));
}

TEST(GwrmConvergence, IsGeometricInTimeModes) {
    // The coefficients of e^{-t} on an interval of length 1 fall by more than 4 k from k - 1 to k: two modes
    // gain more than 16 k^2, of which half is asked here.
    for (const auto mode : {HighestMode::projection, HighestMode::tau})
        for (const std::int64_t modes : {4, 6, 8})
            EXPECT_LT(decay_error(modes + 2, mode),
                      decay_error(modes, mode) / (8.0 * static_cast<double>(modes * modes)))
                << modes;
}

TEST(GwrmConvergence, FollowsTheLengthOfIntervals) {
    // 5 modes err at least like h^5; two halves of the length gain 2^5 each, tau more.
    const auto error = [](double length) {
        const auto solution =
            Case{"brusselator", {{"t1", 1}}, {5}, 1, {.interval = length, .tolerance = 1e-14}}.solve();
        const auto fine = Case{"brusselator", {{"t1", 1}}, {24}, 1, {.tolerance = 1e-14}}.solve();
        return std::abs(solution(0, {1, 0, 0}) - fine(0, {1, 0, 0}));
    };
    const double coarse = error(0.04), fine = error(0.02);
    EXPECT_GT(std::log2(coarse / fine), 4.5);
}

TEST(GwrmSolvers, AgreeWithinTheirTolerance) {
    std::vector<double> values;
    for (const auto solver : {Solver::newton, Solver::newton_krylov, Solver::sir}) {
        const auto solution =
            Case{"burgers", {}, {8, 12}, 1, {.interval = 0.5, .tolerance = 1e-11, .solver = solver}}.solve();
        values.push_back(solution(0, {1, 0.3, 0}));
    }
    // A hundredth of the tolerance is the last step's; what it leaves is its square, or a part of it by SIR.
    EXPECT_NEAR(values[1], values[0], 1e-13);
    // The same.
    EXPECT_NEAR(values[2], values[0], 1e-13);
}

TEST(GwrmSolvers, TriangularTimeBasisAgreesWithDiagonal) {
    const auto diagonal =
        Case{"burgers", {}, {24, 12}, 1, {.interval = 1, .solver = Solver::newton_krylov}}.solve();
    const auto triangular =
        Case{"burgers", {}, {25, 12}, 1, {.interval = 1, .solver = Solver::newton_krylov}}.solve();
    EXPECT_NEAR(triangular(0, {1, 0.3, 0}), diagonal(0, {1, 0.3, 0}), 1e-9);
}

TEST(GwrmSubdomains, JoinValueAndDerivative) {
    const auto solution = Case{"burgers", {{"nu", 0.05}}, {10, 16}, 3, {.tolerance = 1e-10}}.solve();
    const auto whole = Case{"burgers", {{"nu", 0.05}}, {12, 50}}.solve();
    for (const double x : {0.1, 1.0 / 3, 0.5, 2.0 / 3, 0.9})
        EXPECT_NEAR(solution(0, {1, x, 0}), whole(0, {1, x, 0}), promise * solution.error(0)) << x;
    const auto last = std::ssize(solution.pieces()) - 1;
    const auto left = solution.series<2>(0, last, 0), right = solution.series<2>(0, last, 1);
    const double joint = left.domain()[1].upper;
    EXPECT_EQ(right.domain()[1].lower, joint);
    // The joint's equations make values and slopes the same, to the rounding of sums of 16 terms.
    EXPECT_NEAR(evaluate(left, {1, joint}), evaluate(right, {1, joint}), 16 * eps);
    EXPECT_NEAR(evaluate(derivative(left, 1), {1, joint}), evaluate(derivative(right, 1), {1, joint}),
                16 * eps);
}

TEST(GwrmEstimate, IsTheErrorToItsOrder) {
    for (const auto& modes : {std::vector<std::int64_t>{6, 12}, {10, 14}, {14, 18}}) {
        const auto solution = Case{"burgers", {}, modes, 1, {.interval = 1}}.solve();
        const double error = burgers_error(solution, viscous);
        // The estimate is the largest error over x, bounded by the sum of its coefficients.
        EXPECT_GE(solution.error(0), error / promise);
        EXPECT_LT(solution.error(0), 4 * error);
    }
}

/// Every field at t1 errs by no more than it promises, and the estimates are no larger than `most` errors.
void expect_sound(const Case& setting, const std::vector<double>& exact, double most) {
    SCOPED_TRACE(setting.problem + ", K = " + std::to_string(setting.modes[0]));
    const auto solution = setting.solve();
    double largest_error = 0, largest_estimate = 0;
    for (int field = 0; field < solution.n_fields(); ++field) {
        const double error =
            std::abs(solution(field, {solution.t1(), 0, 0}) - exact[static_cast<std::size_t>(field)]);
        EXPECT_LE(error, promise * solution.error(field)) << field;
        largest_error = std::max(largest_error, error);
        largest_estimate = std::max(largest_estimate, solution.error(field));
    }
    EXPECT_LT(largest_estimate, most * largest_error);
}

TEST(GwrmEstimate, HoldsForEveryFieldThroughChaos) {
    // A solve to a tenth made one of these estimates 4,500 times too small.
    constexpr auto tau = HighestMode::tau;
    for (const auto& [modes, options] : {std::pair<std::int64_t, SolveOptions>{14, {.tolerance = 1e-7}},
                                         {18, {.tolerance = 1e-8}},
                                         {18, {.tolerance = 1e-5}},
                                         {16, {.tolerance = 1e-9}},
                                         {24, {.tolerance = 1e-9}},
                                         {8, {.tolerance = 1e-5, .highest_mode = tau}},
                                         {22, {.tolerance = 1e-6, .highest_mode = tau}}})
        expect_sound({"lorenz63", {}, {modes}, 1, options},
                     {-4.90268754113464573, -3.74387292180291962, 24.6908581027905555}, 2);
}

TEST(GwrmEstimate, HoldsWhereErrorsFade) {
    constexpr auto tau = HighestMode::tau;
    for (const auto& [modes, options] : {std::pair<std::int64_t, SolveOptions>{24, {.tolerance = 1e-8}},
                                         {24, {.tolerance = 1e-7}},
                                         {16, {.tolerance = 1e-4}},
                                         {28, {.tolerance = 1e-8, .highest_mode = tau}},
                                         {24, {.tolerance = 1e-4, .highest_mode = tau}}})
        expect_sound({"brusselator", {}, {modes}, 1, options}, {.498637071268347849, 4.59678034945201118}, 2);
}

TEST(GwrmReport, ResidualIsThatOfTheSolution) {
    // The first step is exact, as the equation is linear, and small enough to be the last one. Before it, F
    // is 1e-4.
    Problem problem;
    const auto u = problem.unknown("u", [](const Point&) { return 1.0; });
    problem.evolve(u, -u);
    for (const auto solver : {Solver::newton, Solver::newton_krylov}) {
        const auto solution =
            solve(problem, {.t1 = 1e-4, .interval = 1e-4, .tolerance = 0.5, .solver = solver});
        EXPECT_EQ(solution.report().iterations, 1);
        EXPECT_LT(solution.report().residual, solver == Solver::newton ? 1e-15 : 1e-5);
    }
}

TEST(GwrmEstimate, IsLeftOutOnRequest) {
    const auto solution = Case{"heat", {}, {}, 1, {.estimate_error = false}}.solve();
    EXPECT_TRUE(std::isnan(solution.error(0)));
}

TEST(GwrmFailure, SaysWhereAndHow) {
    try {
        Case{"burgers", {{"nu", 0.0005}}, {6, 20}, 1, {.interval = 1}}.solve();
        FAIL() << "solved";
    } catch (const NotConverged& error) {
        EXPECT_THAT(error.what(), HasSubstr("did not converge on the interval t = [0, 1]"));
        EXPECT_THAT(error.what(), HasSubstr("residual"));
        EXPECT_EQ(error.t1(), 1);
        EXPECT_GT(error.residual(), 1e-3);
    }
}

TEST(GwrmFailure, FindsASolutionThatBlowsUp) {
    Problem problem;
    const auto u = problem.unknown("u", [](const Point&) { return 1.0; });
    problem.evolve(u, u * u);
    try {
        solve(problem, {.t1 = 2});
        FAIL() << "solved";
    } catch (const NotConverged& error) {
        EXPECT_THAT(error.what(), HasSubstr("is short enough"));
        // Either the modes do not fall, or the solver says why it stops.
        EXPECT_THAT(error.what(), testing::ContainsRegex("do not fall to the tolerance|newton: [a-z]+ "));
        // Loose on purpose: how short an interval may be is not promised.
        EXPECT_NEAR(error.t0(), 1, 1e-3);
    }
}

TEST(GwrmFailure, StopsWhenAskedTo) {
    Case stopped{"lorenz63", {}, {}};
    stopped.options.progress = [](double done) { return done < 0.5; };
    EXPECT_THROW(stopped.solve(), Cancelled);
}

/// Without products of fields, which are stopped between their tasks.
TEST(GwrmFailure, ALinearProblemCanBeInterrupted) {
    Problem problem;
    const auto u = problem.unknown("u", [](const Point&) { return 1.0; });
    const auto v = problem.unknown("v", [](const Point&) { return 0.0; });
    problem.evolve(u, v);
    problem.evolve(v, -u);
    const InterruptionCheck check([] { return true; });
    EXPECT_THROW(gwrm::solve(problem, {.t1 = 1e6, .interval = 0.5}), Cancelled);
}

}  // namespace
}  // namespace zonal::gwrm
