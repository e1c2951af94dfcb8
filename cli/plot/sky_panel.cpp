#include "plot/sky_panel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zonal::plot {

namespace {

constexpr int subpixels = 2;  // per pixel and axis

/// The pixels of a panel: a rectangle of whole ones.
struct PixelBox {
    int x, y, width, height;
};

PixelBox pixel_box(const Canvas& canvas, const Rect& area) {
    const int left = std::max(0, static_cast<int>(std::floor(area.x)));
    const int top = std::max(0, static_cast<int>(std::floor(area.y)));
    const int right = std::min(canvas.width(), static_cast<int>(std::ceil(area.right())));
    const int bottom = std::min(canvas.height(), static_cast<int>(std::ceil(area.bottom())));
    return {left, top, right - left, bottom - top};
}

/// Mean colour of a pixel, as Cairo's 0x00RRGGBB.
class PixelMixer {
  public:
    PixelMixer(const SkyPanel& panel, const SkyFunction& value, const ColorScale& scale,
               const Colormap& colormap)
        : panel_(panel), value_(value), scale_(scale), colormap_(colormap) {}

    std::uint32_t mix(int x, int y) {
        constexpr int count = subpixels * subpixels;
        int red = 0, green = 0, blue = 0;
        for (int i = 0; i < count; ++i) {
            const int column = i % subpixels, row = i / subpixels;
            const Rgb color = color_at({x + (column + 0.5) / subpixels, y + (row + 0.5) / subpixels});
            red += color.red;
            green += color.green;
            blue += color.blue;
        }
        const auto mean = [](int sum) { return static_cast<std::uint32_t>((sum + count / 2) / count); };
        return mean(red) << 16 | mean(green) << 8 | mean(blue);
    }

    Clipped clipped() const { return clipped_; }

  private:
    Rgb color_at(Point pixel) {
        const Direction direction = panel_.projection().inverse(panel_.to_plane(pixel));
        const double value = value_(direction.theta, direction.phi);
        if (is_missing(value)) return missing_color;
        clipped_.below |= scale_.is_below(value);
        clipped_.above |= scale_.is_above(value);
        return colormap_.at(scale_.position(value));
    }

    const SkyPanel& panel_;
    const SkyFunction& value_;
    const ColorScale& scale_;
    const Colormap& colormap_;
    Clipped clipped_;
};

}  // namespace

bool SkyPanel::contains(Point pixel, double margin) const {
    const double dx = std::abs(pixel.x - centre_x());
    const double dy = std::abs(pixel.y - centre_y());
    const double a = area_.width / 2 + margin;
    const double b = area_.height / 2 + margin;
    if (!is_full_sky()) return dx <= a && dy <= b;
    return dx * dx / (a * a) + dy * dy / (b * b) <= 1;
}

bool SkyPanel::shows_pole() const {
    for (const double theta : {0.0, std::numbers::pi})
        if (const auto plane = projection_.forward({theta, 0}))
            if (contains(to_pixel(*plane), 1e-6 * area_.height)) return true;
    return false;
}

void SkyPanel::outline(cairo_t* context) const {
    cairo_new_path(context);
    if (!is_full_sky()) {
        cairo_rectangle(context, area_.x, area_.y, area_.width, area_.height);
        return;
    }
    cairo_save(context);
    cairo_translate(context, centre_x(), centre_y());
    cairo_scale(context, area_.width / 2, area_.height / 2);
    cairo_arc(context, 0, 0, 1, 0, 2 * std::numbers::pi);
    cairo_close_path(context);
    cairo_restore(context);
}

std::vector<double> sample_values(const SkyPanel& panel, const SkyFunction& value) {
    const Rect& area = panel.area();
    const double stride = std::max(1.0, std::sqrt(area.width * area.height / 3e5));
    std::vector<double> values;
    for (double y = area.y + stride / 2; y < area.bottom(); y += stride)
        for (double x = area.x + stride / 2; x < area.right(); x += stride) {
            if (!panel.contains({x, y})) continue;
            const Direction direction = panel.projection().inverse(panel.to_plane({x, y}));
            values.push_back(value(direction.theta, direction.phi));
        }
    return values;
}

Clipped paint_sky(const Canvas& canvas, const SkyPanel& panel, const SkyFunction& value,
                  const ColorScale& scale, const Colormap& colormap) {
    const PixelBox box = pixel_box(canvas, panel.area());
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, box.width, box.height), cairo_surface_destroy);
    unsigned char* data = cairo_image_surface_get_data(surface.get());
    const std::ptrdiff_t stride = cairo_image_surface_get_stride(surface.get());
    PixelMixer mixer(panel, value, scale, colormap);
    for (int j = 0; j < box.height; ++j) {
        auto* row = reinterpret_cast<std::uint32_t*>(data + j * stride);
        for (int i = 0; i < box.width; ++i) {
            // a margin, so that pixels that the outline cuts are coloured whole: Cairo's clip fades them
            const Point centre{box.x + i + 0.5, box.y + j + 0.5};
            if (panel.contains(centre, 1.5)) row[i] = mixer.mix(box.x + i, box.y + j);
        }
    }
    cairo_surface_mark_dirty(surface.get());
    cairo_save(canvas.cairo());
    panel.outline(canvas.cairo());
    cairo_clip(canvas.cairo());
    cairo_set_source_surface(canvas.cairo(), surface.get(), box.x, box.y);
    cairo_paint(canvas.cairo());
    cairo_restore(canvas.cairo());
    return mixer.clipped();
}

}  // namespace zonal::plot
