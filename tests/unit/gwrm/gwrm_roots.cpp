// Where the solvers of one interval stop: what another step would still change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gwrm_helpers.hpp"
#include "sanitized.hpp"

namespace zonal::gwrm {
namespace {

/// Another step after the solver has stopped, relative to each field's largest coefficient.
double what_is_left(const test::GwrmCase& one, const SolveOptions& options, RootResult& result) {
    const auto setup = make_library_problem(one.problem, one.settings, one.modes, one.subdomains);
    const auto backend = make_backend(Device::cpu(), 1);
    const auto shape = shape_of(setup.problem, setup.options.time_modes);
    System system(setup.problem, shape, options.highest_mode, *backend);
    RootSolver solver(system, options);
    Vector u0(*backend, shape.spatial()), a(*backend, shape.size()), f(*backend, shape.size()),
        d(*backend, shape.size());
    upload_initial_value(setup.problem, shape, setup.options.t0, *backend, u0);
    system.set_time({setup.options.t0, setup.options.t0 + one.interval});
    system.set_initial(u0.data());
    resize(*backend, shape.with_extents({1, shape.extents[1], shape.extents[2]}), u0.data(), shape, a.data());
    result = solver.solve(a.data());
    system.residual(a.data(), f.data());
    SolveOptions exact = options;
    exact.solver = Solver::newton;
    if (!RootSolver(system, exact).solve_linearised(a.data(), f.data(), 0, d.data())) return INFINITY;
    const auto largest = [&](const Vector& vector) {
        return backend->numbers_of(
            Largest{.n_segments = shape.n_fields, .n = shape.per_field(), .a = vector.data()});
    };
    const auto of_d = largest(d), of_a = largest(a);
    double left = 0;
    for (std::size_t field = 0; field < of_d.size(); ++field)
        left = test::larger(left, of_d[field] / of_a[field]);
    return left;
}

TEST(GwrmRoots, StepsEndAtAHundredthOfTheTolerance) {
    for (const auto& one : test::gwrm_cases())
        for (const auto solver : {Solver::newton, Solver::newton_krylov, Solver::sir})
            for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-5, 1e-8}) {
                if (test::sanitized && tolerance != 1e-3) continue;  // the same steps, fewer or more of them
                RootResult result;
                const double left = what_is_left(one, {.tolerance = tolerance, .solver = solver}, result);
                if (!result.converged) continue;
                EXPECT_LE(left, 1e-2 * tolerance)
                    << one.problem << ' ' << to_string(solver) << ' ' << tolerance;
            }
}

}  // namespace
}  // namespace zonal::gwrm
