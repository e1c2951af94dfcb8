#include "commands/solution_graph.hpp"

#include <fmt/core.h>

namespace zonal::cli {
namespace {

Graph against_time(const gwrm::Solution& solution, const std::string& title) {
    Graph graph{title, "t", ""};
    constexpr int per_interval = 16;
    const auto t = solution.times(per_interval);
    for (int field = 0; field < solution.n_fields(); ++field) {
        GraphCurve curve{solution.names()[static_cast<std::size_t>(field)], t, {}};
        curve.color = field % 7;
        for (const double time : t) curve.y.push_back(solution(field, {time, 0, 0}));
        graph.curves.push_back(std::move(curve));
    }
    return graph;
}

/// At five times, or for five values of a parameter at t1.
Graph against_space(const gwrm::Solution& solution, const std::string& title) {
    const auto& axes = solution.axes();
    Graph graph{title, axes[0].name, solution.names()[0]};
    const bool parameter = axes.size() == 2 && axes[1].kind == gwrm::Axis::Kind::parameter;
    constexpr int n_curves = 5, n_points = 401;
    const auto x = axes[0].interval.points(n_points);
    const double middle = axes.size() == 2 ? axes[1].interval.from_reference(0) : 0;
    const auto curves = parameter ? axes[1].interval : Interval{solution.t0(), solution.t1()};
    for (const double value : curves.points(n_curves)) {
        GraphCurve curve{fmt::format("{} = {:.4g}", parameter ? axes[1].name : "t", value), x, {}};
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

}  // namespace

Graph solution_graph(const gwrm::Solution& solution, const std::string& title) {
    return solution.axes().empty() ? against_time(solution, title) : against_space(solution, title);
}

}  // namespace zonal::cli
