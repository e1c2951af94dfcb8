#include <cmath>

#include "core/constants.hpp"
#include "gwrm/library_parts.hpp"

namespace zonal::gwrm {
namespace {

using core::pi;

Function sine(double amplitude) {
    return [amplitude](const Point& point) { return amplitude * std::sin(pi * point[1]); };
}

void zero_ends(Problem& problem, const Expression& u, int axis) {
    problem.dirichlet(u, axis, End::lower);
    problem.dirichlet(u, axis, End::upper);
}

ProblemSetup heat(const Values& v, const Modes& modes, int subdomains) {
    Problem problem({{.modes = modes[1], .subdomains = subdomains}});
    const auto u = problem.unknown("u", sine(1));
    problem.evolve(u, v.at("nu") * u.dx().dx());
    zero_ends(problem, u, 1);
    return {problem, {}};
}

ProblemSetup wave(const Values& v, const Modes& modes, int subdomains) {
    Problem problem({{.modes = modes[1], .subdomains = subdomains}});
    const auto u = problem.unknown("u", sine(1)), rate = problem.unknown("v", constant(0));
    problem.evolve(u, rate);
    problem.evolve(rate, v.at("c") * v.at("c") * u.dx().dx());
    zero_ends(problem, u, 1);
    zero_ends(problem, rate, 1);
    return {problem, {}};
}

ProblemSetup burgers(const Values& v, const Modes& modes, int subdomains) {
    Problem problem({{.modes = modes[1], .subdomains = subdomains}});
    const bool parabola = v.at("parabola") != 0;
    const auto u =
        problem.unknown("u", parabola ? [](const Point& p) { return p[1] * (1 - p[1]); } : sine(1));
    problem.evolve(u, v.at("nu") * u.dx().dx() - u * u.dx());
    zero_ends(problem, u, 1);
    return {problem, {}};
}

ProblemSetup burgers_viscosity(const Values& v, const Modes& modes, int subdomains) {
    const Interval viscosities{v.at("nu0"), v.at("nu1")};
    Problem problem(
        {{.modes = modes[1], .subdomains = subdomains},
         {.name = "nu", .interval = viscosities, .modes = modes[2], .kind = Axis::Kind::parameter}});
    const auto u = problem.unknown("u", sine(1));
    const double force = v.at("force");
    const auto f = problem.known([force](const Point& p) { return force * std::sin(2 * pi * p[1]); });
    problem.evolve(u, problem.coordinate(2) * u.dx().dx() - u * u.dx() + f);
    zero_ends(problem, u, 1);
    return {problem, {}};
}

/// u_t + 6 u u_x + u_xxx = 0 with u = c/2 sech^2(sqrt(c)/2 (x - c t - x0)) (Drazin & Johnson 1989);
/// waves leave to the left, so one condition there and two on the right.
ProblemSetup kdv(const Values& v, const Modes& modes, int subdomains) {
    Problem problem(
        {{.interval = {v.at("left"), v.at("right")}, .modes = modes[1], .subdomains = subdomains}});
    const double c = v.at("c"), x0 = v.at("x0");
    const auto soliton = [c, x0](const Point& p) {
        const double cosine = std::cosh(std::sqrt(c) / 2 * (p[1] - c * p[0] - x0));
        return c / 2 / (cosine * cosine);
    };
    const auto slope = [c, x0, soliton](const Point& p) {
        return -std::sqrt(c) * std::tanh(std::sqrt(c) / 2 * (p[1] - c * p[0] - x0)) * soliton(p);
    };
    const auto u = problem.unknown("u", soliton);
    problem.evolve(u, -6.0 * (u * u.dx()) - u.dx().dx().dx());
    problem.dirichlet(u, 1, End::lower, soliton);
    problem.dirichlet(u, 1, End::upper, soliton);
    problem.neumann(u, 1, End::upper, slope);
    return {problem, {}};
}

/// A Gaussian that drifts and spreads; its exact values at the four sides.
ProblemSetup advection_diffusion(const Values& v, const Modes& modes, int subdomains) {
    Problem problem({{.interval = {-1, 1}, .modes = modes[1], .subdomains = subdomains},
                     {.name = "y", .interval = {-1, 1}, .modes = modes[2]}});
    const double a = v.at("a"), b = v.at("b"), nu = v.at("nu"), width = v.at("width");
    const auto exact = [=](const Point& p) {
        const double spread = width * width + 4 * nu * p[0], x = p[1] - a * p[0], y = p[2] - b * p[0];
        return width * width / spread * std::exp(-(x * x + y * y) / spread);
    };
    const auto u = problem.unknown("u", exact);
    problem.evolve(u, nu * (u.dx().dx() + u.dy().dy()) - a * u.dx() - b * u.dy());
    for (const int axis : {1, 2})
        for (const auto end : {End::lower, End::upper}) problem.dirichlet(u, axis, end, exact);
    return {problem, {}};
}

LibraryProblem pde(std::string name, std::string equation, std::vector<Setting> settings, Modes modes,
                   ProblemSetup (*make)(const Values&, const Modes&, int)) {
    add_times(settings, 1);
    return {std::move(name), std::move(equation), std::move(settings), std::move(modes), make};
}

}  // namespace

void add_times(std::vector<Setting>& settings, double t1) {
    settings.push_back({"t0", 0, -1e6, 1e6, "first time"});
    settings.push_back({"t1", t1, -1e6, 1e6, "last time"});
}

std::vector<LibraryProblem> library_pdes() {
    const Setting viscosity{"nu", 0.1, 1e-4, 1e3, "viscosity"};
    return {
        pde("heat", "u_t = nu u_xx on [0, 1], u = sin(pi x) at t0, 0 at the ends",
            {{"nu", 1, 1e-6, 1e3, "diffusivity"}}, {12, 20}, heat),
        pde("wave", "u_t = v, v_t = c^2 u_xx on [0, 1], u = sin(pi x), v = 0 at t0, u = 0 at the ends",
            {{"c", 1, 1e-3, 1e3, "speed"}}, {16, 20}, wave),
        pde("burgers", "u_t = nu u_xx - u u_x on [0, 1], u = sin(pi x) at t0, 0 at the ends",
            {viscosity, {"parabola", 0, 0, 1, "1: u = x (1 - x) at t0"}}, {12, 40}, burgers),
        pde("burgers-viscosity",
            "u_t = nu u_xx - u u_x + force sin(2 pi x) on [0, 1] for all nu in [nu0, nu1], u = sin(pi x) at "
            "t0",
            {{"nu0", 0.2, 1e-4, 1e3, "smallest viscosity"},
             {"nu1", 0.4, 1e-4, 1e3, "largest viscosity"},
             {"force", 1, -1e3, 1e3, "strength"}},
            {10, 24, 8}, burgers_viscosity),
        pde("kdv", "u_t = -6 u u_x - u_xxx, a soliton of speed c",
            {{"c", 1, 1e-3, 100, "speed"},
             {"x0", -2, -1e3, 1e3, "crest at t = 0"},
             {"left", -10, -1e3, 1e3, "lower end"},
             {"right", 10, -1e3, 1e3, "upper end"}},
            {16, 96}, kdv),
        pde("advection-diffusion", "u_t = nu (u_xx + u_yy) - a u_x - b u_y on [-1, 1]^2, a drifting Gaussian",
            {viscosity,
             {"a", 0.5, -100, 100, "speed in x"},
             {"b", 0.25, -100, 100, "speed in y"},
             {"width", 0.5, 0.01, 10, "of the Gaussian at t = 0"}},
            {12, 20, 20}, advection_diffusion)};
}

}  // namespace zonal::gwrm
