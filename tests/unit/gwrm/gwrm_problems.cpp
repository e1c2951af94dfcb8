// What problems are made of: expressions, boundary conditions, Jacobians, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "gwrm/system.hpp"
#include "gwrm_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::gwrm {
namespace {

using std::numbers::pi;
using testing::HasSubstr;
using testing::Property;

constexpr double eps = std::numeric_limits<double>::epsilon();

template <class Work>
std::string message_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

double largest_error(const Solution& solution, const Function& exact, int field = 0) {
    double largest = 0;
    const auto at = [&](std::size_t axis, int i) {
        if (axis >= solution.axes().size()) return 0.0;
        return solution.axes()[axis].interval.from_reference(std::sin(1.0 + 2 * i));
    };
    for (int i = 0; i < 40; ++i) {
        const double t = solution.t0() + (solution.t1() - solution.t0()) * (i + 1) / 40;
        const Point point{t, at(0, i), at(1, 3 * i + 1)};
        largest = test::larger(largest, std::abs(solution(field, point) - exact(point)));
    }
    return largest;
}

TEST(GwrmReference, ErrorIsNanWhereOneValueIs) {
    const Solution zero({"u"}, {{.modes = 1}}, 1, {{{0, 1}, {0, 0, 0, 0}, {}}});
    EXPECT_EQ(largest_error(zero, [](const Point&) { return 0.0; }), 0);
    EXPECT_TRUE(std::isnan(largest_error(
        zero, [](const Point& p) { return std::abs(p[0] - 0.5) < 0.01 ? std::nan("") : 0.0; })));
}

TEST(GwrmExpression, CollectsEqualTerms) {
    Problem problem({Axis{}});
    const auto u = problem.unknown("u", [](const Point&) { return 0.0; });
    const auto v = problem.unknown("v", [](const Point&) { return 0.0; });
    const auto square = pow(u + v, 2);
    ASSERT_EQ(square.terms().size(), 3U);
    EXPECT_EQ(square.terms()[1].weight, 2);
    EXPECT_TRUE((u * v - v * u).terms().empty());
}

TEST(GwrmExpression, DerivativeFollowsTheProductRule) {
    Problem problem({Axis{}});
    const auto u = problem.unknown("u", [](const Point&) { return 0.0; });
    const auto v = problem.unknown("v", [](const Point&) { return 0.0; });
    EXPECT_TRUE(((u * v).dx() - u.dx() * v - u * v.dx()).terms().empty());
    EXPECT_TRUE((pow(u, 3).dx() - 3.0 * u * u * u.dx()).terms().empty());
    EXPECT_TRUE(Expression(2.0).dx().terms().empty());
}

class GwrmJacobian : public testing::TestWithParam<int> {};

TEST_P(GwrmJacobian, IsTheDerivativeOfTheResidual) {
    const auto problem = test::varied_gwrm_problem(GetParam());
    const auto shape = shape_of(problem, 5);
    const auto backend = make_backend(Device::cpu(), 1);
    System system(problem, shape, HighestMode::projection, *backend);
    system.set_time({0, 0.5});
    system.set_initial(std::vector<double>(static_cast<std::size_t>(shape.spatial())).data());
    const auto n = static_cast<std::size_t>(shape.size());
    std::vector<double> a(n), v(n), plus(n), minus(n), forward(n), backward(n), product(n);
    const double step = 0x1p-10;
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = std::cos(3.0 * static_cast<double>(i)) / 8;
        v[i] = std::sin(2.0 * static_cast<double>(i)) / 8;
        plus[i] = a[i] + step * v[i];
        minus[i] = a[i] - step * v[i];
    }
    system.residual(plus.data(), forward.data());
    system.residual(minus.data(), backward.data());
    system.residual(a.data(), product.data());
    system.apply_jacobian(v.data(), 1, product.data());
    // A central difference of a cubic errs by step^2 / 6 times its third derivative, which the coefficients
    // of second derivatives, up to 7^4 / 3, do not enter: it is linear in them. Of a v of 1/8 it is of
    // order 1.
    for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(product[i], (forward[i] - backward[i]) / (2 * step), 4 * step * step) << i;
}

