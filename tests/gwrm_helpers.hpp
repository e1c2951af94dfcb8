#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compare.hpp"
#include "gwrm/linear/linear.hpp"
#include "gwrm/root.hpp"
#include "zonal/gwrm/library.hpp"

/// Problems that all solvers and devices must agree on.
namespace zonal::test {

/// A built-in problem on time intervals of one length, so that all take the same.
struct GwrmCase {
    std::string problem;
    std::map<std::string, double> settings;
    std::vector<std::int64_t> modes;
    double interval;
    int subdomains = 1;

    gwrm::Solution solve(gwrm::SolveOptions with) const {
        const auto setup = gwrm::make_library_problem(problem, settings, modes, subdomains);
        with.t0 = setup.options.t0;
        with.t1 = setup.options.t1;
        with.time_modes = setup.options.time_modes;
        with.interval = interval;
        return gwrm::solve(setup.problem, with);
    }
};

/// Of every built-in problem one or two.
inline std::vector<GwrmCase> gwrm_cases() {
    return {{"lorenz63", {{"t1", 1}}, {16}, 0.125},
            {"lorenz84", {{"t1", 1}}, {12}, 0.25},
            {"brusselator", {{"t1", 2}}, {14}, 0.25},
            {"vanderpol", {{"mu", 100}, {"t1", 0.04}}, {12}, 0.01},
            {"heat", {{"nu", 0.5}}, {8, 14}, 0.5},
            {"wave", {{"t1", 0.5}}, {10, 14}, 0.25},
            {"burgers", {}, {8, 16}, 0.5},
            {"burgers", {{"parabola", 1}}, {26, 9}, 0.5},  // a triangular basis of time
            {"burgers", {{"t1", 0.5}}, {6, 8}, 0.25, 3},
            {"burgers-viscosity", {{"t1", 0.5}}, {5, 9, 3}, 0.25},
            {"kdv", {{"t1", 0.2}}, {6, 24}, 0.1},
            {"kdv", {{"t1", 0.1}}, {6, 16}, 0.1, 2},
            {"advection-diffusion", {{"t1", 0.5}}, {5, 7, 6}, 0.25}};
}

/// The largest difference of coefficients, [field, ...], relative to the largest in b of the same field.
inline double difference(const std::vector<double>& a, const std::vector<double>& b, int n_fields) {
    if (a.size() != b.size()) return INFINITY;
    const auto per_field = b.size() / static_cast<std::size_t>(n_fields);
    double result = 0;
    for (std::size_t first = 0; first < b.size(); first += per_field) {
        const std::span x(a.data() + first, per_field), y(b.data() + first, per_field);
        const double error = largest_difference(x, y);
        if (error != 0) result = larger(result, error / largest(y));
    }
    return result;
}

inline double difference(const gwrm::Solution& a, const gwrm::Solution& b) {
    if (a.pieces().size() != b.pieces().size()) return INFINITY;
    double result = 0;
    for (std::size_t k = 0; k < a.pieces().size(); ++k)
        result =
            larger(result, difference(a.pieces()[k].coefficients, b.pieces()[k].coefficients, b.n_fields()));
    return result;
}

/// Steps end where they are a hundredth of the tolerance, 1e-14, or as small as rounding lets them, below the
/// tolerance, 1e-12; derivatives of the second and third order of these modes raise rounding by up to
/// 24^6 / 15 / 10^3 = 1e4 eps, which an interval's integral and the inverse of the same derivatives take back
/// but for a part.
inline constexpr double gwrm_agreement = 1e-11;

/// Cubic, with a variable coefficient, two fields, and all kinds of boundary conditions.
inline gwrm::Problem varied_gwrm_problem(int subdomains) {
    using namespace gwrm;
    Problem problem({{.interval = {-1, 2}, .modes = 7, .subdomains = subdomains}});
    const auto u = problem.unknown("u", [](const Point& p) { return std::cos(p[1]); });
    const auto v = problem.unknown("v", [](const Point& p) { return std::sin(p[1]); });
    const auto f = problem.known([](const Point& p) { return p[0] + p[1] * p[1]; });
    problem.evolve(u, f * u.dx().dx() - u * u * v.dx() + f.dx() * v - 3.0 * u + f);
    problem.evolve(v, v.dx().dx() + pow(u, 3) - u * v);
    problem.robin(u, 1, End::lower, 2, -1, [](const Point& p) { return p[0]; });
    problem.neumann(u, 1, End::upper);
    problem.periodic(v, 1, 2);
    return problem;
}

/// A plane with conditions of all kinds on its four sides, and in two parts.
inline gwrm::Problem plane_gwrm_problem(int subdomains) {
    using namespace gwrm;
    const auto exact = [](const Point& p) { return std::exp(-p[0]) * std::cos(p[1] + 1) * std::sin(p[2]); };
    Problem problem({{.modes = 6, .subdomains = subdomains}, {.name = "y", .modes = 5}});
    const auto u = problem.unknown("u", exact);
    problem.evolve(u, 0.5 * (u.dx().dx() + u.dy().dy()) - u * u.dy());
    problem.dirichlet(u, 1, End::lower, exact);
    problem.neumann(u, 1, End::upper,
                    [](const Point& p) { return -std::exp(-p[0]) * std::sin(p[1] + 1) * std::sin(p[2]); });
    problem.robin(u, 2, End::lower, 1, 0.5, exact);
    problem.dirichlet(u, 2, End::upper, exact);
    return problem;
}

/// The start of one interval of Burgers' equation in 11 x 201 modes, and what its solution brings from and to
/// the host.
inline void expect_scalars_only(gwrm::Backend& backend) {
    const auto setup = gwrm::make_library_problem("burgers", {}, {10, 200});
    gwrm::SolveOptions options{.t1 = 0.1, .time_modes = 10};
    const auto shape = gwrm::shape_of(setup.problem, options.time_modes);
    gwrm::System system(setup.problem, shape, options.highest_mode, backend);
    gwrm::RootSolver solver(system, options);
    system.set_time({0, options.t1});
    std::vector<double> u0(static_cast<std::size_t>(shape.size()));
    u0[0] = 0.5;
    u0[2] = -0.5;  // 0 at the ends
    gwrm::Vector a(backend, shape.size());
    backend.fill(a.data(), a.size());
    backend.upload(u0.data(), shape.spatial(), a.data());
    system.set_initial(a.data());
    const auto downloaded = backend.downloaded(), uploaded = backend.uploaded_bytes();
    const auto root = solver.solve(a.data());
    ASSERT_TRUE(root.converged) << root.reason;
    EXPECT_GT(root.iterations, 2);
    // GMRES reads 2 j + 1 numbers in its step j and the first norm; a step of Newton's method the largest
    // coefficients of three arrays; the preconditioner the extremes of the pivots of 6 systems.
    const std::int64_t steps = root.iterations, products = root.linear_iterations;
    EXPECT_LE(backend.downloaded() - downloaded, products * (products + 2) + steps * (1 + 3 + 12));
    // The coefficients of GMRES's solution; for a preconditioner the basis of time, 11 x 6 twice, and its
    // eigenvalues twice, all complex.
    EXPECT_LE(backend.uploaded_bytes() - uploaded, 8 * products + steps * 16 * (2 * 66 + 12));
    EXPECT_LT(backend.downloaded() - downloaded, shape.size());
}

}  // namespace zonal::test
