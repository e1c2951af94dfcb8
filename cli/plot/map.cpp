#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "plot/sky_panel.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

/// Room around the sky, points.
struct Margins {
    double left, right, top, bottom;
};

constexpr double room_for_title = 20;   // pt, besides the margin of 12
constexpr double room_for_labels = 15;  // pt, of longitudes above a zoom on a pole
constexpr double smallest_panel = 30;   // pt
constexpr double bar_thickness = 9;     // pt

void check(const MapPlot& plot) {
    if (!plot.value) throw InvalidArgument("value", "none", "must be a function of theta and phi");
    if (!std::isfinite(plot.centre_lon))
        throw InvalidArgument("centre_lon", plot.centre_lon, "must be a finite angle in degrees");
    if (!(std::abs(plot.centre_lat) <= 90))
        throw InvalidArgument("centre_lat", plot.centre_lat, "must be from -90 to 90 degrees");
    if (plot.projection == Projection::gnomonic && !(plot.field > 0 && plot.field <= 150))
        throw InvalidArgument("field", plot.field, "must be above 0 and at most 150 degrees");
    if (!(plot.graticule_step >= 0))
        throw InvalidArgument("graticule_step", plot.graticule_step, "must be above 0, or 0 for automatic");
}

bool has_labels(const MapPlot& plot) {
    return plot.graticule && plot.graticule_labels;
}

Margins full_sky_margins(const MapPlot& plot) {
    const double side = has_labels(plot) ? 34 : 12;
    return {side, side, 12 + (plot.title.empty() ? 0 : room_for_title), plot.colorbar ? 58.0 : 12.0};
}

/// left_labels, right_labels: width of the tick labels, points.
Margins zoom_margins(const MapPlot& plot, bool shows_pole, double left_labels, double right_labels) {
    const double above = has_labels(plot) && shows_pole ? room_for_labels : 0;
    return {has_labels(plot) ? 30 + left_labels : 12, plot.colorbar ? 52 + right_labels : 12,
            12 + (plot.title.empty() ? 0 : room_for_title) + above, has_labels(plot) ? 42.0 : 12.0};
}

/// The largest box of the given aspect (height / width) within the margins, in the middle.
Rect fit_panel(const Canvas& canvas, const Margins& margins, double aspect) {
    const double room_x = canvas.width() - canvas.pt(margins.left + margins.right);
    const double room_y = canvas.height() - canvas.pt(margins.top + margins.bottom);
    if (std::min(room_x, room_y) < canvas.pt(smallest_panel)) {
        const double by_width = canvas.width() / (margins.left + margins.right + smallest_panel);
        const double by_height = canvas.height() / (margins.top + margins.bottom + smallest_panel);
        throw InvalidArgument(
            "dpi", fmt::format("{:.0f}", canvas.pt(72)),
            fmt::format("must be at most {:.0f} in a picture of {} x {} pixels, or the labels leave no room "
                        "for the map",
                        std::floor(72 * std::min(by_width, by_height)), canvas.width(), canvas.height()));
    }
    const double width = std::floor(std::min(room_x, room_y / aspect));
    const double height = std::floor(width * aspect);
    return {std::round(canvas.pt(margins.left) + (room_x - width) / 2),
            std::round(canvas.pt(margins.top) + (room_y - height) / 2), width, height};
}

SkyPanel make_panel(const Canvas& canvas, const MapPlot& plot, const Margins& margins) {
    const bool full_sky = plot.projection == Projection::mollweide;
    const SkyProjection projection(plot.projection, plot.centre_lon, plot.centre_lat);
    const double half_width = full_sky ? 2 : std::tan(plot.field / 2 * std::numbers::pi / 180);
    return {projection, fit_panel(canvas, margins, full_sky ? 0.5 : 1), half_width};
}

/// Before the labels are known; the final panel differs by pixels.
SkyPanel draft_panel(const Canvas& canvas, const MapPlot& plot) {
    const bool full_sky = plot.projection == Projection::mollweide;
    return make_panel(canvas, plot, full_sky ? full_sky_margins(plot) : zoom_margins(plot, false, 28, 32));
}

ColorScale make_scale(const MapPlot& plot, const SkyPanel& panel) {
    const bool needs_values = !plot.minimum || !plot.maximum || plot.scale == Scale::equalised ||
                              (plot.scale == Scale::symlog && plot.linear_threshold == 0);
    std::vector<double> values;
    if (needs_values) values = sample_values(panel, plot.value);
    Range range{plot.minimum.value_or(0), plot.maximum.value_or(0)};
    if (!plot.minimum || !plot.maximum) {
        const Range automatic = automatic_range(values, plot.scale);
        range = {plot.minimum.value_or(automatic.minimum), plot.maximum.value_or(automatic.maximum)};
    }
    return {plot.scale, range, plot.linear_threshold, std::move(values)};
}

