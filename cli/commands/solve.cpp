#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "commands/recipe.hpp"
#include "commands/solution_graph.hpp"
#include "shell/timing.hpp"
#include "zonal/gwrm/library.hpp"
#include "zonal/io/solution.hpp"

namespace zonal::cli {
namespace {

using gwrm::Solver;

struct SolveCommand {
    std::string problem, out, plot;
    std::vector<std::string> set, at, modes;
    std::int64_t subdomains = 1, threads = 1, repeat = 1;
    double interval = 0, tolerance = gwrm::SolveOptions{}.tolerance;
    Solver solver = Solver::automatic;
    HighestMode highest_mode = HighestMode::projection;
    bool no_errors = false;
    Device device = Device::automatic();
    OutputOptions output;
};

std::string problem_names() {
    std::string names;
    for (const auto& problem : gwrm::library_problems()) names += (names.empty() ? "" : ", ") + problem.name;
    return names;
}

void declare_method(CLI::App& app, SolveCommand& options) {
    const OptionGroup method(app, "Method");
    method.list("--modes", options.modes, "K,L,...", "highest Chebyshev modes in time and along each axis",
                "what suits the problem's own settings");
    method.number("--interval", options.interval, {1e-12, 1e12}, "length of the time intervals",
                  "as the decay of the highest modes and Newton's convergence ask for");
    method.integer("--subdomains", options.subdomains, {1, 1024},
                   "equal parts of the first axis, joined by continuity", "1");
    method.number("--tolerance", options.tolerance, {1e-15, 0.1},
                  "of the highest modes in time and of the root solver, relative to a field's largest value",
                  "1e-12");
    method.choice<Solver>("--solver", options.solver,
                          {{"automatic", Solver::automatic},
                           {"newton", Solver::newton},
                           {"newton-krylov", Solver::newton_krylov},
                           {"sir", Solver::sir}},
                          "how the equations of an interval are solved", "automatic");
    method.choice<HighestMode>("--highest-mode", options.highest_mode,
                               {{"projection", HighestMode::projection}, {"tau", HighestMode::tau}},
                               "of the integral in time", "projection");
    method.flag("--no-errors", options.no_errors,
                "do not estimate errors, which takes about half as long as solving");
    method.integer("--threads", options.threads, {0, 4096}, "threads for products on the CPU; 0: all CPUs",
                   "1");
    method.integer("--repeat", options.repeat, {1, 10000}, "runs; `seconds` is the fastest", "1");
}

void declare(CLI::App& app, SolveCommand& options) {
    const OptionGroup problem(app, "Problem"), output(app, "Output");
    add_argument(app, "PROBLEM", options.problem, problem_names());
    problem.list("--set", options.set, "NAME=VALUE",
                 "a number of the problem, such as nu=0.1 or t1=1; the report lists them all");
    problem.list("--at", options.at, "X,...",
                 "points at t1 where the first field is printed; with two axes X:Y,...",
                 "a quarter, a half and three quarters of the first axis");
    declare_method(app, options);
    output.text("-o,--output", options.out, "FILE",
                ".fits: the Chebyshev series of every interval; .csv: values at equally spaced points");
    output.text("--plot", options.plot, "FILE", "picture of the solution: .png, .pdf or .svg");
    add_device_option(app, options.device);
    add_output_options(app, options.output);
}

std::map<std::string, double> settings_of(const std::vector<std::string>& words) {
    constexpr double any = std::numeric_limits<double>::infinity();
    std::map<std::string, double> values;
    for (const auto& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw UsageError(fmt::format("--set = {}: must be NAME=VALUE, such as nu=0.1", printable(word)));
        const auto name = word.substr(0, equals);
        if (!values.emplace(name, parse_number("--set " + name, word.substr(equals + 1), -any, any)).second)
            throw UsageError(fmt::format("--set {}: is given twice", printable(name)));
    }
    return values;
}

/// What the library finds wrong with a setting is wrong use here.
template <class Work>
auto as_usage(const Work& work) {
    return with_error<UsageError>(work, "");
}

gwrm::ProblemSetup set_up(const SolveCommand& options, const std::map<std::string, double>& settings) {
    std::vector<std::int64_t> modes;
    for (const auto& text : options.modes) modes.push_back(parse_integer("--modes", text, 0, 4096));
    auto setup = as_usage([&] {
        return gwrm::make_library_problem(options.problem, settings, modes,
                                          static_cast<int>(options.subdomains));
    });
    auto& solve = setup.options;
    if (!(solve.t0 < solve.t1))
        throw UsageError(fmt::format("--set t1 = {}: must be above t0 = {}", solve.t1, solve.t0));
    solve.interval = options.interval;
    solve.tolerance = options.tolerance;
    solve.solver = options.solver;
    solve.highest_mode = options.highest_mode;
    solve.estimate_error = !options.no_errors;
    solve.threads = static_cast<int>(options.threads);
    const bool automatic = options.device.kind() == Device::Kind::automatic;  // gwrm::solve decides
    solve.device = automatic ? options.device : device_of_option(options.device);
    return setup;
}

gwrm::Point parse_point(const std::string& text, const std::vector<gwrm::Axis>& axes, double t1) {
    std::vector<std::string> parts(1);
    for (const char character : text)
        character == ':' ? void(parts.emplace_back()) : parts.back().push_back(character);
    if (parts.size() != axes.size())
        throw UsageError(fmt::format("--at = {}: must be {} with a colon between", printable(text),
                                     axes.size() == 1 ? "one coordinate, not several" : "two coordinates"));
    gwrm::Point point{t1, 0, 0};
    for (std::size_t i = 0; i < axes.size(); ++i)
        point.at(i + 1) = parse_number("--at", parts[i], axes[i].interval.lower, axes[i].interval.upper);
    return point;
}

std::vector<gwrm::Point> points_of(const SolveCommand& options, const gwrm::ProblemSetup& setup) {
    const auto& axes = setup.problem.axes();
    std::vector<gwrm::Point> points;
    if (axes.empty() && !options.at.empty())
        throw UsageError(
            fmt::format("--at: {} has no space; its values are those of all fields at t1", options.problem));
    for (const auto& text : options.at) points.push_back(parse_point(text, axes, setup.options.t1));
    if (!axes.empty() && points.empty())
        for (const double sigma : {-0.5, 0.0, 0.5})
            points.push_back({setup.options.t1, axes[0].interval.from_reference(sigma),
                              axes.size() > 1 ? axes[1].interval.from_reference(0) : 0});
    return points;
}

Json finite(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// Without space the values of all fields at t1, else of the first field at the points.
void report_values(const gwrm::Solution& solution, const std::vector<gwrm::Point>& points, Session& session) {
    auto values = Json::array(), errors = Json::array();
    if (points.empty())
        for (int field = 0; field < solution.n_fields(); ++field) {
            values.push_back(solution(field, {solution.t1(), 0, 0}));
            errors.push_back(finite(solution.error(field)));
        }
    for (const auto& point : points) {
        values.push_back(solution(0, point));
        errors.push_back(finite(solution.error(0)));
    }
    session.report["values"] = values;
    session.report["errors"] = errors;
}

void report_work(const SolveCommand& options, const gwrm::Solution& solution, double seconds,
                 Session& session) {
    const auto& work = solution.report();
    auto& report = session.report;
    report["device"] = to_string(work.device);
    report["intervals"] = work.intervals;
    report["rejected_intervals"] = work.rejected;
    report["iterations"] = work.iterations;
    report["linear_iterations"] = work.linear_iterations;
    report["residual"] = work.residual;
    report["seconds"] = seconds;
    if (options.no_errors) return;
    double error = 0;
    for (int field = 0; field < solution.n_fields(); ++field) error = std::max(error, solution.error(field));
    constexpr double doubtful = 1e-3;
    if (!std::isfinite(error))
        session.note("the error could not be estimated: more modes or shorter intervals may help");
    else if (error > doubtful)
        session.note(fmt::format(
            "the estimated error is {:.2g}: more modes (--modes) or --subdomains may help", error));
}

void write_files(const SolveCommand& options, const io::SolutionFile& file, Session& session) {
    const auto how = options.output.write_options();
    if (!options.out.empty()) {
        if (is_csv_name(options.out))
            io::write_solution_table(options.out, file.solution, how);
        else
            io::write_solution(options.out, file, how);
        session.report["output"] = options.out;
    }
    if (!options.plot.empty()) {
        draw_graphs(options.plot, {solution_graph(file.solution, file.problem)}, options.output, session);
        session.report["plot"] = options.plot;
    }
}

void run(SolveCommand& options, Session& session) {
    if (!options.out.empty()) options.output.require_writable(options.out, OutputFormat::csv_or_fits);
    if (!options.plot.empty()) options.output.require_writable(options.plot, OutputFormat::picture);
    const auto changes = settings_of(options.set);
    auto setup = set_up(options, changes);
    const auto points = points_of(options, setup);
    const auto& problem = gwrm::library_problem(options.problem);
    auto& report = session.report;
    report["problem"] = problem.name;
    report["equation"] = problem.equation;
    std::vector<io::SolutionParameter> settings;
    for (const auto& setting : problem.settings) {
        const auto change = changes.find(setting.name);
        settings.push_back({setting.name, change == changes.end() ? setting.value : change->second});
        report["settings"][setting.name] = settings.back().value;
    }
    setup.options.progress = session.progress("solve");
    setup.options.check_memory = session.memory_check();
    std::optional<gwrm::Solution> solution;
    double seconds = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < options.repeat; ++i)
        seconds = std::min(seconds, seconds_of([&] {
                               solution = as_usage([&] { return gwrm::solve(setup.problem, setup.options); });
                           }));
    report_values(*solution, points, session);
    report_work(options, *solution, seconds, session);
    auto cards = provenance(session);
    cards.push_back({"COMMENT", problem.equation, ""});
    write_files(options,
                {std::move(*solution), problem.name, settings, options.highest_mode, options.tolerance,
                 std::move(cards)},
                session);
}

}  // namespace

void add_solve(CLI::App& root, Session& session, Action& action) {
    add_command<SolveCommand>(
        root, session, action, "solve",
        "Solves a built-in initial-value problem in Chebyshev series in time, space and "
        "parameters. It is here because it computes with coefficients of smooth functions as "
        "the transforms on the sphere do, and with the same fast products of series.",
        "zonal solve burgers --set nu=0.1 --set t1=1 --at 0.25,0.5,0.75 --json\n"
        "  zonal solve lorenz63 --set t1=20 --plot lorenz.png -o lorenz.fits",
        declare, run);
}

}  // namespace zonal::cli
