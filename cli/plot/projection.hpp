#pragma once

#include <optional>

#include "plot/plot.hpp"

namespace zonal::plot {

struct Point {
    double x, y;
};

/// theta: colatitude in [0, pi]; phi: longitude in [0, 2 pi); rad.
struct Direction {
    double theta, phi;
};

/// Sky to plane and back, as seen from inside the sphere: north is up and longitude grows leftwards. The
/// plane's unit is such that Mollweide fills the ellipse |x| <= 2, |y| <= 1 and gnomonic has tan(offset
/// angle).
class SkyProjection {
  public:
    /// centre_lon, centre_lat: degrees, the direction at x = y = 0.
    SkyProjection(Projection kind, double centre_lon, double centre_lat);

    Projection kind() const { return kind_; }
    /// Empty where the direction has no image: behind a gnomonic view.
    std::optional<Point> forward(Direction direction) const;
    /// Points outside the ellipse are taken to its edge at the same y, so that pictures have no seam there.
    Direction inverse(Point point) const;

  private:
    /// From the view's axes (x to the centre, y to growing longitude, z north) to the map's; any length.
    Direction turned(double x, double y, double z) const;

    Projection kind_;
    double lon_, cos_lat_, sin_lat_;  // of the centre
};

/// lon, lat in degrees.
Direction from_degrees(double lon, double lat);
/// Any angle in degrees to (-180, 180].
double wrap_degrees(double angle);
/// Degrees; the longitude in [0, 360).
double lon_degrees(Direction direction);
double lat_degrees(Direction direction);

}  // namespace zonal::plot
