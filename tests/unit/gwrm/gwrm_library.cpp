// That built-in problems are the equations they are named for, with settings of their own in every place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/gwrm/library.hpp"

namespace zonal::gwrm {
namespace {

using std::numbers::pi;
using Values = std::map<std::string, double>;
using State = std::vector<double>;

/// The derivatives at several times are what the equation makes of the values.
void expect_equation(const std::string& name, const Values& settings, const State& start,
                     const std::function<State(Values, const State&)>& rate) {
    SCOPED_TRACE(name);
    const auto setup = make_library_problem(name, settings);
    const auto solution = solve(setup.problem, setup.options);
    EXPECT_EQ(solution.t0(), settings.at("t0"));
    EXPECT_EQ(solution.t1(), settings.at("t1"));
    const auto all = [&](double t) {
        State state;
        for (int field = 0; field < solution.n_fields(); ++field) state.push_back(solution(field, {t, 0, 0}));
        return state;
    };
    for (std::size_t i = 0; i < start.size(); ++i) EXPECT_NEAR(all(solution.t0())[i], start[i], 1e-12);
    for (std::int64_t piece = 0; piece < std::ssize(solution.pieces()); ++piece) {
        const auto time = solution.pieces()[static_cast<std::size_t>(piece)].time;
        const double t = time.from_reference(0.3);
        const auto expected = rate(settings, all(t));
        for (int field = 0; field < solution.n_fields(); ++field) {
            const auto slope = derivative(solution.series<1>(field, piece), 0);
            const double wanted = expected[static_cast<std::size_t>(field)];
            // The tolerance, 1e-12, of values up to 10 over an interval of a hundredth at least.
            EXPECT_NEAR(evaluate(slope, std::array{t}), wanted, 1e-7) << field << ' ' << t;
        }
    }
}

TEST(GwrmLibraryOdes, SolveTheirEquations) {
    expect_equation("lorenz63",
                    {{"sigma", 3},
                     {"rho", 5},
                     {"beta", 0.7},
                     {"x0", 0.4},
                     {"y0", -1.5},
                     {"z0", 2.5},
                     {"t0", 1},
                     {"t1", 2}},
                    {0.4, -1.5, 2.5}, [](Values v, const State& u) {
                        return State{v["sigma"] * (u[1] - u[0]), u[0] * (v["rho"] - u[2]) - u[1],
                                     u[0] * u[1] - v["beta"] * u[2]};
                    });
    expect_equation("lorenz84",
                    {{"a", 0.3},
                     {"b", 3},
                     {"F", 6},
                     {"G", 1.7},
                     {"x0", 0.4},
                     {"y0", -1.5},
                     {"z0", 2.5},
                     {"t0", -1},
                     {"t1", 0.5}},
                    {0.4, -1.5, 2.5}, [](Values v, const State& u) {
                        const double x = u[0], y = u[1], z = u[2], a = v["a"], b = v["b"];
                        return State{-y * y - z * z - a * x + a * v["F"], x * y - b * x * z - y + v["G"],
                                     b * x * y + x * z - z};
                    });
    expect_equation("brusselator", {{"A", 0.8}, {"B", 2.5}, {"x0", 0.7}, {"y0", 1.9}, {"t0", 2}, {"t1", 4}},
                    {0.7, 1.9}, [](Values v, const State& u) {
                        const double cube = u[0] * u[0] * u[1];
                        return State{v["A"] + cube - (v["B"] + 1) * u[0], v["B"] * u[0] - cube};
                    });
    expect_equation("vanderpol", {{"mu", 1.5}, {"x0", 0.5}, {"y0", -1}, {"t0", 0}, {"t1", 3}}, {0.5, -1},
                    [](Values v, const State& u) {
                        return State{u[1], v["mu"] * (1 - u[0] * u[0]) * u[1] - u[0]};
                    });
}

TEST(GwrmLibraryPdes, TakeTheForceOfBurgersWithViscosity) {
    const auto all = make_library_problem(
        "burgers-viscosity", {{"force", 0.7}, {"nu0", 0.3}, {"nu1", 0.5}, {"t1", 0.3}}, {8, 16, 5});
    const auto solution =
        solve(all.problem, {.t1 = 0.3, .time_modes = 8, .tolerance = 1e-7, .estimate_error = false});
    for (const double nu : {0.3, 0.42}) {
        Problem problem({Axis{.modes = 16}});
        const auto u = problem.unknown("u", [](const Point& p) { return std::sin(pi * p[1]); });
        const auto force = problem.known([](const Point& p) { return 0.7 * std::sin(2 * pi * p[1]); });
        problem.evolve(u, nu * u.dx().dx() - u * u.dx() + force);
        problem.dirichlet(u, 1, End::lower);
        problem.dirichlet(u, 1, End::upper);
        const auto one = solve(problem, {.t1 = 0.3, .tolerance = 1e-9, .estimate_error = false});
        // Viscosities of 5 modes over a ratio of 5 / 3: their coefficients fall by 8 each.
        for (const double x : {0.2, 0.5, 0.8})
            EXPECT_NEAR(solution(0, {0.3, x, nu}), one(0, {0.3, x, 0}), std::pow(8.0, -5)) << nu << ' ' << x;
    }
}

TEST(GwrmLibraryPdes, LetASolitonOfAnySpeedPassTheEnds) {
    // Its crest begins inside and leaves through an end, so that values and slopes there count.
    const double speed = 2.5, crest = 0.3;
    const auto setup = make_library_problem(
        "kdv", {{"c", speed}, {"x0", crest}, {"left", -1.5}, {"right", 1}, {"t1", 0.4}}, {12, 40});
    const auto solution = solve(setup.problem, setup.options);
    // c / 2 sech^2 with exponentials. Its poles, pi / sqrt(c) from the real axis in x and pi / c^1.5 in t,
    // let coefficients fall by 3.4 in x and 8 in t each: 40 and 12 of them leave 1e-11 at most.
    const auto soliton = [&](double t, double x) {
        const double wave = std::exp(std::sqrt(speed) * (x - speed * t - crest));
        return 2 * speed * wave / ((1 + wave) * (1 + wave));
    };
    for (const double t : {0.0, 0.1, 0.4})
        for (const double x : {-1.5, -0.7, 0.2, 0.9, 1.0})
            EXPECT_NEAR(solution(0, {t, x, 0}), soliton(t, x), 1e-10) << t << ' ' << x;
}

TEST(GwrmLibraryProblems, HaveOneRangeForBothEndsOfAnInterval) {
    int intervals = 0;
    for (const auto& problem : library_problems())
        for (const auto& [first, last] :
             {std::pair("nu0", "nu1"), std::pair("left", "right"), std::pair("t0", "t1")}) {
            const auto find = [&](const char* name) {
                return std::find_if(problem.settings.begin(), problem.settings.end(),
                                    [&](const auto& setting) { return setting.name == name; });
            };
            const auto a = find(first), b = find(last);
            ASSERT_EQ(a == problem.settings.end(), b == problem.settings.end())
                << problem.name << ' ' << last;
            if (a == problem.settings.end()) continue;
            ++intervals;
            EXPECT_EQ(a->minimum, b->minimum) << problem.name << ' ' << first;
            EXPECT_EQ(a->maximum, b->maximum) << problem.name << ' ' << first;
        }
    EXPECT_GE(intervals, 2);
}

TEST(GwrmLibraryProblems, HaveSettingsWithinTheirBounds) {
    for (const auto& problem : library_problems()) {
        SCOPED_TRACE(problem.name);
        for (const auto& setting : problem.settings) {
            EXPECT_LE(setting.minimum, setting.value) << setting.name;
            EXPECT_LE(setting.value, setting.maximum) << setting.name;
            EXPECT_LT(setting.minimum, setting.maximum) << setting.name;
            EXPECT_FALSE(setting.description.empty()) << setting.name;
            if (setting.name == "nu0" || setting.name == "nu1" || setting.name == "left" ||
                setting.name == "right")
                continue;  // two make an interval
            for (const double bound : {setting.minimum, setting.maximum})
                EXPECT_NO_THROW(make_library_problem(problem.name, {{setting.name, bound}})) << setting.name;
            for (const double beyond :
                 {std::nextafter(setting.minimum, -HUGE_VAL), std::nextafter(setting.maximum, HUGE_VAL)})
                EXPECT_THROW(make_library_problem(problem.name, {{setting.name, beyond}}), InvalidArgument)
                    << setting.name;
        }
        const auto setup = make_library_problem(problem.name);
        EXPECT_EQ(setup.options.time_modes, problem.modes[0]);
        EXPECT_EQ(setup.problem.axes().size() + 1, problem.modes.size());
        for (std::size_t axis = 1; axis < problem.modes.size(); ++axis)
            EXPECT_EQ(setup.problem.axes()[axis - 1].modes, problem.modes[axis]);
        EXPECT_NO_THROW(setup.problem.check());
    }
}

}  // namespace
}  // namespace zonal::gwrm
