#include "zonal/gwrm.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/typing.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"

namespace zonal::python {
namespace {

using gwrm::Expression;
using gwrm::Problem;
using gwrm::Solution;
using gwrm::SolveOptions;
using NumpyArray = nb::ndarray<nb::numpy, double>;
using OfPoint = nb::typed<nb::callable, double(double, double, double)>;

/// A Python function of t and two coordinates, which the library calls, copies and lets go without the GIL.
gwrm::Function as_function(const OfPoint& function) {
    const std::shared_ptr<nb::object> kept(new nb::object(function), [](const nb::object* held) {
        const GilAcquire gil;
        delete held;
    });
    return [kept](const gwrm::Point& p) {
        const GilAcquire gil;
        return nb::cast<double>((*kept)(p[0], p[1], p[2]));
    };
}

gwrm::End end_of(bool upper) {
    return upper ? gwrm::End::upper : gwrm::End::lower;
}

void bind_problem(nb::module_& module) {
    nb::class_<Expression>(module, "Expression")
        .def(nb::init<double>())
        .def("__add__", [](const Expression& a, const Expression& b) { return a + b; })
        .def("__mul__", [](const Expression& a, const Expression& b) { return a * b; })
        .def("power", [](const Expression& a, int n) { return gwrm::pow(a, n); })
        .def("derivative", &Expression::derivative);
    nb::class_<gwrm::Axis>(module, "Axis")
        .def("__init__", [](gwrm::Axis* self, const std::string& name, std::pair<double, double> interval,
                            std::int64_t modes, bool is_parameter, int subdomains) {
            using Kind = gwrm::Axis::Kind;
            new (self) gwrm::Axis{name,
                                  {interval.first, interval.second},
                                  modes,
                                  is_parameter ? Kind::parameter : Kind::space,
                                  subdomains};
        });
    nb::class_<Problem>(module, "Problem")
        .def(nb::init<std::vector<gwrm::Axis>>())
        .def("unknown", [](Problem& problem, const std::string& name,
                           const OfPoint& initial) { return problem.unknown(name, as_function(initial)); })
        .def("known",
             [](Problem& problem, const OfPoint& function) { return problem.known(as_function(function)); })
        .def("coordinate", &Problem::coordinate)
        .def("evolve", &Problem::evolve)
        .def("robin",
             [](Problem& problem, const Expression& field, int axis, bool upper, double value_weight,
                double derivative_weight, const std::optional<OfPoint>& g) {
                 problem.robin(field, axis, end_of(upper), value_weight, derivative_weight,
                               g ? as_function(*g) : gwrm::Function());
             })
        .def("periodic", &Problem::periodic);
}

std::vector<std::size_t> shape_of(const Solution& solution) {
    const auto& axes = solution.axes();
    std::vector<std::size_t> shape{static_cast<std::size_t>(solution.n_fields()),
                                   static_cast<std::size_t>(axes.empty() ? 1 : axes[0].subdomains),
                                   static_cast<std::size_t>(solution.time_modes() + 1)};
    for (const auto& axis : axes) shape.push_back(static_cast<std::size_t>(axis.modes + 1));
    return shape;
}

/// Returns the coefficients of one interval, [field, subdomain, k_0, ..].
NumpyArray coefficients_of(const Solution& solution, std::int64_t interval) {
    const auto shape = shape_of(solution);
    auto* const owned =
        new std::vector<double>(solution.pieces().at(static_cast<std::size_t>(interval)).coefficients);
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return {owned->data(), shape.size(), shape.data(), owner};
}

/// points: [point, 3], t and the coordinates
auto values_at(const Solution& solution, int field, const HostArrayOfRank<const double, 2>& points) {
    const auto at = view_of<2>(points);
    return to_numpy(without_gil(nb::none(), [&](const Progress&) {
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(at.extent(0)));
        for (std::int64_t i = 0; i < at.extent(0); ++i)
            values.push_back(solution(field, {at(i, 0), at(i, 1), at(i, 2)}));
        return values;
    }));
}

/// t0 and the end of each interval.
auto ends_of(const Solution& solution) {
    std::vector<double> ends{solution.t0()};
    for (const auto& piece : solution.pieces()) ends.push_back(piece.time.upper);
    return to_numpy(std::move(ends));
}

/// [interval, field] of errors, as rows; those of intervals without any are empty.
std::vector<std::vector<double>> errors_of(const Solution& solution) {
    std::vector<std::vector<double>> errors;
    for (const auto& piece : solution.pieces()) errors.push_back(piece.errors);
    return errors;
}

/// One that was solved before and pickled.
Solution solution_from(std::vector<std::string> names, std::vector<gwrm::Axis> axes, std::int64_t time_modes,
                       const std::vector<double>& ends,
                       const std::vector<HostArray<const double>>& coefficients,
                       std::vector<std::vector<double>> errors, const gwrm::SolveReport& report) {
    std::vector<Solution::Piece> pieces;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
        const auto& a = coefficients[i];
        pieces.push_back(
            {{ends.at(i), ends.at(i + 1)}, {a.data(), a.data() + a.size()}, std::move(errors.at(i))});
    }
    return {std::move(names), std::move(axes), time_modes, std::move(pieces), report};
}

