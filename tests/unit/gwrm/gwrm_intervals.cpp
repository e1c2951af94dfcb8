// Chains of time intervals: how they share the time, what their reports count, and how solutions are asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gwrm_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::gwrm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double eps = std::numeric_limits<double>::epsilon();

/// u' = -rate u, u(t0) = 1
Problem decay(double rate = 1) {
    Problem problem;
    const auto u = problem.unknown("u", [](const Point&) { return 1.0; });
    problem.evolve(u, -rate * u);
    return problem;
}

TEST(GwrmIntervals, AreEqualSharesOfTheTime) {
    // A length that misses a share by less than a millionth of it is that share.
    for (const auto& [length, n] :
         {std::pair{0.1, 10}, {0.3, 4}, {5.0, 1}, {2 * (1 - 1e-7) / 3, 3}, {2 * (1 - 1e-5) / 3, 4}}) {
        const double span = length < 0.5 ? 1 : 2;
        const auto solution =
            solve(decay(), {.t0 = 3, .t1 = 3 + span, .interval = length, .tolerance = 1e-6});
        EXPECT_EQ(solution.report().intervals, n);
        ASSERT_EQ(std::ssize(solution.pieces()), n);
        EXPECT_EQ(solution.t0(), 3);
        EXPECT_EQ(solution.t1(), 3 + span);
        for (int i = 0; i < n; ++i)
            EXPECT_NEAR(solution.pieces()[static_cast<std::size_t>(i)].time.upper, 3 + span * (i + 1) / n,
                        4 * n * eps);
    }
}

TEST(GwrmIntervals, BeginWithTheTimeInWhichTheSolutionChangesByItself) {
    const auto first = [](const Problem& problem, double t1) {
        return solve(problem, {.t1 = t1, .tolerance = 1e-6}).pieces()[0].time.upper;
    };
    EXPECT_NEAR(first(decay(50), 1), 0.02, 4 * eps);
    EXPECT_EQ(first(decay(1e-3), 2), 2);
    EXPECT_EQ(first(decay(0), 2), 2);
    Problem from_zero;
    const auto u = from_zero.unknown("u", [](const Point&) { return 0.0; });
    from_zero.evolve(u, 1.0 - u);
    EXPECT_EQ(first(from_zero, 0.5), 0.5);
}

TEST(GwrmIntervals, BecomeShorterWhereTheirModesDoNotSuffice) {
    Problem problem;
    const auto u = problem.unknown("u", [](const Point&) { return 1.0; });
    // Slow at first, so that the first length is too long: 2 - cos(40 t).
    problem.evolve(u, problem.known([](const Point& p) { return 40 * std::sin(40 * p[0]); }));
    const auto solution = solve(problem, {.t1 = 2, .tolerance = 1e-8});
    EXPECT_GT(solution.report().rejected, 0);
    EXPECT_EQ(solution.report().intervals, std::ssize(solution.pieces()));
    for (const double t : solution.times(5))
        EXPECT_NEAR(solution(0, {t, 0, 0}), 2 - std::cos(40 * t), 3e-8)
            << t;  // the tolerance, of values up to 3
}

TEST(GwrmIntervals, AreCountedAndLimited) {
    // A linear equation without a scale: each interval is the first one again.
    const SolveOptions one{.t1 = 0.25, .interval = 0.25}, four{.t1 = 1, .interval = 0.25, .max_intervals = 4};
    for (const auto solver : {Solver::newton, Solver::newton_krylov, Solver::sir}) {
        auto with_one = one, with_four = four;
        with_one.solver = with_four.solver = solver;
        const auto a = solve(decay(), with_one).report(), b = solve(decay(), with_four).report();
        EXPECT_EQ(b.intervals, 4);
        EXPECT_EQ(b.rejected, 0);
        EXPECT_GT(a.iterations, 0);
        EXPECT_EQ(b.iterations, 4 * a.iterations) << to_string(solver);
        EXPECT_EQ(b.linear_iterations, 4 * a.linear_iterations) << to_string(solver);
        EXPECT_EQ(b.linear_iterations > 0, solver == Solver::newton_krylov);
    }
    auto three = four;
    three.max_intervals = 3;
    try {
        solve(decay(), three);
        FAIL() << "solved";
    } catch (const NotConverged& error) {
        EXPECT_THAT(error.what(), HasSubstr("max_intervals = 3 reached at t = 0.75 of 1"));
        EXPECT_EQ(error.t0(), 0.75);
        EXPECT_EQ(error.t1(), 1);
    }
}

