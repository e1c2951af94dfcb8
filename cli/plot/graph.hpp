#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plot/plot.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::plot {

enum class GraphStyle { line, dashes, points };

/// A curve through points; values that are not finite leave a gap, on a log axis those that are not positive
/// too.
struct GraphCurve {
    std::string name;  ///< for the legend; empty: none
    std::vector<double> x, y;
    GraphStyle style = GraphStyle::line;
    int color = 0;  ///< 0 to 6, of seven that are told apart with any colour vision
};

/// One box of a picture.
struct Graph {
    std::string title, x_name, y_name;
    bool log_x = false, log_y = false;
    std::optional<Range> x_range, y_range;  ///< empty: of the curves
    std::vector<GraphCurve> curves;
    std::optional<double> level;  ///< a grey line across, such as a bound
};

struct GraphSheet {
    std::vector<Graph> graphs;  ///< below each other
    ImageOptions image;
};

/// Throws InvalidArgument where nothing can be drawn.
Image draw_graphs(const GraphSheet& sheet);

/// Fields against t; with space, the first field against x at several times, or at t1 for several parameters.
Graph solution_graph(const gwrm::Solution& solution, const std::string& title);

}  // namespace zonal::plot