Solution solve_problem(const Problem& problem, SolveOptions options, nb::handle progress) {
    return without_gil(progress, [&](const Progress& report) {
        options.progress = report;
        return gwrm::solve(problem, options);
    });
}

void bind_solve_options(nb::module_& module) {
    nb::enum_<gwrm::Solver>(module, "Solver")
        .value("automatic", gwrm::Solver::automatic)
        .value("newton", gwrm::Solver::newton)
        .value("newton_krylov", gwrm::Solver::newton_krylov)
        .value("sir", gwrm::Solver::sir);
    nb::enum_<HighestMode>(module, "HighestMode")
        .value("projection", HighestMode::projection)
        .value("tau", HighestMode::tau);
    nb::class_<SolveOptions>(module, "SolveOptions")
        .def("__init__",
             [](SolveOptions* self) {
                 new (self) SolveOptions;
                 self->device = Device::cpu();
             })
        .def_prop_rw(
            "device", [](const SolveOptions& options) { return to_string(options.device); },
            [](SolveOptions& options, const std::string& name) { options.device = parse_device(name); })
        .def_rw("t0", &SolveOptions::t0)
        .def_rw("t1", &SolveOptions::t1)
        .def_rw("time_modes", &SolveOptions::time_modes)
        .def_rw("interval", &SolveOptions::interval)
        .def_rw("tolerance", &SolveOptions::tolerance)
        .def_rw("highest_mode", &SolveOptions::highest_mode)
        .def_rw("solver", &SolveOptions::solver)
        .def_rw("max_iterations", &SolveOptions::max_iterations)
        .def_rw("max_intervals", &SolveOptions::max_intervals)
        .def_rw("estimate_error", &SolveOptions::estimate_error)
        .def_rw("threads", &SolveOptions::threads);
}

void bind_solution(nb::module_& module) {
    using gwrm::SolveReport;
    Report<SolveReport>(module, "SolveReport", "What solving an initial-value problem took.")
        .field("intervals", &SolveReport::intervals)
        .field("rejected", &SolveReport::rejected, "Intervals that had to be shorter.")
        .field("iterations", &SolveReport::iterations, "Steps of the root solver.")
        .field("linear_iterations", &SolveReport::linear_iterations, "Steps of GMRES.")
        .field("residual", &SolveReport::residual,
               "The largest coefficient of the residual of the solution, over all intervals.");
    nb::class_<Solution>(module, "Solution")
        .def("values", &values_at)
        .def("coefficients", &coefficients_of)
        .def("ends", &ends_of)
        .def("errors", &errors_of)
        .def("error", [](const Solution& solution, int field, double t) { return solution.error(field, t); })
        .def("times", [](const Solution& solution, int n) { return to_numpy(solution.times(n)); })
        .def_prop_ro("report", &Solution::report);
}

}  // namespace

void bind_gwrm(nb::module_& module) {
    bind_problem(module);
    bind_solve_options(module);
    bind_solution(module);
    module.def("solve", &solve_problem, nb::arg(), nb::arg(), nb::arg().none());
    module.def("solution_from", &solution_from);
}

}  // namespace zonal::python