TEST(GwrmIntervals, GatherTheRoundingOfARandomWalk) {
    // A constant, which has no other error than the rounding of its value in each interval.
    const auto solution = solve(decay(0), {.t1 = 9, .interval = 1});
    const double first = solution.error(0, 1);
    EXPECT_GE(first, eps);
    EXPECT_LE(first, 8 * eps);
    for (int n = 2; n <= 9; ++n) EXPECT_DOUBLE_EQ(solution.error(0, n) / first, std::sqrt(n)) << n;
}

TEST(GwrmIntervals, TellHowMuchOfTheTimeIsDone) {
    std::vector<double> done;
    solve(decay(), {.t0 = -1, .t1 = 3, .interval = 1, .progress = [&](double share) {
                        done.push_back(share);
                        return true;
                    }});
    EXPECT_THAT(done, ElementsAre(0.25, 0.5, 0.75, 1));
}

TEST(GwrmReport, ResidualIsTheLargestOfAllIntervals) {
    const auto problem = make_library_problem("brusselator").problem;
    const SolveOptions options{.t1 = 3, .interval = 0.5, .tolerance = 1e-3};
    const auto solution = solve(problem, options);
    const auto shape = shape_of(problem, options.time_modes);
    const auto backend = make_backend(Device::cpu(), 1);
    System system(problem, shape, options.highest_mode, *backend);
    Vector u0(*backend, shape.spatial()), f(*backend, shape.size());
    upload_initial_value(problem, shape, 0, *backend, u0);
    double largest = 0, smallest = INFINITY;
    for (const auto& piece : solution.pieces()) {
        system.set_time(piece.time);
        system.set_initial(u0.data());
        system.residual(piece.coefficients.data(), f.data());
        sum_over_time(*backend, shape, TimeSum::Kind::end, piece.coefficients.data(), u0.data());
        double of_piece = 0;
        for (std::int64_t i = 0; i < shape.size(); ++i) of_piece = std::max(of_piece, std::abs(f.data()[i]));
        largest = std::max(largest, of_piece);
        smallest = std::min(smallest, of_piece);
    }
    EXPECT_LT(smallest, largest / 2);
    EXPECT_EQ(solution.report().residual, largest);
}

/// Newton's steps go on until they are small beside every field's own coefficients, and a field of zeros does
/// not matter, wherever it stands.
TEST(GwrmRoots, MeasureEveryFieldByItself) {
    for (int zero = 0; zero < 3; ++zero)
        for (int small = 0; small < 3; ++small) {
            if (small == zero) continue;
            Problem problem;
            const auto start = [&](int field) { return field == zero ? 0 : field == small ? 1e-6 : 1.0; };
            for (int field = 0; field < 3; ++field) {
                const auto u = problem.unknown("u", [value = start(field)](const Point&) { return value; });
                if (field == small)
                    problem.evolve(u, -1e6 * (u * u));  // 1e-6 / (1 + t)
                else
                    problem.evolve(u, -u);
            }
            for (const auto solver : {Solver::newton, Solver::newton_krylov, Solver::sir}) {
                const auto solution = solve(
                    problem, {.interval = 1, .tolerance = 1e-5, .solver = solver, .estimate_error = false});
                EXPECT_NEAR(1e6 * solution(small, {1, 0, 0}), 0.5, 1e-6)
                    << zero << small << to_string(solver);
                EXPECT_EQ(solution(zero, {1, 0, 0}), 0);
            }
        }
}

TEST(GwrmProblem, TakesOptionsUpToTheirBounds) {
    const auto accepted = [](SolveOptions options) {
        options.estimate_error = false;
        EXPECT_NO_THROW(solve(decay(1e-3), options));
    };
    accepted({.time_modes = 2, .interval = 1, .tolerance = 0.999});
    accepted({.t1 = 1e-3, .interval = 1, .tolerance = 1e-15});
    accepted({.interval = 1, .tolerance = 0.5, .max_iterations = 1, .max_intervals = 1});
    const auto refused = [](const SolveOptions& options) {
        EXPECT_THROW(solve(decay(), options), InvalidArgument);
    };
    refused({.t0 = HUGE_VAL});
    refused({.t1 = HUGE_VAL});
    refused({.time_modes = 1025});
    refused({.interval = HUGE_VAL});
    refused({.tolerance = 1});
    refused({.tolerance = 0.9e-15});
    refused({.max_intervals = 0});
}

