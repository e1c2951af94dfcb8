#include "plot/projection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace zonal::plot {

namespace {

using std::numbers::pi;

constexpr double degree = pi / 180;

/// Unit vector of the view: x towards the centre, y towards growing longitude, z north.
struct Vector {
    double x, y, z;
};

double wrap_two_pi(double angle) {
    const double wrapped = angle - 2 * pi * std::floor(angle / (2 * pi));
    return wrapped < 2 * pi ? wrapped : 0;  // rounding takes -1e-17 to 2 pi
}

/// Solves 2 psi + sin 2 psi = pi sin(lat) for psi by Newton's method, kept inside a shrinking bracket because
/// the left side's slope 4 cos^2 psi vanishes at the poles.
double mollweide_angle(double sin_lat) {
    const double target = pi * std::min(std::abs(sin_lat), 1.0);
    double low = 0, high = pi / 2;
    // with c = pi/2 - psi the left side is pi - 4/3 c^3 + O(c^5)
    double psi = std::clamp(pi / 2 - std::cbrt(0.75 * (pi - target)), low, high);
    for (int iteration = 0; iteration < 60; ++iteration) {
        const double residual = 2 * psi + std::sin(2 * psi) - target;
        if (residual == 0) break;
        (residual > 0 ? high : low) = psi;
        const double cos_psi = std::cos(psi);
        double next = psi - residual / (4 * cos_psi * cos_psi);
        if (!(next >= low && next <= high)) next = (low + high) / 2;
        const double step = std::abs(next - psi);
        psi = next;
        if (step <= 1e-15) break;
    }
    return std::copysign(psi, sin_lat);
}

Point mollweide_forward(const Vector& v) {
    const double psi = mollweide_angle(v.z);
    const double lambda = std::atan2(v.y, v.x);
    return {-2 * lambda / pi * std::cos(psi), std::sin(psi)};
}

/// A direction in the view's own coordinates.
struct Offset {
    double lambda, sin_lat, cos_lat;
};

Offset mollweide_inverse(Point point) {
    const double sin_psi = std::clamp(point.y, -1.0, 1.0);
    const double cos_psi = std::sqrt(1 - sin_psi * sin_psi);
    const double half_width = 2 * cos_psi;
    const double x = std::clamp(point.x, -half_width, half_width);
    const double lambda = half_width > 0 ? -pi * x / half_width : 0;
    const double sin_lat = 2 / pi * (std::asin(sin_psi) + sin_psi * cos_psi);
    return {lambda, sin_lat, std::sqrt(std::max(0.0, 1 - sin_lat * sin_lat))};
}

}  // namespace

SkyProjection::SkyProjection(Projection kind, double centre_lon, double centre_lat)
    : kind_(kind),
      lon_(centre_lon * degree),
      cos_lat_(std::cos(centre_lat * degree)),
      sin_lat_(std::sin(centre_lat * degree)) {}

std::optional<Point> SkyProjection::forward(Direction direction) const {
    const double sin_theta = std::sin(direction.theta);
    const double x = sin_theta * std::cos(direction.phi - lon_);
    const double y = sin_theta * std::sin(direction.phi - lon_);
    const double z = std::cos(direction.theta);
    const Vector v{cos_lat_ * x + sin_lat_ * z, y, cos_lat_ * z - sin_lat_ * x};
    if (kind_ == Projection::mollweide) return mollweide_forward(v);
    if (v.x < 1e-6) return std::nullopt;
    return Point{-v.y / v.x, v.z / v.x};
}

Direction SkyProjection::inverse(Point point) const {
    if (kind_ == Projection::gnomonic) return turned(1, -point.x, point.y);  // atan2 needs no unit vector
    const auto [lambda, sin_lat, cos_lat] = mollweide_inverse(point);
    // upright maps, nearly all there are, take half the time without the rotation
    if (sin_lat_ == 0) return {std::atan2(cos_lat, sin_lat), wrap_two_pi(lambda + lon_)};
    return turned(cos_lat * std::cos(lambda), cos_lat * std::sin(lambda), sin_lat);
}

Direction SkyProjection::turned(double x, double y, double z) const {
    const double equatorial = cos_lat_ * x - sin_lat_ * z;
    const double polar = cos_lat_ * z + sin_lat_ * x;
    return {std::atan2(std::sqrt(equatorial * equatorial + y * y), polar),
            wrap_two_pi(std::atan2(y, equatorial) + lon_)};
}

Direction from_degrees(double lon, double lat) {
    return {(90 - lat) * degree, wrap_two_pi(lon * degree)};
}

double wrap_degrees(double angle) {
    return angle - 360 * std::ceil(angle / 360 - 0.5);
}

double lon_degrees(Direction direction) {
    return direction.phi / degree;
}

double lat_degrees(Direction direction) {
    return 90 - direction.theta / degree;
}

}  // namespace zonal::plot
