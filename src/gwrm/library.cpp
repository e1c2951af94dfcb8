#include "zonal/gwrm/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/constants.hpp"

namespace zonal::gwrm {
namespace {

using core::pi;
using Values = std::map<std::string, double>;
using Modes = std::vector<std::int64_t>;

constexpr double any = 1e6;

Function constant(double value) {
    return [value](const Point&) { return value; };
}

void add_times(std::vector<Setting>& settings, double t1) {
    settings.push_back({"t0", 0, -any, any, "first time"});
    settings.push_back({"t1", t1, -any, any, "last time"});
}

ProblemSetup lorenz63(const Values& v, const Modes&, int) {
    Problem problem;
    const auto x = problem.unknown("x", constant(v.at("x0"))), y = problem.unknown("y", constant(v.at("y0"))),
               z = problem.unknown("z", constant(v.at("z0")));
    problem.evolve(x, v.at("sigma") * (y - x));
    problem.evolve(y, x * (v.at("rho") - z) - y);
    problem.evolve(z, x * y - v.at("beta") * z);
    return {problem, {}};
}

ProblemSetup lorenz84(const Values& v, const Modes&, int) {
    Problem problem;
    const auto x = problem.unknown("x", constant(v.at("x0"))), y = problem.unknown("y", constant(v.at("y0"))),
               z = problem.unknown("z", constant(v.at("z0")));
    const double a = v.at("a"), b = v.at("b");
    problem.evolve(x, a * v.at("F") - y * y - z * z - a * x);
    problem.evolve(y, x * y - b * x * z - y + v.at("G"));
    problem.evolve(z, b * x * y + x * z - z);
    return {problem, {}};
}

ProblemSetup brusselator(const Values& v, const Modes&, int) {
    Problem problem;
    const auto x = problem.unknown("x", constant(v.at("x0"))), y = problem.unknown("y", constant(v.at("y0")));
    const double a = v.at("A"), b = v.at("B");
    problem.evolve(x, a + x * x * y - (b + 1) * x);
    problem.evolve(y, b * x - x * x * y);
    return {problem, {}};
}

ProblemSetup vanderpol(const Values& v, const Modes&, int) {
    Problem problem;
    const auto x = problem.unknown("x", constant(v.at("x0"))), y = problem.unknown("y", constant(v.at("y0")));
    problem.evolve(x, y);
    problem.evolve(y, v.at("mu") * ((1 - x * x) * y) - x);
    return {problem, {}};
}

LibraryProblem ode(std::string name, std::string equation, std::vector<Setting> settings, double t1,
                   std::int64_t time_modes, ProblemSetup (*make)(const Values&, const Modes&, int)) {
    for (auto& setting : settings)
        if (setting.minimum == setting.maximum)
            setting = {setting.name, setting.value, -any, any, setting.description};
    add_times(settings, t1);
    return {std::move(name), std::move(equation), std::move(settings), {time_modes}, make};
}

Setting number(const char* name, double value, const char* description) {
    return {name, value, -any, any, description};
}

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

/// The problems with space.
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

std::vector<LibraryProblem> make_all() {
    std::vector<LibraryProblem> all;
    all.push_back(ode("lorenz63", "x' = sigma (y - x), y' = x (rho - z) - y, z' = x y - beta z",
                      {number("sigma", 10, "Prandtl number"), number("rho", 28, "Rayleigh number"),
                       number("beta", 8.0 / 3, "geometry"), number("x0", 1, "x at t0"),
                       number("y0", 1, "y at t0"), number("z0", 1, "z at t0")},
                      10, 20, lorenz63));
    all.push_back(ode("lorenz84",
                      "x' = -y^2 - z^2 - a x + a F, y' = x y - b x z - y + G, z' = b x y + x z - z",
                      {number("a", 0.25, "damping"), number("b", 4, "displacement of waves"),
                       number("F", 8, "symmetric forcing"), number("G", 1, "asymmetric forcing"),
                       number("x0", 1, "x at t0"), number("y0", 0, "y at t0"), number("z0", 0, "z at t0")},
                      10, 20, lorenz84));
    all.push_back(ode("brusselator", "x' = A + x^2 y - (B + 1) x, y' = B x - x^2 y",
                      {number("A", 1, "feed"), number("B", 3, "feed"), number("x0", 1.5, "x at t0"),
                       number("y0", 3, "y at t0")},
                      20, 20, brusselator));
    all.push_back(
        ode("vanderpol", "x' = y, y' = mu (1 - x^2) y - x",
            {{"mu", 100, 0, 1e6, "stiffness"}, number("x0", 2, "x at t0"), number("y0", 0, "y at t0")}, 200,
            20, vanderpol));
    for (auto& problem : library_pdes()) all.push_back(std::move(problem));
    return all;
}

void check_modes(const LibraryProblem& problem, const std::vector<std::int64_t>& modes) {
    if (modes.size() != problem.modes.size())
        throw InvalidArgument(
            "modes", fmt::format("{}", fmt::join(modes, ",")),
            fmt::format("{} takes {}: of time and each axis", problem.name, problem.modes.size()));
}

}  // namespace

const std::vector<LibraryProblem>& library_problems() {
    static const auto all = make_all();
    return all;
}

const LibraryProblem& library_problem(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& problem : library_problems()) {
        if (problem.name == name) return problem;
        names.push_back(problem.name);
    }
    throw InvalidArgument("problem", name, fmt::format("must be one of {}", fmt::join(names, ", ")));
}

ProblemSetup make_library_problem(const std::string& name, const std::map<std::string, double>& changes,
                                  const std::vector<std::int64_t>& modes, int subdomains) {
    const auto& problem = library_problem(name);
    std::map<std::string, double> values;
    std::vector<std::string> names;
    for (const auto& setting : problem.settings) {
        values[setting.name] = setting.value;
        names.push_back(setting.name);
    }
    for (const auto& [key, value] : changes) {
        const auto known = std::find_if(problem.settings.begin(), problem.settings.end(),
                                        [&, k = key](const Setting& setting) { return setting.name == k; });
        if (known == problem.settings.end())
            throw InvalidArgument(
                key, fmt::format("is no setting of {}, which has {}", name, fmt::join(names, ", ")));
        if (!(value >= known->minimum && value <= known->maximum))
            throw InvalidArgument(key, value,
                                  fmt::format("must be from {} to {}", known->minimum, known->maximum));
        values[key] = value;
    }
    const auto& chosen = modes.empty() ? problem.modes : modes;
    check_modes(problem, chosen);
    if (subdomains != 1 && problem.modes.size() < 2)
        throw InvalidArgument("subdomains", subdomains, fmt::format("must be 1, as {} has no space", name));
    auto setup = problem.make(values, chosen, subdomains);
    setup.options.time_modes = chosen[0];
    setup.options.t0 = values.at("t0");
    setup.options.t1 = values.at("t1");
    return setup;
}

}  // namespace zonal::gwrm
