#include "commands/solve_output.hpp"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "options/common_options.hpp"
#include "plot/graph.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

std::vector<double> even_points(Interval interval, int n) {
    std::vector<double> points;
    points.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) points.push_back(interval.from_reference(n == 1 ? 0 : 2.0 * i / (n - 1) - 1));
    return points;
}

/// Several in each time interval where there is only time.
std::vector<double> times(const gwrm::Solution& solution, int n_with_space) {
    const Interval whole{solution.t0(), solution.t1()};
    if (!solution.axes().empty()) return even_points(whole, n_with_space);
    std::vector<double> points{solution.t0()};
    for (const auto& piece : solution.pieces()) {
        constexpr int per_interval = 16;
        const auto more = even_points(piece.time, per_interval + 1);
        points.insert(points.end(), more.begin() + 1, more.end());
    }
    return points;
}

std::vector<double> axis_points(const gwrm::Solution& solution, std::size_t axis) {
    if (axis >= solution.axes().size()) return {0};
    constexpr int on_a_line = 101, in_a_plane = 33;
    return even_points(solution.axes()[axis].interval, solution.axes().size() == 1 ? on_a_line : in_a_plane);
}

plot::Graph against_time(const gwrm::Solution& solution, const std::string& title) {
    plot::Graph graph{title, "t", ""};
    const auto t = times(solution, 0);
    for (int field = 0; field < solution.n_fields(); ++field) {
        plot::GraphCurve curve{solution.names()[static_cast<std::size_t>(field)], t, {}};
        curve.color = field % 7;
        for (const double time : t) curve.y.push_back(solution(field, {time, 0, 0}));
        graph.curves.push_back(std::move(curve));
    }
    return graph;
}

/// At five times, or for five values of a parameter at t1.
plot::Graph against_space(const gwrm::Solution& solution, const std::string& title) {
    const auto& axes = solution.axes();
    plot::Graph graph{title, axes[0].name, solution.names()[0]};
    const bool parameter = axes.size() == 2 && axes[1].kind == gwrm::Axis::Kind::parameter;
    constexpr int n_curves = 5, n_points = 401;
    const auto x = even_points(axes[0].interval, n_points);
    const double middle = axes.size() == 2 ? axes[1].interval.from_reference(0) : 0;
    for (const double value :
         even_points(parameter ? axes[1].interval : Interval{solution.t0(), solution.t1()}, n_curves)) {
        plot::GraphCurve curve{fmt::format("{} = {:.4g}", parameter ? axes[1].name : "t", value), x, {}};
        curve.color = static_cast<int>(graph.curves.size());
        for (const double z : x)
            curve.y.push_back(solution(
                0, parameter ? gwrm::Point{solution.t1(), z, value} : gwrm::Point{value, z, middle}));
        graph.curves.push_back(std::move(curve));
    }
    if (axes.size() == 2)
        graph.title += parameter ? fmt::format(", t = {:.4g}", solution.t1())
                                 : fmt::format(", {} = {:.4g}", axes[1].name, middle);
    return graph;
}

std::string table_of(const gwrm::Solution& solution) {
    constexpr int n_times = 11;
    std::string text = "t";
    for (const auto& axis : solution.axes()) text += "," + axis.name;
    for (const auto& name : solution.names()) text += "," + name;
    text += "\n";
    const auto to = std::back_inserter(text);
    const auto x = axis_points(solution, 0), y = axis_points(solution, 1);
    for (const double t : times(solution, n_times))
        for (const double z : x)
            for (const double w : y) {
                const gwrm::Point point{t, z, w};
                fmt::format_to(to, "{}", t);
                for (std::size_t axis = 0; axis < solution.axes().size(); ++axis)
                    fmt::format_to(to, ",{}", point.at(axis + 1));
                for (int field = 0; field < solution.n_fields(); ++field)
                    fmt::format_to(to, ",{}", solution(field, point));
                text += "\n";
            }
    return text;
}

}  // namespace

void write_series_or_table(const std::string& path, const io::SolutionFile& file,
                           const io::WriteOptions& options) {
    if (!is_csv_name(path)) return io::write_solution(path, file, options);
    io::AtomicFile table(path, options.overwrite);
    table.write(table_of(file.solution));
    table.commit();
}

void plot_solution(const std::string& path, const gwrm::Solution& solution, const std::string& title) {
    plot::GraphSheet sheet;
    sheet.graphs = {solution.axes().empty() ? against_time(solution, title) : against_space(solution, title)};
    plot::draw_graphs(sheet).write_png(path);
}

}  // namespace zonal::cli
