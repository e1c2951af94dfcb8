#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <vector>

#include "plot/plot.hpp"

namespace zonal::plot {

/// Pixels from the top left corner, y downwards.
struct Rect {
    double x, y, width, height;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
    bool overlaps(const Rect& other, double margin = 0) const {
        return x < other.right() + margin && other.x < right() + margin && y < other.bottom() + margin &&
               other.y < bottom() + margin;
    }
};

enum class Align { start, centre, end };

struct TextStyle {
    double size = 10;  ///< pt
    Align horizontal = Align::centre;
    /// start: the text hangs below y; centre: capitals are centred on it; end: it stands on it as base line.
    Align vertical = Align::centre;
    bool upwards = false;  ///< turned by 90 degrees, read from below; alignments refer to the unturned text
    bool halo = false;     ///< a pale rim that keeps text legible on any colour
};

inline constexpr Rgb black{0, 0, 0};
inline constexpr Rgb white{255, 255, 255};

/// A picture being drawn: a Cairo context, and text and lines in points.
class Canvas {
  public:
    /// options: complete, see with_defaults. Throws InvalidArgument.
    explicit Canvas(const ImageOptions& options);

    cairo_t* cairo() const { return context_.get(); }
    int width() const { return width_; }
    int height() const { return height_; }
    /// Pixels of a length in points (1/72 inch).
    double pt(double points) const { return points * dpi_ / 72; }

    void set_color(Rgb color, double opacity = 1) const;
    /// Strokes the current path.
    void stroke(double line_width_pt) const;

    /// Draws markup (see markup.hpp) at (x, y) in black; returns the room that it takes.
    Rect draw_text(const std::string& markup, double x, double y, const TextStyle& style = {}) const;
    /// The room that draw_text would take.
    Rect measure_text(const std::string& markup, double x, double y, const TextStyle& style = {}) const;
    double text_width(const std::string& markup, double size_pt = 10) const;
    /// Height of capitals and digits, pixels.
    double cap_height(double size_pt = 10) const { return 0.73 * pt(size_pt); }

    /// The finished picture.
    Image image() const;

  private:
    int width_, height_;
    double dpi_;
    std::shared_ptr<cairo_surface_t> surface_;
    std::unique_ptr<cairo_t, void (*)(cairo_t*)> context_;
};

/// Hangs from y, over the middle of `area`, in smaller type where it would be too wide for the picture.
void draw_title(const Canvas& canvas, const std::string& title, const Rect& area, double y);

/// Puts text where it does not touch text put before.
class LabelPlacer {
  public:
    explicit LabelPlacer(const Canvas& canvas) : canvas_(canvas) {}
    /// Draws unless another label is nearer than margin (pixels) or the picture's edge cuts it; whether it
    /// did.
    bool place(const std::string& markup, double x, double y, const TextStyle& style, double margin);
    const std::vector<Rect>& placed() const { return placed_; }

  private:
    const Canvas& canvas_;
    std::vector<Rect> placed_;
};

/// Fills in width, height (width * aspect) and dpi where they are 0. Throws InvalidArgument.
ImageOptions with_defaults(ImageOptions options, int default_width, double aspect);

}  // namespace zonal::plot
