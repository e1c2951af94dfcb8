#include "plot/graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "plot/axes.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {
namespace {

Stroke stroke_of(GraphStyle style) {
    return style == GraphStyle::points   ? Stroke::points
           : style == GraphStyle::dashes ? Stroke::dashes
                                         : Stroke::line;
}

/// Smallest and largest of the values that an axis can show.
std::optional<Range> range_of(const Graph& graph, bool of_x) {
    std::optional<Range> range;
    const bool is_log = of_x ? graph.log_x : graph.log_y;
    for (const auto& curve : graph.curves)
        for (const double value : of_x ? curve.x : curve.y) {
            if (!std::isfinite(value) || (is_log && value <= 0)) continue;
            if (!range) range = Range{value, value};
            range = Range{std::min(range->minimum, value), std::max(range->maximum, value)};
        }
    return range;
}

AxisScale make_scale(const Graph& graph, bool is_x) {
    const bool is_log = is_x ? graph.log_x : graph.log_y;
    if (const auto& given = is_x ? graph.x_range : graph.y_range) return {*given, is_log};
    const auto found = range_of(graph, is_x);
    if (!found) throw InvalidArgument(is_x ? graph.x_name : graph.y_name, "no value can be drawn");
    auto [low, high] = *found;
    if (is_log) return {low < high ? Range{low / 1.5, high * 2} : Range{low / 3, low * 3}, true};
    const double margin = low < high ? 0.04 * (high - low) : std::max(1.0, std::abs(low)) / 2;
    return {is_x && low < high ? Range{low, high} : Range{low - margin, high + margin}, false};
}

std::string y_label(const Graph& graph, int exponent) {
    return exponent == 0 ? graph.y_name : graph.y_name + "  [" + format_power_of_ten(exponent) + "]";
}

/// The places of a curve's points; those that cannot be shown are empty.
std::vector<std::optional<Point>> places(const Graph& graph, const AxesFrame& frame,
                                         const GraphCurve& curve) {
    std::vector<std::optional<Point>> result(curve.x.size());
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        const double x = curve.x[i], y = curve.y[i];
        if (std::isfinite(x) && std::isfinite(y) && (x > 0 || !graph.log_x) && (y > 0 || !graph.log_y))
            result[i] = frame.to_pixel(x, y);
    }
    return result;
}

void draw_curve(const Canvas& canvas, const GraphCurve& curve,
                const std::vector<std::optional<Point>>& points) {
    canvas.set_color(line_colors[curve.color % line_colors.size()]);
    if (curve.style == GraphStyle::points) {
        for (const auto& point : points)
            if (point) draw_marker(canvas, *point, 2.4, Stroke::points);
        return;
    }
    cairo_new_path(canvas.cairo());
    bool pen_down = false;
    for (const auto& point : points) {
        if (point) (pen_down ? cairo_line_to : cairo_move_to)(canvas.cairo(), point->x, point->y);
        pen_down = point.has_value();
    }
    set_dashes(canvas, curve.style == GraphStyle::dashes);
    canvas.stroke(1.2);
    set_dashes(canvas, false);
}

void draw_level(const Canvas& canvas, const AxesFrame& frame, double level) {
    const auto& area = frame.area();
    const double y = area.bottom() - frame.y().position(level) * area.height;
    if (y < area.y || y > area.bottom()) return;
    cairo_move_to(canvas.cairo(), area.x, y);
    cairo_line_to(canvas.cairo(), area.right(), y);
    canvas.set_color(black, 0.55);
    set_dashes(canvas, true);
    canvas.stroke(0.9);
    set_dashes(canvas, false);
}

std::vector<LegendEntry> legend(const Graph& graph) {
    std::vector<LegendEntry> entries;
    for (const auto& curve : graph.curves)
        if (!curve.name.empty())
            entries.push_back(
                {curve.name, {{stroke_of(curve.style), line_colors[curve.color % line_colors.size()]}}});
    return entries;
}

void draw_graph(const Canvas& canvas, const Rect& room, const Graph& graph) {
    const AxesFrame frame(canvas, room, make_scale(graph, true), make_scale(graph, false),
                          !graph.title.empty());
    frame.draw_grid();
    cairo_save(canvas.cairo());
    frame.clip();
    std::vector<Point> drawn;
    for (const auto& curve : graph.curves) {
        const auto points = places(graph, frame, curve);
        draw_curve(canvas, curve, points);
        for (const auto& point : points)
            if (point) drawn.push_back(*point);
    }
    if (graph.level) draw_level(canvas, frame, *graph.level);
    cairo_restore(canvas.cairo());
    frame.draw_box_and_labels(graph.x_name, y_label(graph, frame.y_exponent()), graph.title);
    if (const auto entries = legend(graph); !entries.empty())
        draw_legend(canvas, best_corner(canvas, frame.area(), entries, drawn).box, entries);
}

}  // namespace

Image draw_graphs(const GraphSheet& sheet) {
    if (sheet.graphs.empty()) throw InvalidArgument("graphs", "must hold at least one graph");
    constexpr double aspect = 0.55;  // of one graph
    const auto count = static_cast<double>(sheet.graphs.size());
    const Canvas canvas(with_defaults(sheet.image, 1300, aspect * count));
    const double height = canvas.height() / count;
    for (std::size_t i = 0; i < sheet.graphs.size(); ++i)
        draw_graph(canvas, {0, height * static_cast<double>(i), double(canvas.width()), height},
                   sheet.graphs[i]);
    return canvas.image();
}

}  // namespace zonal::plot
