// Solves an initial-value problem, the logistic equation u' = u (1 - u), by series in time, with an estimate
// of the error.
#include <zonal/gwrm.hpp>

#include <cmath>
#include <cstdio>

int main() {
    using namespace zonal::gwrm;
    Problem problem;  // an ordinary equation: no axes of space
    const auto u = problem.unknown("u", [](const Point&) { return 0.1; });
    problem.evolve(u, u - u * u);

    const Solution solution = solve(problem, {.t0 = 0, .t1 = 10, .time_modes = 14});
    std::printf("%ld intervals of time\n", long(solution.report().intervals));

    double worst = 0;
    for (const double t : {2.0, 4.0, 6.0, 8.0, 10.0}) {
        // The solution is a function: it has a value anywhere in the interval.
        const double value = solution(0, {t, 0, 0}), exact = 1 / (1 + 9 * std::exp(-t));
        const double error = std::abs(value - exact);
        std::printf("u(%4.1f) = %.14f, error %.1e, estimated %.1e\n", t, value, error, solution.error(0, t));
        if (!(error <= worst)) worst = error;
    }
    return worst < 1e-11 ? 0 : 1;
}
