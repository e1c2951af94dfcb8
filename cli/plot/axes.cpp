#include "plot/axes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

constexpr double room_left = 24, room_right = 16, room_bottom = 40, room_top = 12, room_title = 22;  // pt
constexpr double tick_gap = 5;                                                                       // pt
constexpr double dash = 4, dash_gap = 2.5;                                                           // pt
constexpr double legend_row = 14, legend_pad = 7, legend_handle = 22;                                // pt

void line(const Canvas& canvas, double x0, double y0, double x1, double y1) {
    cairo_move_to(canvas.cairo(), x0, y0);
    cairo_line_to(canvas.cairo(), x1, y1);
}

/// A legend's sample of a stroke, in the current colour.
void draw_handle(const Canvas& canvas, Point left, double width, Stroke stroke) {
    if (stroke == Stroke::points || stroke == Stroke::hollow_points) {
        for (const double share : {0.15, 0.5, 0.85})
            draw_marker(canvas, {left.x + share * width, left.y}, 1.8, stroke);
        return;
    }
    line(canvas, left.x, left.y, left.x + width, left.y);
    set_dashes(canvas, stroke == Stroke::dashes);
    canvas.stroke(1.5);
    set_dashes(canvas, false);
}

}  // namespace

void set_dashes(const Canvas& canvas, bool on) {
    const std::array<double, 2> lengths{canvas.pt(dash), canvas.pt(dash_gap)};
    cairo_set_dash(canvas.cairo(), lengths.data(), on ? 2 : 0, 0);
}

AxisScale::AxisScale(Range range, bool is_log) : range_(range), is_log_(is_log) {
    start_ = is_log ? std::log10(range.minimum) : range.minimum;
    per_unit_ = 1 / ((is_log ? std::log10(range.maximum) : range.maximum) - start_);
}

double AxisScale::position(double value) const {
    return ((is_log_ ? std::log10(value) : value) - start_) * per_unit_;
}

Ticks AxisScale::ticks(int max_count) const {
    return is_log_ ? log_ticks(range_.minimum, range_.maximum, max_count)
                   : linear_ticks(range_.minimum, range_.maximum, max_count);
}

AxesFrame::AxesFrame(const Canvas& canvas, const AxisScale& x, const AxisScale& y, bool has_title)
    : AxesFrame(canvas, {0, 0, double(canvas.width()), double(canvas.height())}, x, y, has_title) {}

AxesFrame::AxesFrame(const Canvas& canvas, const Rect& room, const AxisScale& x, const AxisScale& y,
                     bool has_title)
    : canvas_(canvas), x_(x), y_(y), room_(room) {
    const double top = room.y + canvas.pt(room_top + (has_title ? room_title : 0));
    const double height = room.bottom() - top - canvas.pt(room_bottom);
    y_ticks_ = y.ticks(std::clamp(static_cast<int>(height / canvas.pt(28)), 2, 10));
    for (const Tick& tick : y_ticks_.ticks)
        y_label_width_ = std::max(y_label_width_, canvas.text_width(tick.label));
    const double left = room.x + canvas.pt(room_left + tick_gap) + y_label_width_;
    const double width = room.right() - left - canvas.pt(room_right);
    if (std::min(width, height) < canvas.pt(40))
        throw InvalidArgument(
            "dpi", fmt::format("{:.0f}", canvas.pt(72)),
            fmt::format("too large for a picture of {} x {} pixels; the labels leave no room for the axes",
                        canvas.width(), canvas.height()));
    x_ticks_ = x.ticks(std::clamp(static_cast<int>(width / canvas.pt(50)), 2, 11));
    area_ = {std::round(left), std::round(top), std::floor(width), std::floor(height)};
}

Point AxesFrame::to_pixel(double x, double y) const {
    return {area_.x + x_.position(x) * area_.width, area_.bottom() - y_.position(y) * area_.height};
}

void AxesFrame::clip() const {
    cairo_rectangle(canvas_.cairo(), area_.x, area_.y, area_.width, area_.height);
    cairo_clip(canvas_.cairo());
}

void AxesFrame::draw_grid() const {
    canvas_.set_color(black, 0.13);
    for (const Tick& tick : x_ticks_.ticks) {
        const double x = area_.x + x_.position(tick.value) * area_.width;
        if (!tick.label.empty()) line(canvas_, x, area_.y, x, area_.bottom());
    }
    for (const Tick& tick : y_ticks_.ticks) {
        const double y = area_.bottom() - y_.position(tick.value) * area_.height;
        if (!tick.label.empty()) line(canvas_, area_.x, y, area_.right(), y);
    }
    canvas_.stroke(0.5);
    if (y_.is_log() || y_.range().minimum >= 0) return;
    const double zero = area_.bottom() - y_.position(0) * area_.height;
    line(canvas_, area_.x, zero, area_.right(), zero);
    canvas_.set_color(black, 0.6);
    canvas_.stroke(0.6);
}