Colormap choose_colormap(const MapPlot& plot, Range range) {
    if (!plot.colormap.empty()) return Colormap(plot.colormap);
    return Colormap(range.minimum == -range.maximum ? "coolwarm" : "viridis");
}

Rect colorbar_rect(const Canvas& canvas, const SkyPanel& panel) {
    const Rect& area = panel.area();
    const double thickness = std::round(canvas.pt(bar_thickness));
    if (panel.is_full_sky()) {
        const double width = std::round(0.6 * area.width);
        return {std::round(area.x + (area.width - width) / 2), std::round(area.bottom() + canvas.pt(12)),
                width, thickness};
    }
    const double tip = canvas.pt(bar_thickness);  // room for pointed ends
    return {std::round(area.right() + canvas.pt(14)), area.y + tip, thickness, area.height - 2 * tip};
}

SkyPanel final_panel(const Canvas& canvas, const MapPlot& plot, const SkyPanel& draft,
                     const ColorScale& scale) {
    if (draft.is_full_sky()) return draft;
    const GraticuleStep step = graticule_step(draft, plot.graticule_step);
    const double points = 1 / canvas.pt(1);
    const double left = latitude_label_width(canvas, draft, step) * points;
    const double right = colorbar_label_width(canvas, colorbar_rect(canvas, draft), scale) * points;
    return make_panel(canvas, plot, zoom_margins(plot, draft.shows_pole(), left, right));
}

/// "Galactic" names the axes of a zoom.
void draw_axis_names(const Canvas& canvas, const SkyPanel& panel, const std::string& coordinates,
                     double label_width) {
    const Rect& area = panel.area();
    const bool equatorial = coordinates.starts_with("Equatorial") || coordinates.starts_with("Celestial");
    const std::string lon =
        coordinates.empty() ? "Longitude (coordinates unknown)" : coordinates + " longitude";
    const std::string lat = coordinates.empty() ? "Latitude" : coordinates + " latitude";
    canvas.draw_text(equatorial ? "Right ascension" : lon, area.x + area.width / 2,
                     area.bottom() + canvas.pt(21), {.vertical = Align::start});
    if (panel.shows_pole()) return;  // longitudes on that side too
    canvas.draw_text(equatorial ? "Declination" : lat, area.x - label_width - canvas.pt(12),
                     area.y + area.height / 2, {.vertical = Align::end, .upwards = true});
}

void draw_axes(const Canvas& canvas, const SkyPanel& panel, const MapPlot& plot) {
    const GraticuleStep step = graticule_step(panel, plot.graticule_step);
    if (plot.graticule) draw_graticule(canvas, panel, step);
    panel.outline(canvas.cairo());
    canvas.set_color(black);
    canvas.stroke(0.8);
    if (has_labels(plot)) label_graticule(canvas, panel, step);
    if (panel.is_full_sky())
        canvas.draw_text(plot.coordinates.empty() ? "coordinates unknown" : plot.coordinates,
                         canvas.width() - canvas.pt(12), panel.area().bottom(),
                         {.horizontal = Align::end, .vertical = Align::end});
    else if (has_labels(plot))
        draw_axis_names(canvas, panel, plot.coordinates, latitude_label_width(canvas, panel, step));
}

}  // namespace

Image draw_map(const MapPlot& plot) {
    check(plot);
    const bool full_sky = plot.projection == Projection::mollweide;
    const Canvas canvas(with_defaults(plot.image, full_sky ? 1600 : 1100, full_sky ? 0.5625 : 0.86));
    const SkyPanel draft = draft_panel(canvas, plot);
    const ColorScale scale = make_scale(plot, draft);
    const SkyPanel panel = final_panel(canvas, plot, draft, scale);
    const Colormap colormap = choose_colormap(plot, scale.range());
    const Clipped clipped = paint_sky(canvas, panel, plot.value, scale, colormap);
    draw_axes(canvas, panel, plot);
    if (plot.colorbar)
        draw_colorbar(canvas, colorbar_rect(canvas, panel), scale, colormap, clipped, plot.unit);
    const double above = has_labels(plot) && panel.shows_pole() && !full_sky ? room_for_labels : 0;
    draw_title(canvas, plot.title, panel.area(), panel.area().y - canvas.pt(room_for_title + 2 + above));
    return canvas.image();
}

Scale scale_from_name(const std::string& name) {
    if (name == "linear") return Scale::linear;
    if (name == "log") return Scale::log;
    if (name == "symlog") return Scale::symlog;
    if (name == "equalised") return Scale::equalised;
    throw InvalidArgument("scale", name, "must be one of linear, log, symlog, equalised");
}

Projection projection_from_name(const std::string& name) {
    if (name == "mollweide") return Projection::mollweide;
    if (name == "gnomonic") return Projection::gnomonic;
    throw InvalidArgument("projection", name, "must be mollweide or gnomonic");
}

}  // namespace zonal::plot
