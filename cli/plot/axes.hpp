#pragma once

#include <array>
#include <string>
#include <vector>

#include "plot/canvas.hpp"
#include "plot/projection.hpp"
#include "plot/ticks.hpp"

namespace zonal::plot {

/// The first seven are those of Okabe and Ito (2008), told apart with any colour vision; the others are
/// darker than these or between them, for the nine spectra of two maps.
inline constexpr std::array<Rgb, 12> line_colors{{{0, 114, 178},
                                                  {213, 94, 0},
                                                  {0, 158, 115},
                                                  {204, 121, 167},
                                                  {230, 159, 0},
                                                  {86, 180, 233},
                                                  {60, 60, 60},
                                                  {136, 34, 85},
                                                  {128, 128, 0},
                                                  {75, 0, 146},
                                                  {160, 90, 44},
                                                  {0, 70, 60}}};

/// Values to positions 0..1 along an axis.
class AxisScale {
  public:
    AxisScale(Range range, bool is_log);
    bool is_log() const { return is_log_; }
    Range range() const { return range_; }
    /// Beyond [0, 1] outside the range.
    double position(double value) const;
    Ticks ticks(int max_count) const;

  private:
    Range range_;
    bool is_log_;
    double start_, per_unit_;
};

/// The box of a graph, with room for its labels.
class AxesFrame {
  public:
    /// In the whole picture, or in a part of it (pixels). Throws InvalidArgument where the labels leave no
    /// room.
    AxesFrame(const Canvas& canvas, const AxisScale& x, const AxisScale& y, bool has_title);
    AxesFrame(const Canvas& canvas, const Rect& room, const AxisScale& x, const AxisScale& y, bool has_title);

    const AxisScale& y() const { return y_; }
    const Rect& area() const { return area_; }
    int y_exponent() const { return y_ticks_.exponent; }
    Point to_pixel(double x, double y) const;

    void clip() const;
    void draw_grid() const;
    void draw_box_and_labels(const std::string& x_name, const std::string& y_name,
                             const std::string& title) const;

  private:
    const Canvas& canvas_;
    AxisScale x_, y_;
    Ticks x_ticks_, y_ticks_;
    double y_label_width_ = 0;
    Rect room_{};
    Rect area_{};
};

/// How a curve is drawn, in the graph and in the legend.
enum class Stroke { line, dashes, points, hollow_points };

/// Lines drawn from now on are dashed, or whole.
void set_dashes(const Canvas& canvas, bool on);

/// A point of a curve as a filled or hollow disc. radius: points.
void draw_marker(const Canvas& canvas, Point at, double radius, Stroke stroke);

struct LegendEntry {
    struct Sample {
        Stroke stroke;
        Rgb color;
    };
    std::string name;
    std::vector<Sample> samples;  ///< one over the other
};

/// Where a legend may stand, and how many of the drawn points it would cover there.
struct LegendPlace {
    Rect box;
    std::ptrdiff_t covered;
};
/// The corner of `area` where the legend covers fewest of the drawn points (pixels).
LegendPlace best_corner(const Canvas& canvas, const Rect& area, const std::vector<LegendEntry>& entries,
                        const std::vector<Point>& drawn);

/// box: as best_corner has it, moved to anywhere.
void draw_legend(const Canvas& canvas, const Rect& box, const std::vector<LegendEntry>& entries);

}  // namespace zonal::plot
