#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "zonal/gwrm.hpp"

/// Problems that are built in (`zonal solve`).
namespace zonal::gwrm {

/// A number that a problem can be changed by.
struct Setting {
    std::string name;
    double value;  ///< by default
    double minimum, maximum;
    std::string description;
};

/// A problem and how it is best solved.
struct ProblemSetup {
    Problem problem;
    SolveOptions options;  ///< time_modes and times that suit it
};

/// A family of problems: its equation and what can be set.
struct LibraryProblem {
    std::string name, equation;
    std::vector<Setting> settings;
    std::vector<std::int64_t> modes;  ///< by default: time, then axes
    /// values: of every setting, t0 and t1 among them.
    std::function<ProblemSetup(const std::map<std::string, double>& values,
                               const std::vector<std::int64_t>& modes, int subdomains)>
        make;
};

/// lorenz63, lorenz84, brusselator, vanderpol, heat, wave, burgers, burgers-viscosity, kdv,
/// advection-diffusion.
const std::vector<LibraryProblem>& library_problems();
/// Throws InvalidArgument with the names that there are.
const LibraryProblem& library_problem(const std::string& name);
/// changes: settings that differ from the default. modes: empty: by default. subdomains: of the first axis.
/// Throws InvalidArgument for names and values that the problem does not take.
ProblemSetup make_library_problem(const std::string& name, const std::map<std::string, double>& changes = {},
                                  const std::vector<std::int64_t>& modes = {}, int subdomains = 1);

}  // namespace zonal::gwrm
