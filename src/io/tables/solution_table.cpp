#include <fmt/format.h>

#include <iterator>

#include "zonal/io/atomic_file.hpp"
#include "zonal/io/solution.hpp"

namespace zonal::io {
namespace {

std::vector<double> axis_points(const gwrm::Solution& solution, std::size_t axis) {
    if (axis >= solution.axes().size()) return {0};
    constexpr int on_a_line = 101, in_a_plane = 33;
    return solution.axes()[axis].interval.points(solution.axes().size() == 1 ? on_a_line : in_a_plane);
}

std::string table_of(const gwrm::Solution& solution) {
    constexpr int n_times = 11, per_interval = 16;
    std::string text = "t";
    for (const auto& axis : solution.axes()) text += "," + axis.name;
    for (const auto& name : solution.names()) text += "," + name;
    text += "\n";
    const auto to = std::back_inserter(text);
    const auto times = solution.axes().empty() ? solution.times(per_interval)
                                               : Interval{solution.t0(), solution.t1()}.points(n_times);
    const auto x = axis_points(solution, 0), y = axis_points(solution, 1);
    for (const double t : times)
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

void write_solution_table(const std::string& path, const gwrm::Solution& solution,
                          const WriteOptions& options) {
    AtomicFile table(path, options.overwrite);
    table.write(table_of(solution));
    table.commit();
}

}  // namespace zonal::io
