#pragma once

#include "plot/canvas.hpp"
#include "plot/color_scale.hpp"
#include "plot/colormap.hpp"
#include "plot/projection.hpp"

namespace zonal::plot {

/// Where the sky lies in the picture.
class SkyPanel {
  public:
    /// area: its bounding box. half_width: of the sky in the projection's plane.
    SkyPanel(const SkyProjection& projection, const Rect& area, double half_width)
        : projection_(projection), area_(area), pixels_per_unit_(area.width / 2 / half_width) {}

    const SkyProjection& projection() const { return projection_; }
    const Rect& area() const { return area_; }
    bool is_full_sky() const { return projection_.kind() == Projection::mollweide; }

    Point to_pixel(Point plane) const {
        return {centre_x() + plane.x * pixels_per_unit_, centre_y() - plane.y * pixels_per_unit_};
    }
    Point to_plane(Point pixel) const {
        return {(pixel.x - centre_x()) / pixels_per_unit_, (centre_y() - pixel.y) / pixels_per_unit_};
    }
    /// Whether the pixel lies on the sky, or less than margin pixels beside it.
    bool contains(Point pixel, double margin = 0) const;
    /// Whether a pole of the map lies in a zoom.
    bool shows_pole() const;
    /// Makes the sky's outline the current path.
    void outline(cairo_t* context) const;

  private:
    double centre_x() const { return area_.x + area_.width / 2; }
    double centre_y() const { return area_.y + area_.height / 2; }

    SkyProjection projection_;
    Rect area_;
    double pixels_per_unit_;
};

/// Values at up to 3e5 points spread evenly over the panel: percentiles to a fraction of a percent.
std::vector<double> sample_values(const SkyPanel& panel, const SkyFunction& value);

/// Whether values beyond the ends of the range were met.
struct Clipped {
    bool below = false, above = false;
};

/// Fills the panel with the sky's colours, the mean of 2 x 2 points per pixel.
Clipped paint_sky(const Canvas& canvas, const SkyPanel& panel, const SkyFunction& value,
                  const ColorScale& scale, const Colormap& colormap);

/// Lines of constant longitude and latitude, clipped to the panel, `step` degrees apart.
struct GraticuleStep {
    double lon, lat;
};
/// requested: degrees, 0 for round numbers that suit the panel. Throws InvalidArgument.
GraticuleStep graticule_step(const SkyPanel& panel, double requested);
void draw_graticule(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step);
/// Width of the widest latitude label, pixels.
double latitude_label_width(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step);
/// Labels beside the ellipse and on it, or along the sides of a zoom.
void label_graticule(const Canvas& canvas, const SkyPanel& panel, GraticuleStep step);

/// Width of the widest tick label of draw_colorbar, pixels.
double colorbar_label_width(const Canvas& canvas, const Rect& bar, const ColorScale& scale);
/// The bar with tick labels below it (horizontal) or to its right, and the unit.
void draw_colorbar(const Canvas& canvas, const Rect& bar, const ColorScale& scale, const Colormap& colormap,
                   Clipped clipped, const std::string& unit);

}  // namespace zonal::plot
