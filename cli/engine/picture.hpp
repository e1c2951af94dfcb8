#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// What the Python package draws, in the words of its module zonal.plot._tool.
struct PictureRequest {
    Json json;
    std::vector<std::span<const double>> maps{};  ///< that the JSON names by their number
};

/// Runs the Python package, and writes the picture that it makes, as the name's extension says: PNG, PDF or
/// SVG. Returns what it tells of the picture; its notes go to the session. Throws Error or UsageError, and
/// Cancelled after a signal.
Json draw_picture(const std::string& path, const PictureRequest& request, const OutputOptions& output,
                  Session& session);

/// How a curve of a graph looks.
enum class GraphStyle { line, dashes, points };

/// A curve through points. Values that are not finite leave a gap, on a log axis those that are not positive
/// too.
struct GraphCurve {
    std::string name;  ///< for the legend; empty: none
    std::vector<double> x, y;
    GraphStyle style = GraphStyle::line;
    int color = 0;  ///< 0 to 6
};

/// One box of a picture. Texts may hold formulas between $, as matplotlib takes them.
struct Graph {
    std::string title, x_name, y_name;
    bool log_y = false;
    std::vector<double> y_range;  ///< both ends; empty: of the curves
    std::vector<GraphCurve> curves;
    std::optional<double> level;  ///< a grey line across, such as a bound
};

/// Graphs below each other.
void draw_graphs(const std::string& path, const std::vector<Graph>& graphs, const OutputOptions& output,
                 Session& session);
Json to_json(const std::vector<Graph>& graphs);

}  // namespace zonal::cli