void AxesFrame::draw_box_and_labels(const std::string& x_name, const std::string& y_name,
                                    const std::string& title) const {
    cairo_rectangle(canvas_.cairo(), area_.x, area_.y, area_.width, area_.height);
    const auto length = [&](const Tick& tick) { return canvas_.pt(tick.label.empty() ? 2 : 4); };
    LabelPlacer placer(canvas_);
    for (const Tick& tick : x_ticks_.ticks) {
        const double x = area_.x + x_.position(tick.value) * area_.width;
        line(canvas_, x, area_.bottom(), x, area_.bottom() - length(tick));
        line(canvas_, x, area_.y, x, area_.y + length(tick));
    }
    for (const Tick& tick : y_ticks_.ticks) {
        const double y = area_.bottom() - y_.position(tick.value) * area_.height;
        line(canvas_, area_.x, y, area_.x + length(tick), y);
        line(canvas_, area_.right(), y, area_.right() - length(tick), y);
    }
    canvas_.set_color(black);
    canvas_.stroke(0.8);
    for (const Tick& tick : x_ticks_.ticks)
        if (!tick.label.empty())
            placer.place(tick.label, area_.x + x_.position(tick.value) * area_.width,
                         area_.bottom() + canvas_.pt(tick_gap), {.vertical = Align::start}, canvas_.pt(4));
    for (const Tick& tick : y_ticks_.ticks)
        if (!tick.label.empty())
            placer.place(tick.label, area_.x - canvas_.pt(tick_gap),
                         area_.bottom() - y_.position(tick.value) * area_.height, {.horizontal = Align::end},
                         canvas_.pt(1));
    canvas_.draw_text(x_name, area_.x + area_.width / 2, room_.bottom() - canvas_.pt(10),
                      {.size = 11, .vertical = Align::end});
    canvas_.draw_text(y_name, area_.x - canvas_.pt(tick_gap + 8) - y_label_width_, area_.y + area_.height / 2,
                      {.size = 11, .vertical = Align::end, .upwards = true});
    draw_title(canvas_, title, area_, room_.y + canvas_.pt(10));
}

void draw_marker(const Canvas& canvas, Point at, double radius, Stroke stroke) {
    constexpr double rim = 0.45;  // pt
    cairo_new_sub_path(canvas.cairo());
    cairo_arc(canvas.cairo(), at.x, at.y, canvas.pt(radius), 0, 2 * std::numbers::pi);
    if (stroke == Stroke::hollow_points)
        canvas.stroke(rim);
    else
        cairo_fill(canvas.cairo());
}

LegendPlace best_corner(const Canvas& canvas, const Rect& area, const std::vector<LegendEntry>& entries,
                        const std::vector<Point>& drawn) {
    const double inset = canvas.pt(9);
    double text = 0;
    for (const LegendEntry& entry : entries) text = std::max(text, canvas.text_width(entry.name));
    Rect box{0, 0, canvas.pt(legend_handle + 3 * legend_pad) + text,
             canvas.pt(legend_row) * entries.size() + canvas.pt(legend_pad)};
    LegendPlace best{box, -1};
    constexpr std::array<std::array<bool, 2>, 4> corners{
        {{true, false}, {false, false}, {true, true}, {false, true}}};
    for (const auto& [right, bottom] : corners) {
        box.x = right ? area.right() - inset - box.width : area.x + inset;
        box.y = bottom ? area.bottom() - inset - box.height : area.y + inset;
        const auto covered = std::count_if(drawn.begin(), drawn.end(), [&](Point p) {
            return box.overlaps({p.x, p.y, 0, 0}, canvas.pt(3));
        });
        if (best.covered < 0 || covered < best.covered) best = {box, covered};
    }
    return best;
}

void draw_legend(const Canvas& canvas, const Rect& box, const std::vector<LegendEntry>& entries) {
    const double row = canvas.pt(legend_row), pad = canvas.pt(legend_pad), handle = canvas.pt(legend_handle);
    cairo_rectangle(canvas.cairo(), box.x, box.y, box.width, box.height);
    canvas.set_color(white, 0.85);
    cairo_fill_preserve(canvas.cairo());
    canvas.set_color(black, 0.3);
    canvas.stroke(0.5);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const double y = box.y + pad / 2 + (i + 0.5) * row;
        for (const auto& [stroke, color] : entries[i].samples) {
            canvas.set_color(color);
            draw_handle(canvas, {box.x + pad, y}, handle, stroke);
        }
        canvas.draw_text(entries[i].name, box.x + 2 * pad + handle, y, {.horizontal = Align::start});
    }
}

}  // namespace zonal::plot