TEST_P(GwrmJacobian, OfSeveralVectorsIsThatOfEach) {
    const auto problem = test::varied_gwrm_problem(GetParam());
    const auto shape = shape_of(problem, 4);
    const auto backend = make_backend(Device::cpu(), 1);
    System system(problem, shape, HighestMode::tau, *backend);
    system.set_time({0, 0.5});
    system.set_initial(std::vector<double>(static_cast<std::size_t>(shape.spatial())).data());
    const auto n = static_cast<std::size_t>(shape.size()), half = n / 2;
    std::vector<double> a(n), one(n), other(n), both(2 * n), image(n), images(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = std::cos(3.0 * static_cast<double>(i));
        one[i] = std::sin(2.0 * static_cast<double>(i));
        other[i] = std::sin(5.0 * static_cast<double>(i));
        // [field, vector, ..] of two fields
        both[i / half * n + i % half] = one[i];
        both[i / half * n + half + i % half] = other[i];
    }
    system.residual(a.data(), image.data());
    system.apply_jacobian(both.data(), 2, images.data());
    system.apply_jacobian(one.data(), 1, image.data());
    // Second derivatives raise rounding by up to 7^4 / 3.
    const double rounding = 800 * eps;
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(images[i / half * n + i % half], image[i], rounding) << i;
    system.apply_jacobian(other.data(), 1, image.data());
    for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(images[i / half * n + half + i % half], image[i], rounding) << i;
}

INSTANTIATE_TEST_SUITE_P(Subdomains, GwrmJacobian, testing::Values(1, 3));

// u = e^{-t} cos(x + 1) solves u_t = u_xx.
double decaying(const Point& p) {
    return std::exp(-p[0]) * std::cos(p[1] + 1);
}
double decaying_slope(const Point& p) {
    return -std::exp(-p[0]) * std::sin(p[1] + 1);
}

class GwrmBoundary : public testing::TestWithParam<int> {
  protected:
    Problem problem_{{{.interval = {0, 2}, .modes = 20, .subdomains = GetParam()}}};
    Expression u_ = problem_.unknown("u", decaying);

    /// The 20 modes resolve cos to 2 / (20! 2^20) of a unit; what remains is rounding, of each mode's once,
    /// as the inverse of second derivatives takes back what these raise it by.
    void expect_exact() {
        problem_.evolve(u_, u_.dx().dx());
        EXPECT_LT(largest_error(solve(problem_), decaying), 20 * eps);
    }
};

TEST_P(GwrmBoundary, TakesDirichlet) {
    problem_.dirichlet(u_, 1, End::lower, decaying);
    problem_.dirichlet(u_, 1, End::upper, decaying);
    expect_exact();
}

TEST_P(GwrmBoundary, TakesNeumann) {
    problem_.neumann(u_, 1, End::lower, decaying_slope);
    problem_.neumann(u_, 1, End::upper, decaying_slope);
    expect_exact();
}

TEST_P(GwrmBoundary, TakesRobin) {
    problem_.robin(u_, 1, End::lower, 2, -1,
                   [](const Point& p) { return 2 * decaying(p) - decaying_slope(p); });
    problem_.robin(u_, 1, End::upper, 1, 3,
                   [](const Point& p) { return decaying(p) + 3 * decaying_slope(p); });
    expect_exact();
}

INSTANTIATE_TEST_SUITE_P(Subdomains, GwrmBoundary, testing::Values(1, 3));

TEST(GwrmBoundary, TakesPeriodic) {
    const auto exact = [](const Point& p) { return std::sin(p[1] - p[0]); };
    for (const int subdomains : {1, 2}) {
        Problem advection({{.interval = {0, 2 * pi}, .modes = 28, .subdomains = subdomains}});
        const auto u = advection.unknown("u", exact);
        advection.evolve(u, -u.dx());
        advection.periodic(u, 1, 1);
        EXPECT_LT(largest_error(solve(advection, {.t1 = 2}), exact), 28 * eps);
    }
    Problem dispersion({{.interval = {0, 2 * pi}, .modes = 28}});
    const auto u = dispersion.unknown("u", exact);
    dispersion.evolve(u, u.dx().dx().dx());
    dispersion.periodic(u, 1, 3);
    EXPECT_LT(largest_error(solve(dispersion), exact), 28 * eps);
}

TEST(GwrmBoundary, TakesBothAxesOfAPlane) {
    const auto exact = [](const Point& p) {
        return std::exp(-2 * p[0]) * std::cos(p[1] + 1) * std::sin(p[2]);
    };
    for (const int subdomains : {1, 2}) {
        Problem problem({{.modes = 12, .subdomains = subdomains}, {.name = "y", .modes = 11}});
        const auto u = problem.unknown("u", exact);
        problem.evolve(u, u.dx().dx() + u.dy().dy());
        problem.dirichlet(u, 1, End::lower, exact);
        problem.neumann(u, 1, End::upper, [](const Point& p) {
            return -std::exp(-2 * p[0]) * std::sin(p[1] + 1) * std::sin(p[2]);
        });
        problem.dirichlet(u, 2, End::lower);
        problem.dirichlet(u, 2, End::upper, exact);
        // 11 modes on an interval of length 1 leave 2 / (12! 4^12) = 2.5e-16 of sin.
        EXPECT_LT(largest_error(solve(problem, {.t1 = 0.5, .time_modes = 8, .estimate_error = false}), exact),
                  12 * eps);
    }
}

