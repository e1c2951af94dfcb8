#include <algorithm>
#include <cmath>

#include "plot/markup.hpp"
#include "plot/sky_panel.hpp"

namespace zonal::plot {

namespace {

/// The bar seen along its length, from its low end: positions are 0..1, across is 0 at the labels' side.
class BarFrame {
  public:
    BarFrame(const Canvas& canvas, const Rect& bar) : canvas_(canvas), bar_(bar) {}

    bool is_horizontal() const { return bar_.width > bar_.height; }
    double length() const { return is_horizontal() ? bar_.width : bar_.height; }
    double thickness() const { return is_horizontal() ? bar_.height : bar_.width; }

    /// `beyond`: pixels away from the bar on the labels' side.
    Point point(double position, double beyond) const {
        if (is_horizontal()) return {bar_.x + position * bar_.width, bar_.bottom() + beyond};
        return {bar_.right() + beyond, bar_.bottom() - position * bar_.height};
    }
    void move_to(double position, double beyond) const {
        cairo_move_to(canvas_.cairo(), point(position, beyond).x, point(position, beyond).y);
    }
    void line_to(double position, double beyond) const {
        cairo_line_to(canvas_.cairo(), point(position, beyond).x, point(position, beyond).y);
    }

  private:
    const Canvas& canvas_;
    Rect bar_;
};

/// The bar's shape: a box, pointed at an end beyond which there are values.
void outline(const Canvas& canvas, const BarFrame& frame, Clipped clipped) {
    const double tip = 0.9 * frame.thickness() / frame.length();
    const double far = -frame.thickness();
    cairo_new_path(canvas.cairo());
    frame.move_to(0, 0);
    frame.line_to(1, 0);
    if (clipped.above) frame.line_to(1 + tip, far / 2);
    frame.line_to(1, far);
    frame.line_to(0, far);
    if (clipped.below) frame.line_to(-tip, far / 2);
    cairo_close_path(canvas.cairo());
}

void fill_segment(const Canvas& canvas, const BarFrame& frame, double from, double to, Rgb color) {
    cairo_new_path(canvas.cairo());
    frame.move_to(from, 0);
    frame.line_to(to, 0);
    frame.line_to(to, -frame.thickness());
    frame.line_to(from, -frame.thickness());
    cairo_close_path(canvas.cairo());
    canvas.set_color(color);
    cairo_fill(canvas.cairo());
}

void fill(const Canvas& canvas, const BarFrame& frame, const Colormap& colormap, Clipped clipped) {
    cairo_save(canvas.cairo());
    outline(canvas, frame, clipped);
    cairo_clip(canvas.cairo());
    // edges between colours fall on whole pixels, without a pale line of blending
    cairo_set_antialias(canvas.cairo(), CAIRO_ANTIALIAS_NONE);
    fill_segment(canvas, frame, -1, 0, colormap.at(0));
    fill_segment(canvas, frame, 1, 2, colormap.at(1));
    const int n = static_cast<int>(std::ceil(frame.length()));
    for (int i = 0; i < n; ++i)
        fill_segment(canvas, frame, i / double(n), (i + 1.0) / n, colormap.at((i + 0.5) / n));
    cairo_restore(canvas.cairo());
    outline(canvas, frame, clipped);
    canvas.set_color(black);
    canvas.stroke(0.6);
}

/// Whether the labels keep a distance from each other.
bool fits(const Canvas& canvas, const BarFrame& frame, const ColorScale& scale, const Ticks& ticks) {
    double end = -1e9;  // of the label before, along the bar
    for (const Tick& tick : ticks.ticks) {
        if (tick.label.empty()) continue;
        const double extent =
            frame.is_horizontal() ? canvas.text_width(tick.label) + canvas.pt(6) : canvas.pt(26);
        const double middle = scale.position(tick.value) * frame.length();
        if (middle - extent / 2 < end) return false;
        end = middle + extent / 2;
    }
    return true;
}

/// As many ticks as have room; the two ends where not even two round numbers fit.
Ticks fitting_ticks(const Canvas& canvas, const BarFrame& frame, const ColorScale& scale) {
    for (int max_count = 9; max_count >= 2; --max_count) {
        Ticks ticks = scale.ticks(max_count);
        const auto n_labels = std::count_if(ticks.ticks.begin(), ticks.ticks.end(),
                                            [](const Tick& tick) { return !tick.label.empty(); });
        if (n_labels >= 2 && fits(canvas, frame, scale, ticks)) return ticks;
    }
    const auto [minimum, maximum] = scale.range();
    return {{{minimum, format_significant(minimum, 2)}, {maximum, format_significant(maximum, 2)}}, 0};
}

/// Draws the ticks; the furthest pixel that their labels reach on their side.
double draw_ticks(const Canvas& canvas, const BarFrame& frame, const ColorScale& scale, const Ticks& ticks) {
    const double gap = canvas.pt(6);
    TextStyle style;
    if (frame.is_horizontal())
        style.vertical = Align::start;
    else
        style.horizontal = Align::start;
    LabelPlacer placer(canvas);
    for (const Tick& tick : ticks.ticks) {
        const double position = scale.position(tick.value);
        frame.move_to(position, 0);
        frame.line_to(position, canvas.pt(tick.label.empty() ? 2 : 3.5));
        canvas.set_color(black);
        canvas.stroke(0.6);
        const Point at = frame.point(position, gap);
        if (!tick.label.empty()) placer.place(tick.label, at.x, at.y, style, canvas.pt(3));
    }
    double reach = frame.is_horizontal() ? frame.point(0, gap).y : frame.point(0, gap).x;
    for (const Rect& label : placer.placed())
        reach = std::max(reach, frame.is_horizontal() ? label.bottom() : label.right());
    return reach;
}

std::string unit_label(const std::string& unit, int exponent) {
    std::string typeset = pretty_unit(unit);
    if (exponent == 0) return typeset;
    return typeset.empty() ? "×" + format_power_of_ten(exponent)
                           : format_power_of_ten(exponent) + " " + typeset;
}

}  // namespace

double colorbar_label_width(const Canvas& canvas, const Rect& bar, const ColorScale& scale) {
    double widest = 0;
    for (const Tick& tick : fitting_ticks(canvas, BarFrame(canvas, bar), scale).ticks)
        widest = std::max(widest, canvas.text_width(tick.label));
    return widest;
}

void draw_colorbar(const Canvas& canvas, const Rect& bar, const ColorScale& scale, const Colormap& colormap,
                   Clipped clipped, const std::string& unit) {
    const BarFrame frame(canvas, bar);
    fill(canvas, frame, colormap, clipped);
    const Ticks ticks = fitting_ticks(canvas, frame, scale);
    const double reach = draw_ticks(canvas, frame, scale, ticks);
    const std::string label = unit_label(unit, ticks.exponent);
    TextStyle style;
    style.vertical = Align::start;
    if (frame.is_horizontal()) {
        canvas.draw_text(label, bar.x + bar.width / 2, reach + canvas.pt(3), style);
    } else {
        style.upwards = true;
        canvas.draw_text(label, reach + canvas.pt(6), bar.y + bar.height / 2, style);
    }
}

}  // namespace zonal::plot