TEST(GwrmProblem, RefusesDenseSolversOfManyUnknowns) {
    const auto zero = [](const Point&) { return 0.0; };
    Problem problem({Axis{.modes = 2000}});
    const auto u = problem.unknown("u", zero);
    problem.evolve(u, -u);
    for (const auto solver : {Solver::newton, Solver::sir}) {
        try {
            solve(problem, {.time_modes = 2, .solver = solver});
            FAIL() << "solved";
        } catch (const InvalidArgument& error) {
            EXPECT_EQ(error.what(), "solver = " + to_string(solver) +
                                        " with 6003 unknowns: must be newton-krylov above 6000 unknowns");
        }
    }
}

/// Two fields, constant on each of two intervals.
Solution steps(std::vector<Solution::Piece> pieces) {
    return {{"u", "v"}, {}, 0, std::move(pieces)};
}

TEST(GwrmSolution, IsAskedByItsIntervals) {
    const auto solution = steps({{{1, 2}, {10, 20}, {0.1, 0.2}}, {{2, 4}, {30, 40}, {0.3, HUGE_VAL}}});
    EXPECT_EQ(solution(0, {1, 0, 0}), 10);
    EXPECT_EQ(solution(1, {2, 0, 0}), 20);  // an end belongs to the interval before it
    EXPECT_EQ(solution(0, {2.001, 0, 0}), 30);
    EXPECT_EQ(solution(1, {4, 0, 0}), 40);
    EXPECT_EQ(solution.error(0, 1.5), 0.1);
    EXPECT_EQ(solution.error(1, 2), 0.2);
    EXPECT_EQ(solution.error(0, 3), 0.3);
    EXPECT_EQ(solution.error(1), HUGE_VAL);
    EXPECT_THAT(solution.times(2), ElementsAre(1, 1.5, 2, 3, 4));
    EXPECT_THROW(solution(0, {0.999, 0, 0}), InvalidArgument);
    EXPECT_THROW(solution(-1, {1, 0, 0}), InvalidArgument);
    EXPECT_THROW(solution(2, {1, 0, 0}), InvalidArgument);
    EXPECT_THROW(solution.series<1>(0, 2), InvalidArgument);
    EXPECT_THROW(solution.series<1>(0, 0, 1), InvalidArgument);
    EXPECT_EQ(solution.series<1>(1, 1)(0), 40);
    EXPECT_EQ(solution.series<1>(1, 1).domain()[0], (Interval{2, 4}));
}

TEST(GwrmSolution, IsMadeOfSoundIntervals) {
    const auto refused = [](const std::vector<Solution::Piece>& pieces) -> std::string {
        try {
            steps(pieces);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "taken";
    };
    EXPECT_EQ(refused({{{1, 2}, {1, 2}, {}}, {{2, 3}, {1, 2}, {}}}), "taken");
    EXPECT_EQ(refused({{{1, 2}, {1, 2}, {0, 0}}}), "taken");
    EXPECT_EQ(refused({}), "pieces: must have an interval at least");
    EXPECT_THAT(refused({{{2, 2}, {1, 2}, {}}}),
                HasSubstr("interval 0: t = [2, 2]: must be finite and not empty"));
    EXPECT_THAT(refused({{{2, HUGE_VAL}, {1, 2}, {}}}), HasSubstr("must be finite and not empty"));
    EXPECT_THAT(refused({{{1, 2}, {1, 2, 3}, {}}}), HasSubstr("3 coefficients: must be 2"));
    EXPECT_THAT(refused({{{1, 2}, {1, NAN}, {}}}), HasSubstr("coefficient 1 is nan: must be finite"));
    EXPECT_THAT(refused({{{1, 2}, {1, 2}, {1}}}), HasSubstr("1 errors: must be 2"));
    EXPECT_THAT(refused({{{1, 2}, {1, 2}, {1, -1}}}), HasSubstr("error -1: must not be negative"));
    EXPECT_THAT(refused({{{1, 2}, {1, 2}, {}}, {{2, 3}, {1, 2}, {1, 1}}}),
                HasSubstr("interval 1: 2 errors: must be 0"));
    EXPECT_THAT(refused({{{1, 2}, {1, 2}, {}}, {{2.5, 3}, {1, 2}, {}}}),
                HasSubstr("interval 1: begins at 2.5: must begin where interval 0 ends, 2"));
}

}  // namespace
}  // namespace zonal::gwrm