TEST(GwrmProblem, SolvesManufacturedCubicWithVariableCoefficients) {
    // u = 2 + e^{-t} sin x in u_t = x u_xx + u^3 u_x - u + f
    const auto exact = [](const Point& p) { return 2 + std::exp(-p[0]) * std::sin(p[1]); };
    const auto force = [exact](const Point& p) {
        const double s = std::exp(-p[0]) * std::sin(p[1]), c = std::exp(-p[0]) * std::cos(p[1]);
        return -s + p[1] * s - std::pow(exact(p), 3) * c + exact(p);
    };
    Problem problem({{.interval = {1, 2}, .modes = 16}});
    const auto u = problem.unknown("u", exact);
    problem.evolve(u, problem.coordinate(1) * u.dx().dx() + pow(u, 3) * u.dx() - u + problem.known(force));
    problem.dirichlet(u, 1, End::lower, exact);
    problem.dirichlet(u, 1, End::upper, exact);
    EXPECT_LT(largest_error(solve(problem), exact), 3 * 16 * eps);  // of 16 modes and values up to 3
}

TEST(GwrmProblem, TakesDerivativesOfKnownFunctions) {
    // u = e^{-2t} sin x in u_t = u_xx + g_x of g = e^{-2t} cos x
    const auto exact = [](const Point& p) { return std::exp(-2 * p[0]) * std::sin(p[1]); };
    Problem problem({{.interval = {1, 2}, .modes = 16}});
    const auto u = problem.unknown("u", exact);
    const auto g = problem.known([](const Point& p) { return std::exp(-2 * p[0]) * std::cos(p[1]); });
    problem.evolve(u, u.dx().dx() + g.dx());
    problem.dirichlet(u, 1, End::lower, exact);
    problem.dirichlet(u, 1, End::upper, exact);
    EXPECT_LT(largest_error(solve(problem), exact), 3 * 16 * eps);  // of 16 modes
}

TEST(GwrmProblem, SaysWhatIsWrong) {
    EXPECT_THAT(message_of([] { Problem({Axis{}, Axis{}, Axis{}}); }), HasSubstr("axes: 3: must be 0 to 2"));
    EXPECT_THAT(message_of([] {
                    Problem({Axis{.interval = {1, 1}}});
                }),
                HasSubstr("axes[0].interval = [1, 1]"));
    EXPECT_THAT(message_of([] { Problem({Axis{.modes = -1}}); }),
                HasSubstr("axes[0].modes = -1: must be 0 to 4096"));
    EXPECT_THAT(message_of([] {
                    Problem({Axis{}, {.subdomains = 2}});
                }),
                HasSubstr("axes[1].subdomains = 2"));
    const auto zero = [](const Point&) { return 0.0; };
    Problem problem({{.modes = 2}, {.kind = Axis::Kind::parameter}});
    const auto u = problem.unknown("u", zero);
    EXPECT_THAT(message_of([&] { problem.evolve(2.0 * u, u); }), HasSubstr("field: must be what"));
    EXPECT_THAT(message_of([&] { problem.evolve(u, u.dy()); }),
                HasSubstr("axis 2, which is no axis of space"));
    EXPECT_THAT(message_of([&] { problem.dirichlet(u, 3, End::lower); }),
                HasSubstr("axis = 3: must be 1 to 2"));
    EXPECT_THAT(message_of([&] { problem.dirichlet(u, 2, End::lower); }),
                HasSubstr("axis = 2: is a parameter"));
    EXPECT_THAT(message_of([&] { problem.periodic(u, 1, 5); }), HasSubstr("order = 5: must be 1 to 4"));
    EXPECT_THAT(message_of([&] { problem.robin(u, 1, End::lower, 0, 0); }), HasSubstr("not both 0"));
    EXPECT_THAT(message_of([&] { pow(u, 9); }), HasSubstr("n = 9: must be 0 to 8"));
    problem.evolve(u, u.dx().dx());
    problem.dirichlet(u, 1, End::lower);
    EXPECT_THAT(message_of([&] { solve(problem); }), HasSubstr("along axis 1: 1: must be at least 2"));
    problem.dirichlet(u, 1, End::upper);
    EXPECT_THAT(message_of([&] { problem.neumann(u, 1, End::upper); }),
                HasSubstr("modes = 2: must be at least 3"));
}

