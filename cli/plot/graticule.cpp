#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "plot/sky_panel.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

constexpr double degree = std::numbers::pi / 180;

/// Round angles, degrees, that divide a circle or continue as 1, 2, 5 below one degree.
double nice_angle(double angle) {
    if (angle < 1) return nice_step(angle);
    for (const double step : {1, 2, 5, 10, 15, 20, 30, 45, 60})
        if (step >= 0.999 * angle) return step;
    return 90;
}

/// Degrees: what the panel may show lies within lon +- half_lon and lat_min..lat_max.
struct Bounds {
    double lon, half_lon, lat_min, lat_max;
};

Bounds bounds_of(const SkyPanel& panel) {
    const Direction centre = panel.projection().inverse({0, 0});
    const double lon = lon_degrees(centre);
    const double lat = lat_degrees(centre);
    if (panel.is_full_sky()) return {lon, 180, -90, 90};
    const Point corner = panel.to_plane({panel.area().right(), panel.area().y});
    const double radius = std::atan(std::hypot(corner.x, corner.y)) / degree;
    const Bounds bounds{lon, 180, std::max(-90.0, lat - radius), std::min(90.0, lat + radius)};
    if (std::abs(lat) + radius >= 90) return bounds;
    // the meridian that touches a circle of this radius
    return {lon, std::asin(std::sin(radius * degree) / std::cos(lat * degree)) / degree, bounds.lat_min,
            bounds.lat_max};
}

std::string degrees_label(double angle, double step) {
    return format_number(angle, decimals_for(step)) + "°";
}

std::string lon_label(double lon, double step) {
    const double positive = lon < 0 ? lon + 360 : lon;
    return degrees_label(positive > 360 - step / 2 ? positive - 360 : positive, step);
}

/// A line on the sky: t = 0..1 to its pixel, empty where it has none.
using Curve = std::function<std::optional<Point>(double)>;

/// Adds the line to the path; it breaks where the sky is cut open, right at the cut.
void add_curve(const Canvas& canvas, const SkyPanel& panel, const Curve& curve) {
    constexpr int n = 720;  // half a degree on a full sky
    const double jump = panel.area().width / 4;
    const auto joined = [&](const std::optional<Point>& a, const std::optional<Point>& b) {
        return a && b && std::abs(a->x - b->x) < jump && std::abs(a->y - b->y) < jump;
    };
    std::optional<Point> previous = curve(0);
    if (previous) cairo_move_to(canvas.cairo(), previous->x, previous->y);
    for (int i = 1; i <= n; ++i) {
        const auto pixel = curve(i / double(n));
        if (previous && pixel && !joined(previous, pixel)) {
            double low = (i - 1) / double(n), high = i / double(n);
            for (int halving = 0; halving < 12; ++halving) {
                const double middle = (low + high) / 2;
                (joined(previous, curve(middle)) ? low : high) = middle;
            }
            cairo_line_to(canvas.cairo(), curve(low)->x, curve(low)->y);
            cairo_move_to(canvas.cairo(), curve(high)->x, curve(high)->y);
        } else if (pixel && !previous) {
            cairo_move_to(canvas.cairo(), pixel->x, pixel->y);
        }
        if (pixel) cairo_line_to(canvas.cairo(), pixel->x, pixel->y);
        previous = pixel;
    }
}

/// Directions along one side of a rectangular panel, in pixels.
struct Side {
    Point from, to;
    TextStyle style;
    double dx, dy;  // of the label, outwards
};

/// Calls found(k, pixel) where the angle passes k * step along the side.
void find_crossings(const SkyPanel& panel, const Side& side, double step,
                    const std::function<double(Direction)>& angle,
                    const std::function<void(double, Point)>& found) {
    constexpr int n = 2000;
    double previous = 0;
    for (int i = 0; i <= n; ++i) {
        const double t = (i / double(n) - 0.5) * (1 + 1e-6) + 0.5;  // also a crossing right in the corner
        const Point pixel{side.from.x + t * (side.to.x - side.from.x),
                          side.from.y + t * (side.to.y - side.from.y)};
        const double current = angle(panel.projection().inverse(panel.to_plane(pixel))) / step;
        // the far side of the circle, where the angle jumps, is no crossing
        if (i > 0 && std::floor(current) != std::floor(previous) && std::abs(current - previous) * step < 90)
            found(std::floor(std::max(current, previous)), pixel);
        previous = current;
    }
}

void label_mollweide_outside(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step,
                             LabelPlacer& placer) {
    const double lon = lon_degrees(panel.projection().inverse({0, 0}));
    for (const double lat : multiples(-89, 89, step.lat)) {
        const auto edge = panel.projection().forward(from_degrees(lon + 179.999, lat));
        const Point pixel = panel.to_pixel({-std::abs(edge->x), edge->y});
        TextStyle style;
        style.horizontal = Align::end;
        placer.place(degrees_label(lat, step.lat), pixel.x - canvas.pt(4), pixel.y - canvas.pt(0.05 * lat),
                     style, canvas.pt(1));
    }
}

/// On the map itself: parallels along the meridian nearest to the centre, where they do not end at a side.
void label_parallels_inside(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step,
                            LabelPlacer& placer) {
    const double centre = lon_degrees(panel.projection().inverse({0, 0}));
    const double lon = step.lon * std::round(centre / step.lon);
    TextStyle style;
    style.size = 8;
    style.halo = true;
    style.horizontal = Align::start;
    style.vertical = Align::end;
    for (const double lat : multiples(-89.999, 89.999, step.lat)) {
        const auto plane = panel.projection().forward(from_degrees(lon, lat));
        if (!plane) continue;
        const Point pixel = panel.to_pixel(*plane);
        if (panel.contains(pixel, -canvas.pt(14)))
            placer.place(degrees_label(lat, step.lat), pixel.x + canvas.pt(2), pixel.y - canvas.pt(2), style,
                         canvas.pt(1));
    }
}

