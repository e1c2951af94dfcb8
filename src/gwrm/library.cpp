#include "zonal/gwrm/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "gwrm/library_parts.hpp"

namespace zonal::gwrm {
namespace {

constexpr double any = 1e6;

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
        throw InvalidArgument(fmt::format("modes = {}: {} takes {}: of time and each axis",
                                          fmt::join(modes, ","), problem.name, problem.modes.size()));
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
    throw InvalidArgument(fmt::format("problem = {}: must be one of {}", name, fmt::join(names, ", ")));
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
                fmt::format("{}: is no setting of {}, which has {}", key, name, fmt::join(names, ", ")));
        if (!(value >= known->minimum && value <= known->maximum))
            throw InvalidArgument(
                fmt::format("{} = {}: must be from {} to {}", key, value, known->minimum, known->maximum));
        values[key] = value;
    }
    const auto& chosen = modes.empty() ? problem.modes : modes;
    check_modes(problem, chosen);
    if (subdomains != 1 && problem.modes.size() < 2)
        throw InvalidArgument(
            fmt::format("subdomains = {}: must be 1, as {} has no space", subdomains, name));
    auto setup = problem.make(values, chosen, subdomains);
    setup.options.time_modes = chosen[0];
    setup.options.t0 = values.at("t0");
    setup.options.t1 = values.at("t1");
    return setup;
}

}  // namespace zonal::gwrm