TEST(GwrmProblem, SaysWhatDoesNotBelongToIt) {
    const auto zero = [](const Point&) { return 0.0; };
    Problem problem({{.modes = 8, .subdomains = 1024}, {.name = "y", .modes = 4096}}), other(problem);
    const auto u = problem.unknown("u", zero), foreign = (other.unknown("v", zero), other.unknown("w", zero));
    EXPECT_NO_THROW(problem.evolve(u, u.dx().dx().dx().dx() + problem.coordinate(0) + problem.coordinate(2)));
    EXPECT_THAT(message_of([&] { problem.evolve(u, u.dy().dy().dy().dy().dy()); }),
                HasSubstr("derivative of order 5: must be at most 4"));
    EXPECT_THAT(message_of([&] { problem.evolve(u, foreign); }),
                HasSubstr("field or a function of another problem"));
    EXPECT_THAT(message_of([&] { other.evolve(foreign, problem.coordinate(1)); }),
                HasSubstr("of another problem"));
    EXPECT_THAT(message_of([&] { problem.evolve(foreign, u); }), HasSubstr("must be what Problem::unknown"));
    EXPECT_THAT(message_of([&] { problem.evolve(u.dx(), u); }), HasSubstr("must be what Problem::unknown"));
    EXPECT_THAT(message_of([&] { problem.coordinate(3); }), HasSubstr("axis = 3: must be 1 to 2"));
    EXPECT_THAT(message_of([&] { u.derivative(3); }), HasSubstr("axis = 3: must be 1 or 2"));
    EXPECT_THAT(message_of([&] { problem.unknown("w", nullptr); }), HasSubstr("of w: must be a function"));
    EXPECT_THAT(message_of([&] { problem.known(nullptr); }), HasSubstr("must not be empty"));
    EXPECT_THAT(message_of([&] { problem.robin(u, 1, End::lower, HUGE_VAL, 0); }),
                HasSubstr("must be finite"));
    EXPECT_THAT(message_of([] {
                    Problem({Axis{.kind = Axis::Kind::parameter}, Axis{}});
                }),
                HasSubstr("parameters must come behind space"));
    EXPECT_THAT(message_of([] { Problem({Axis{.modes = 4097}}); }), HasSubstr("modes = 4097"));
    EXPECT_THAT(message_of([] { Problem({Axis{.subdomains = 1025}}); }), HasSubstr("must be 1 to 1024"));
    EXPECT_THAT(message_of([] { Problem({Axis{.subdomains = 0}}); }), HasSubstr("subdomains = 0"));
    EXPECT_THAT(message_of([] { Problem({Axis{.kind = Axis::Kind::parameter, .subdomains = 2}}); }),
                HasSubstr("must be 1 but on the first axis of space"));
    EXPECT_THAT(message_of([] { solve(Problem()); }), HasSubstr("has no unknown field"));
    Problem infinite;
    const auto w = infinite.unknown("w", [](const Point&) { return HUGE_VAL; });
    infinite.evolve(w, -w);
    EXPECT_THAT(message_of([&] { solve(infinite); }), HasSubstr("initial: must be finite"));
}

TEST(GwrmProblem, SaysWhichOptionIsWrong) {
    Problem problem;
    const auto u = problem.unknown("u", [](const Point&) { return 1.0; });
    problem.evolve(u, -u);
    const auto refused = [&](const SolveOptions& options) {
        return message_of([&] { solve(problem, options); });
    };
    EXPECT_THAT(refused({.t1 = 0}), HasSubstr("t1 = 0: must be finite and above t0"));
    EXPECT_THAT(refused({.time_modes = 1}), HasSubstr("time_modes = 1: must be 2 to 1024"));
    EXPECT_THAT(refused({.interval = -1}), HasSubstr("interval = -1: must be 0 or more"));
    EXPECT_THAT(refused({.tolerance = 2}), HasSubstr("tolerance = 2: must be from 1e-15 to below 1"));
    EXPECT_THAT(refused({.highest_mode = HighestMode::kept}), HasSubstr("highest_mode = kept"));
    EXPECT_THAT(refused({.max_iterations = 0}), HasSubstr("max_iterations = 0"));
    const auto solution = solve(problem);
    EXPECT_THAT(message_of([&] { solution(0, {2, 0, 0}); }), HasSubstr("t = 2: must be from 0 to 1"));
    EXPECT_THAT(message_of([&] { solution(1, {0, 0, 0}); }), HasSubstr("field = 1: must be 0 to 0"));
    EXPECT_THAT(message_of([&] { solution.series<2>(0, 0); }), HasSubstr("D = 2: must be 1"));
}

}  // namespace
}  // namespace zonal::gwrm