/// Along the map's equator; only every second, third, ... meridian where labels would run into each other.
void label_meridians_inside(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step,
                            LabelPlacer& placer) {
    TextStyle style;
    style.size = 8;
    style.halo = true;
    style.vertical = Align::start;
    const double room = panel.area().width * step.lon / 360;
    const double width = canvas.text_width(lon_label(360 - step.lon, step.lon), style.size);
    const double stride = step.lon * std::ceil(1.6 * width / room);
    for (const double lon : multiples(0, 360 - stride / 2, stride)) {
        const auto plane = panel.projection().forward(from_degrees(lon, 0));
        const Point pixel = panel.to_pixel(*plane);
        if (panel.contains(pixel, -canvas.pt(14)))
            placer.place(lon_label(lon, step.lon), pixel.x, pixel.y + canvas.pt(3), style, canvas.pt(2));
    }
}

/// Longitudes at the bottom and latitudes to the left; around a pole, where parallels are circles, longitudes
/// also at the top and latitudes inside.
void label_sides(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step) {
    const Rect& area = panel.area();
    const double gap = canvas.pt(5);
    const TextStyle below{.vertical = Align::start};
    const TextStyle above{.vertical = Align::end};
    const TextStyle beside{.horizontal = Align::end};
    const Side bottom{{area.x, area.bottom()}, {area.right(), area.bottom()}, below, 0, gap};
    const Side top{{area.x, area.y}, {area.right(), area.y}, above, 0, -gap};
    const Side left{{area.x, area.bottom()}, {area.x, area.y}, beside, -gap, 0};
    LabelPlacer placer(canvas);
    const auto label = [&](const Side& side, Point p, const std::string& text) {
        placer.place(text, p.x + side.dx, p.y + side.dy, side.style, canvas.pt(3));
    };
    // longitudes relative to the centre do not jump within the panel
    const double centre = step.lon * std::round(lon_degrees(panel.projection().inverse({0, 0})) / step.lon);
    const auto lon = [&](Direction d) { return wrap_degrees(lon_degrees(d) - centre); };
    const bool polar = panel.shows_pole();
    for (const Side* side : {&bottom, &top, &left}) {
        if (side != &bottom && !polar) continue;
        find_crossings(panel, *side, step.lon, lon, [&](double k, Point p) {
            const double turned = centre + k * step.lon;
            label(*side, p, lon_label(turned - 360 * std::floor(turned / 360), step.lon));
        });
    }
    if (polar) return label_parallels_inside(canvas, panel, step, placer);
    find_crossings(panel, left, step.lat, lat_degrees,
                   [&](double k, Point p) { label(left, p, degrees_label(k * step.lat, step.lat)); });
}

}  // namespace

GraticuleStep graticule_step(const SkyPanel& panel, double requested) {
    const Bounds bounds = bounds_of(panel);
    if (requested > 0) {
        const double least = (bounds.lat_max - bounds.lat_min) / 180;
        if (requested > 90 || requested < least)
            throw InvalidArgument("graticule_step", requested,
                                  fmt::format("must be from {:.3g} to 90 degrees in this view", least));
        return {requested, requested};
    }
    if (panel.is_full_sky()) return {30, 30};
    return {bounds.half_lon < 180 ? nice_angle(bounds.half_lon / 3.5) : 30,
            nice_angle((bounds.lat_max - bounds.lat_min) / 7)};
}

void draw_graticule(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step) {
    cairo_save(canvas.cairo());
    panel.outline(canvas.cairo());
    cairo_clip(canvas.cairo());
    const Bounds b = bounds_of(panel);
    const auto pixel = [&](double lon, double lat) -> std::optional<Point> {
        const auto plane = panel.projection().forward(from_degrees(lon, lat));
        return plane ? std::optional(panel.to_pixel(*plane)) : std::nullopt;
    };
    // a whole turn has its first meridian once
    const double last = b.lon + b.half_lon - (b.half_lon == 180 ? step.lon / 2 : 0);
    for (const double lon : multiples(b.lon - b.half_lon, last, step.lon))
        add_curve(canvas, panel,
                  [&](double t) { return pixel(lon, b.lat_min + (b.lat_max - b.lat_min) * t); });
    for (const double lat : multiples(std::max(-89.999, b.lat_min), std::min(89.999, b.lat_max), step.lat))
        add_curve(canvas, panel, [&](double t) { return pixel(b.lon + b.half_lon * (2 * t - 1), lat); });
    const auto lines = cairo_copy_path(canvas.cairo());
    canvas.set_color(white, 0.35);
    canvas.stroke(1.0);
    cairo_append_path(canvas.cairo(), lines);
    cairo_path_destroy(lines);
    canvas.set_color(black, 0.5);
    canvas.stroke(0.4);
    cairo_restore(canvas.cairo());
}

double latitude_label_width(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step) {
    const Bounds bounds = bounds_of(panel);
    double widest = 0;
    for (const double lat : multiples(bounds.lat_min, bounds.lat_max, step.lat))
        widest = std::max(widest, canvas.text_width(degrees_label(lat, step.lat)));
    return widest;
}

void label_graticule(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step) {
    if (!panel.is_full_sky()) {
        label_sides(canvas, panel, step);
        return;
    }
    LabelPlacer placer(canvas);
    const bool upright = std::abs(lat_degrees(panel.projection().inverse({0, 0}))) < 1e-9;
    if (upright) label_mollweide_outside(canvas, panel, step, placer);
    label_meridians_inside(canvas, panel, step, placer);
    if (!upright) label_parallels_inside(canvas, panel, step, placer);
}

}  // namespace zonal::plot
