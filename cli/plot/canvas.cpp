#include "plot/canvas.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "plot/markup.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

constexpr double script_size = 0.7;         // of the base size
constexpr double superscript_raise = 0.36;  // of the base size
constexpr double subscript_drop = 0.16;
constexpr double descent = 0.24;  // below the base line, DejaVu Sans

struct RunShape {
    double size, raise;  // pixels
};

RunShape shape_of(const TextRun& run, double size) {
    switch (run.level) {
        case TextRun::Level::subscript:
            return {script_size * size, -subscript_drop * size};
        case TextRun::Level::superscript:
            return {script_size * size, superscript_raise * size};
        case TextRun::Level::base:
            break;
    }
    return {size, 0};
}

double aligned(Align align, double start, double centre, double end) {
    return align == Align::start ? start : align == Align::centre ? centre : end;
}

void check(const char* name, double value, double low, double high) {
    if (!(value >= low && value <= high))
        throw InvalidArgument(name, value, fmt::format("must be from {} to {}", low, high));
}

double run_width(cairo_t* context, const TextRun& run, double size) {
    cairo_set_font_size(context, shape_of(run, size).size);
    cairo_text_extents_t extents;
    cairo_text_extents(context, run.text.c_str(), &extents);
    return extents.x_advance;
}

}  // namespace

ImageOptions with_defaults(ImageOptions options, int default_width, double aspect) {
    if (options.width == 0) options.width = default_width;
    check("width", options.width, 200, 16384);
    if (options.height == 0)
        options.height = std::max(150, static_cast<int>(std::lround(options.width * aspect)));
    check("height", options.height, 150, 16384);
    if (options.dpi == 0)
        options.dpi = std::max(80.0, options.width / 8.0);
    else
        check("dpi", options.dpi, 40, 1200);
    return options;
}

Canvas::Canvas(const ImageOptions& options)
    : width_(options.width),
      height_(options.height),
      dpi_(options.dpi),
      surface_(cairo_image_surface_create(options.transparent ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24,
                                          options.width, options.height),
               cairo_surface_destroy),
      context_(cairo_create(surface_.get()), cairo_destroy) {
    if (cairo_status(cairo()) != CAIRO_STATUS_SUCCESS)
        throw Error(fmt::format("cannot make a picture of {} x {} pixels: {}", width_, height_,
                                cairo_status_to_string(cairo_status(cairo()))));
    if (!options.transparent) {
        set_color(white);
        cairo_paint(cairo());
    }
    cairo_select_font_face(cairo(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    // hinting would make widths and glyphs depend on the machine's font settings
    const std::unique_ptr<cairo_font_options_t, void (*)(cairo_font_options_t*)> font(
        cairo_font_options_create(), cairo_font_options_destroy);
    cairo_font_options_set_antialias(font.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(font.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(font.get(), CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cairo(), font.get());
    cairo_set_line_join(cairo(), CAIRO_LINE_JOIN_ROUND);
}

void Canvas::set_color(Rgb color, double opacity) const {
    cairo_set_source_rgba(cairo(), color.red / 255.0, color.green / 255.0, color.blue / 255.0, opacity);
}

void Canvas::stroke(double line_width_pt) const {
    cairo_set_line_width(cairo(), pt(line_width_pt));
    cairo_stroke(cairo());
}

double Canvas::text_width(const std::string& markup, double size_pt) const {
    double width = 0;
    for (const TextRun& run : parse_markup(markup)) width += run_width(cairo(), run, pt(size_pt));
    return width;
}

Rect Canvas::measure_text(const std::string& markup, double x, double y, const TextStyle& style) const {
    const double length = text_width(markup, style.size);
    const double size = pt(style.size);
    const double cap = cap_height(style.size);
    const double left = aligned(style.horizontal, 0, -length / 2, -length);
    const double base_line = aligned(style.vertical, cap, cap / 2, 0);
    const Rect flat{left, base_line - cap, length, cap + descent * size};
    if (!style.upwards) return {x + flat.x, y + flat.y, flat.width, flat.height};
    return {x + flat.y, y - flat.right(), flat.height, flat.width};
}

Rect Canvas::draw_text(const std::string& markup, double x, double y, const TextStyle& style) const {
    const double cap = cap_height(style.size);
    const double length = text_width(markup, style.size);
    cairo_save(cairo());
    cairo_translate(cairo(), x, y);
    if (style.upwards) cairo_rotate(cairo(), -std::acos(-1.0) / 2);
    cairo_translate(cairo(), aligned(style.horizontal, 0, -length / 2, -length),
                    aligned(style.vertical, cap, cap / 2, 0));
    double pen = 0;
    cairo_new_path(cairo());
    for (const TextRun& run : parse_markup(markup)) {
        const double width = run_width(cairo(), run, pt(style.size));
        cairo_move_to(cairo(), pen, -shape_of(run, pt(style.size)).raise);
        cairo_text_path(cairo(), run.text.c_str());
        pen += width;
    }
    if (style.halo) {
        set_color(white, 0.85);
        cairo_set_line_width(cairo(), pt(0.3 * style.size));
        cairo_stroke_preserve(cairo());
    }
    set_color(black);
    cairo_fill(cairo());
    cairo_restore(cairo());
    return measure_text(markup, x, y, style);
}

Image Canvas::image() const {
    if (cairo_status(cairo()) != CAIRO_STATUS_SUCCESS)
        throw Error(fmt::format("cannot draw: {}", cairo_status_to_string(cairo_status(cairo()))));
    cairo_surface_flush(surface_.get());
    return Image(surface_, dpi_);
}

void draw_title(const Canvas& canvas, const std::string& title, const Rect& area, double y) {
    constexpr double size = 12;  // pt
    const double edge = canvas.pt(10);
    const double room = canvas.width() - 2 * edge;
    const double width = canvas.text_width(title, size);
    const double shrink = std::min(1.0, room / std::max(width, 1.0));
    // At most the room's half, also where rounding makes it more: clamp needs ordered bounds.
    const double half = std::min(shrink * width / 2, room / 2);
    const double low = edge + half, high = std::max(low, canvas.width() - edge - half);
    const double x = std::clamp(area.x + area.width / 2, low, high);
    canvas.draw_text(title, x, y, {.size = shrink * size, .vertical = Align::start});
}

bool LabelPlacer::place(const std::string& markup, double x, double y, const TextStyle& style,
                        double margin) {
    const Rect room = canvas_.measure_text(markup, x, y, style);
    if (room.x < 0 || room.y < 0 || room.right() > canvas_.width() || room.bottom() > canvas_.height())
        return false;
    for (const Rect& other : placed_)
        if (room.overlaps(other, margin)) return false;
    placed_.push_back(canvas_.draw_text(markup, x, y, style));
    return true;
}

}  // namespace zonal::plot
