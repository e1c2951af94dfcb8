#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "plot/sky_panel.hpp"

namespace zonal::plot {

namespace {

/// Round angles, degrees, that divide a circle or continue as 1, 2, 5 below one degree.
double nice_angle(double angle) {
    if (angle < 1) return nice_step(angle);
    for (const double step : {1, 2, 5, 10, 15, 20, 30, 45, 60})
        if (step >= 0.999 * angle) return step;
    return 90;
}

std::string degrees_label(double angle, double step) {
    return format_number(angle, decimals_for(step)) + "°";
}

std::string lon_label(double lon, double step) {
    const double positive = lon < 0 ? lon + 360 : lon;
    return degrees_label(positive > 360 - step / 2 ? positive - 360 : positive, step);
}

/// Adds the line through curve(t), t = 0..1, to the path; it breaks where the sky is cut open.
void add_curve(const Canvas& canvas, const SkyPanel& panel, int n,
               const std::function<Direction(double)>& curve) {
    std::optional<Point> previous;
    for (int i = 0; i <= n; ++i) {
        const auto plane = panel.projection().forward(curve(i / double(n)));
        std::optional<Point> pixel;
        if (plane) pixel = panel.to_pixel(*plane);
        const double jump = panel.area().width / 4;
        const bool joined = pixel && previous && std::abs(pixel->x - previous->x) < jump &&
                            std::abs(pixel->y - previous->y) < jump;
        if (joined)
            cairo_line_to(canvas.cairo(), pixel->x, pixel->y);
        else if (pixel)
            cairo_move_to(canvas.cairo(), pixel->x, pixel->y);
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
        const double t = i / double(n);
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
    const double lon = panel.projection().inverse({0, 0}).phi * 180 / std::acos(-1.0);
    for (const double lat : multiples(-89, 89, step.lat)) {
        const auto edge = panel.projection().forward(from_degrees(lon + 179.999, lat));
        const Point pixel = panel.to_pixel({-std::abs(edge->x), edge->y});
        TextStyle style;
        style.horizontal = Align::end;
        placer.place(degrees_label(lat, step.lat), pixel.x - canvas.pt(4), pixel.y - canvas.pt(0.07 * lat),
                     style, canvas.pt(1));
    }
}

/// On the map itself: parallels along the meridian nearest to the centre, where they do not end at the
/// outline.
void label_parallels_inside(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step,
                            LabelPlacer& placer) {
    const double centre = lon_degrees(panel.projection().inverse({0, 0}));
    const double lon = step.lon * std::round(centre / step.lon);
    TextStyle style;
    style.size = 8;
    style.halo = true;
    style.horizontal = Align::start;
    style.vertical = Align::end;
    for (const double lat : multiples(-89, 89, step.lat)) {
        const auto plane = panel.projection().forward(from_degrees(lon, lat));
        const Point pixel = panel.to_pixel(*plane);
        if (panel.contains(pixel, -canvas.pt(14)))
            placer.place(degrees_label(lat, step.lat), pixel.x + canvas.pt(2), pixel.y - canvas.pt(2), style,
                         canvas.pt(1));
    }
}

void label_meridians_inside(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step,
                            LabelPlacer& placer) {
    TextStyle style;
    style.size = 8;
    style.halo = true;
    style.vertical = Align::start;
    for (const double lon : multiples(0, 360 - step.lon / 2, step.lon)) {
        const auto plane = panel.projection().forward(from_degrees(lon, 0));
        const Point pixel = panel.to_pixel(*plane);
        if (panel.contains(pixel, -canvas.pt(14)))
            placer.place(lon_label(lon, step.lon), pixel.x, pixel.y + canvas.pt(3), style, canvas.pt(2));
    }
}

void label_sides(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step) {
    const Rect& area = panel.area();
    const double gap = canvas.pt(5);
    const TextStyle below{10, Align::centre, Align::start, false, false};
    const TextStyle beside{10, Align::end, Align::centre, false, false};
    const Side bottom{{area.x, area.bottom()}, {area.right(), area.bottom()}, below, 0, gap};
    const Side left{{area.x, area.bottom()}, {area.x, area.y}, beside, -gap, 0};
    // longitudes relative to the centre do not jump within the panel
    const double centre = step.lon * std::round(lon_degrees(panel.projection().inverse({0, 0})) / step.lon);
    const auto lon = [&](Direction d) { return wrap_degrees(lon_degrees(d) - centre); };
    LabelPlacer placer(canvas);
    find_crossings(panel, bottom, step.lon, lon, [&](double k, Point p) {
        const double turned = centre + k * step.lon;
        placer.place(lon_label(turned - 360 * std::floor(turned / 360), step.lon), p.x + bottom.dx,
                     p.y + bottom.dy, bottom.style, canvas.pt(4));
    });
    find_crossings(panel, left, step.lat, lat_degrees, [&](double k, Point p) {
        placer.place(degrees_label(k * step.lat, step.lat), p.x + left.dx, p.y + left.dy, left.style,
                     canvas.pt(2));
    });
}

}  // namespace

GraticuleStep graticule_step(const SkyPanel& panel, double centre_lat, double requested) {
    if (requested > 0) return {requested, requested};
    if (panel.is_full_sky()) return {30, 30};
    const double half = std::atan(panel.to_plane({panel.area().right(), 0}).x) * 180 / std::acos(-1.0);
    const double lat_step = nice_angle(half / 2.5);
    const double nearest_to_pole = std::min(90.0, std::abs(centre_lat) + half);
    const double cosine = std::cos((nearest_to_pole - half * 0.5) / 180 * std::acos(-1.0));
    if (nearest_to_pole >= 90) return {30, lat_step};
    return {nice_angle(half / 2.5 / std::max(cosine, 0.02)), lat_step};
}

void draw_graticule(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step) {
    // 0.1 degrees on the full sky; as fine on a zoom
    constexpr int n = 3600;
    cairo_save(canvas.cairo());
    panel.outline(canvas.cairo());
    cairo_clip(canvas.cairo());
    const Direction centre = panel.projection().inverse({0, 0});
    const double span = panel.is_full_sky() ? 360 : std::min(360.0, 400 * step.lon);
    const double first = lon_degrees(centre) - span / 2;
    for (const double lon : multiples(first, first + span - (span == 360 ? step.lon / 2 : 0), step.lon))
        add_curve(canvas, panel, n / 2, [&](double t) { return from_degrees(lon, -90 + 180 * t); });
    for (const double lat : multiples(-89.999, 89.999, step.lat))
        add_curve(canvas, panel, n, [&](double t) { return from_degrees(first + span * t, lat); });
    const auto lines = cairo_copy_path(canvas.cairo());
    canvas.set_color(white, 0.35);
    canvas.stroke(1.0);
    cairo_append_path(canvas.cairo(), lines);
    cairo_path_destroy(lines);
    canvas.set_color(black, 0.5);
    canvas.stroke(0.4);
    cairo_restore(canvas.cairo());
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
